// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/release"
)

// A report is the output of kymactl rollout status.
type report struct {
	// Name is the name of the ModuleReleaseMeta.
	Name     string    `json:"name"`
	Module   string    `json:"module"`
	Channels []channel `json:"channels"`
}

// A channel is the rollout of the current version of a channel.
type channel struct {
	Channel string `json:"channel"`
	Version string `json:"version"`
	// Previous is the last version whose rollout completed before.
	Previous string `json:"previous"`
	// Phase is empty until the provider has processed the current spec.
	Phase    string `json:"phase"`
	Wave     int32  `json:"wave"`
	WaveName string `json:"waveName"`
	Total    int32  `json:"total"`
	Updated  int32  `json:"updated"`
	Ready    int32  `json:"ready"`
	Failed   int32  `json:"failed"`
	Offline  int32  `json:"offline"`
	Waiting  int32  `json:"waiting"`
	// Failures lists the first Kymas that failed.
	Failures []failure `json:"failures"`
	Message  string    `json:"message"`
}

// A failure is a Kyma that failed.
type failure struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Message   string `json:"message"`
}

// Names implements command.Named.
func (r *report) Names() []string { return []string{release.Name(r.Name)} }

// reportOn reports on the rollout of a channel, or of all channels if it is empty.
func reportOn(m *v1alpha1.ModuleReleaseMeta, only string) (*report, error) {
	if only != "" {
		if _, err := release.In(m, only); err != nil {
			return nil, err
		}
	}
	out := &report{Name: m.Name, Module: m.Spec.ModuleName, Channels: []channel{}}
	for _, t := range release.Targets(m) {
		if only == "" || only == t.Channel {
			out.Channels = append(out.Channels, channelOf(&t))
		}
	}
	return out, nil
}

func channelOf(t *release.Target) channel {
	r := t.Rollout()
	if r == nil {
		return channel{Channel: t.Channel, Version: t.Release.Version, Failures: []failure{}, Message: catalog.Unseen}
	}
	out := channel{
		Channel: t.Channel, Version: r.Version, Previous: r.Previous, Phase: string(r.Phase), Wave: r.Wave, WaveName: r.WaveName,
		Total: r.Total, Updated: r.Updated, Ready: r.Ready, Failed: r.Failed, Offline: r.Offline, Waiting: r.Waiting,
		Failures: []failure{}, Message: r.Message,
	}
	for _, f := range r.Failures {
		out.Failures = append(out.Failures, failure{f.Namespace, f.Name, f.Message})
	}
	return out
}

// failed returns the first channel whose rollout has failed, or nil.
func (r *report) failed() *channel {
	for i := range r.Channels {
		if p := v1alpha1.RolloutPhase(r.Channels[i].Phase); p == v1alpha1.RolloutFailed || p == v1alpha1.RolloutRolledBack {
			return &r.Channels[i]
		}
	}
	return nil
}

// pending returns the first channel whose rollout is not complete, or nil.
func (r *report) pending() *channel {
	for i := range r.Channels {
		if r.Channels[i].Phase != string(v1alpha1.RolloutComplete) {
			return &r.Channels[i]
		}
	}
	return nil
}

// progress describes the state of a rollout in one line.
func (c *channel) progress() string {
	if c.Phase == "" {
		return c.Channel + ": " + c.Message
	}
	out := &strings.Builder{}
	fmt.Fprintf(out, "%s: %s, wave %s, %d of %d updated, %d ready", c.Channel, c.Phase, c.wave(), c.Updated, c.Total, c.Ready)
	for _, n := range []struct {
		count int32
		what  string
	}{{c.Failed, "failed"}, {c.Offline, "offline"}, {c.Waiting, "waiting"}} {
		if n.count > 0 {
			fmt.Fprintf(out, ", %d %s", n.count, n.what)
		}
	}
	return out.String()
}

// bar draws the part of the Kymas that are Ready with the version, followed by the progress.
func (c *channel) bar() string {
	const width = 20
	done := 0
	if c.Total > 0 {
		done = int(min(max(c.Ready, 0), c.Total)) * width / int(c.Total)
	}
	return "[" + strings.Repeat("=", done) + strings.Repeat(" ", width-done) + "] " + c.progress()
}

// wave returns the name of the current wave, or its number.
func (c *channel) wave() string { return cmp.Or(c.WaveName, strconv.Itoa(int(c.Wave))) }

// write writes a table of the channels, and one of the failures if there are any.
func (r *report) write(w io.Writer) error {
	if err := command.Row(w, "CHANNEL", "VERSION", "PREVIOUS", "PHASE", "WAVE", "UPDATED", "READY", "FAILED", "OFFLINE", "WAITING", "MESSAGE"); err != nil {
		return err
	}
	failures := 0
	for i := range r.Channels {
		c := &r.Channels[i]
		failures += len(c.Failures)
		wave := ""
		if c.Phase != "" {
			wave = c.wave()
		}
		if err := command.Row(w, c.Channel, c.Version, c.Previous, c.Phase, wave, count(c.Updated)+"/"+count(c.Total), count(c.Ready),
			count(c.Failed), count(c.Offline), count(c.Waiting), c.Message); err != nil {
			return err
		}
	}
	if failures == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return r.writeFailures(w)
}

func (r *report) writeFailures(w io.Writer) error {
	if err := command.Row(w, "CHANNEL", "NAMESPACE", "KYMA", "MESSAGE"); err != nil {
		return err
	}
	for i := range r.Channels {
		for _, f := range r.Channels[i].Failures {
			if err := command.Row(w, r.Channels[i].Channel, f.Namespace, f.Name, f.Message); err != nil {
				return err
			}
		}
	}
	return nil
}

func count(n int32) string { return strconv.Itoa(int(n)) }
