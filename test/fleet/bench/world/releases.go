// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
)

// These are the RolloutPolicies.
const (
	// Batches has one wave, in batches of a tenth, and the defaults.
	Batches = "batches"
	// Waves has the wave of the canaries, and then that of the others, in batches of a quarter. A wave that fails is rolled back.
	Waves = "waves"
)

const (
	// ring is the label of Kymas that the policy Waves selects canaries by.
	ring = "ring"
	// budgetPercent is the share of the Kymas of a wave that may fail, in the policy Waves.
	budgetPercent = 5
	// deadlineEmpty and deadlinePerCluster make up how long a module may take to become Ready, in the policy Waves: the clusters that
	// change together are a share of all, and the same two cores change them.
	deadlineEmpty, deadlinePerCluster = 15 * time.Second, 5 * time.Millisecond
)

// A Promotion is a version of all modules, and the policy by which it is rolled out.
type Promotion struct {
	Version, Policy string
	// Broken means that no module becomes Ready in this version.
	Broken bool
}

// IsCanary reports whether a cluster is in the first wave of the policy Waves. A fifth of the clusters are.
func IsCanary(i int) bool { return i%5 == 0 }

// Budget returns how many of a number of Kymas may fail by the policy Waves.
func Budget(kymas int) int {
	const all = 100
	return max((kymas*budgetPercent+all-1)/all, 1)
}

func labelsOf(i int) map[string]string {
	if IsCanary(i) {
		return map[string]string{ring: "canary"}
	}
	return map[string]string{ring: "other"}
}

// AdoptReleases makes ModuleReleaseMetas, instead of the ModuleTemplates, specify the version in the channel. It is the version that
// the clusters have.
func (w *World) AdoptReleases(ctx context.Context, version string) error {
	for _, p := range policies(w.Clusters) {
		if err := w.Client.Create(ctx, &p); err != nil {
			return errors.Wrapf(err, "cannot create RolloutPolicy %q", p.Name)
		}
	}
	for i := range w.Modules {
		m := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: moduleName(i)}}
		m.Spec.ModuleName = moduleName(i)
		m.Spec.Channels = []v1alpha1.ChannelRelease{{Channel: channel, Release: v1alpha1.Release{Version: version, RolloutPolicy: Batches}}}
		if err := w.Client.Create(ctx, m); err != nil {
			return errors.Wrapf(err, "cannot create ModuleReleaseMeta %q", m.Name)
		}
	}
	if _, err := w.AwaitRollouts(ctx, version, complete); err != nil {
		return err
	}
	for i := range w.Modules {
		t := &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: moduleName(i)}}
		if err := w.Client.Patch(ctx, t, client.RawPatch(types.MergePatchType, []byte(`{"spec": {"channel": null}}`))); err != nil {
			return errors.Wrapf(err, "cannot remove the channel of ModuleTemplate %q", t.Name)
		}
	}
	return nil
}

// policies returns the RolloutPolicies for a number of clusters.
func policies(clusters int) []v1alpha1.RolloutPolicy {
	percent := func(s string) *intstr.IntOrString { v := intstr.FromString(s); return &v }
	soak := &metav1.Duration{Duration: time.Second}
	out := []v1alpha1.RolloutPolicy{{ObjectMeta: metav1.ObjectMeta{Name: Batches}}, {ObjectMeta: metav1.ObjectMeta{Name: Waves}}}
	out[0].Spec.Waves = []v1alpha1.RolloutWave{{Name: "all", Batch: percent("10%"), Soak: soak}}
	deadline := deadlineEmpty + time.Duration(clusters)*deadlinePerCluster
	budget := intstr.FromString(fmt.Sprintf("%d%%", budgetPercent))
	out[1].Spec = v1alpha1.RolloutPolicySpec{
		Waves: []v1alpha1.RolloutWave{
			{Name: "canaries", Selector: &metav1.LabelSelector{MatchLabels: labelsOf(0)}, Batch: percent("25%"), Soak: soak},
			{Name: "others", Batch: percent("25%"), Soak: soak},
		},
		FailureBudget: &budget, ProgressDeadline: &metav1.Duration{Duration: deadline}, OnFailure: v1alpha1.FailurePolicyRollback,
	}
	return out
}

// AwaitRollouts waits until the state of the rollout of each module fulfills a condition, and returns the states.
func (w *World) AwaitRollouts(ctx context.Context, version string, is func(*v1alpha1.ChannelRollout) (bool, error)) (
	[]v1alpha1.ChannelRollout, error,
) {
	for {
		out, err := w.rollouts(ctx, version, is)
		if err != nil || len(out) == w.Modules {
			return out, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Wrapf(context.Cause(ctx), "%d of %d modules are as expected in the rollout of version %s", len(out), w.Modules, version)
		case <-time.After(100 * time.Millisecond): //nolint:mnd // It only limits the requests.
		}
	}
}

// rollouts returns the states of the rollouts of a version that fulfill a condition.
func (w *World) rollouts(ctx context.Context, version string, is func(*v1alpha1.ChannelRollout) (bool, error)) ([]v1alpha1.ChannelRollout, error) {
	l := &v1alpha1.ModuleReleaseMetaList{}
	if err := w.Client.List(ctx, l); err != nil {
		return nil, errors.Wrap(err, "cannot list ModuleReleaseMetas")
	}
	var out []v1alpha1.ChannelRollout
	for i := range l.Items {
		c := l.Items[i].Status.Channels
		if len(c) != 1 || c[0].Version != version {
			continue
		}
		ok, err := is(&c[0])
		if err != nil {
			return nil, errors.Wrapf(err, "ModuleReleaseMeta %q", l.Items[i].Name)
		}
		if ok {
			out = append(out, c[0])
		}
	}
	return out, nil
}

// complete is a condition for AwaitRollouts: the rollout is complete. It is an error if the rollout has failed.
func complete(c *v1alpha1.ChannelRollout) (bool, error) {
	switch c.Phase {
	case v1alpha1.RolloutComplete:
		return true, nil
	case v1alpha1.RolloutFailed, v1alpha1.RolloutRollingBack, v1alpha1.RolloutRolledBack:
		return false, errors.Errorf("the rollout of %s is in phase %s: %s (%v)", c.Version, c.Phase, c.Message, c.Failures)
	case v1alpha1.RolloutProgressing, v1alpha1.RolloutPaused:
	}
	return false, nil
}

// AwaitComplete waits until the rollouts of a version are complete, and returns their states. It is an error if one fails.
func (w *World) AwaitComplete(ctx context.Context, version string) ([]v1alpha1.ChannelRollout, error) {
	return w.AwaitRollouts(ctx, version, complete)
}

// AwaitPhase waits until the rollouts of a version are in one of the given phases.
func (w *World) AwaitPhase(ctx context.Context, version string, phases ...v1alpha1.RolloutPhase) error {
	_, err := w.AwaitRollouts(ctx, version, func(c *v1alpha1.ChannelRollout) (bool, error) {
		return slices.Contains(phases, c.Phase), nil
	})
	return err
}

// Promote adds a version of all modules to the catalogue, and moves the channel to it.
func (w *World) Promote(ctx context.Context, p Promotion) error {
	name := func(i int) string { return moduleName(i) + "-" + p.Version }
	err := w.push(ctx, p.Version, p.Broken, func(module string, c *v1alpha1.Component) error {
		t := &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: module + "-" + p.Version}}
		t.Spec.Component = c
		return w.Client.Create(ctx, t)
	})
	if err != nil {
		return err
	}
	if err := objects.NewPending(w.Modules, name).Await(ctx, w.Client, &v1alpha1.ModuleTemplateList{}, ""); err != nil {
		return err
	}
	for i := range w.Modules {
		releases := []v1alpha1.ChannelRelease{{Channel: channel, Release: v1alpha1.Release{Version: p.Version, RolloutPolicy: p.Policy}}}
		patch, err := json.Marshal(map[string]any{"spec": map[string]any{"channels": releases}})
		if err != nil {
			return errors.Wrap(err, "cannot encode the release")
		}
		m := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: moduleName(i)}}
		if err := w.Client.Patch(ctx, m, client.RawPatch(types.MergePatchType, patch)); err != nil {
			return errors.Wrapf(err, "cannot release version %s of module %q", p.Version, moduleName(i))
		}
	}
	return nil
}
