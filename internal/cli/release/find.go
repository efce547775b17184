// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

// A Target is the release of a module in one channel.
type Target struct {
	Meta    *v1alpha1.ModuleReleaseMeta
	Channel string
	Release *v1alpha1.Release
	// path is the JSON pointer of the release.
	path string
}

// Modules returns the names of the modules that have a ModuleReleaseMeta, sorted and without duplicates.
func Modules(ctx context.Context, c client.Reader) ([]string, error) {
	l := &v1alpha1.ModuleReleaseMetaList{}
	if err := c.List(ctx, l); err != nil {
		return nil, lookup.Explain(err, "list the ModuleReleaseMetas")
	}
	var out []string
	for i := range l.Items {
		out = append(out, l.Items[i].Spec.ModuleName)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Find returns the ModuleReleaseMeta of a module. It fails with ExitNotFound if there is none.
func Find(ctx context.Context, c client.Reader, module string) (*v1alpha1.ModuleReleaseMeta, error) {
	l := &v1alpha1.ModuleReleaseMetaList{}
	if err := c.List(ctx, l); err != nil {
		return nil, lookup.Explain(err, "list the ModuleReleaseMetas")
	}
	found := slices.DeleteFunc(l.Items, func(m v1alpha1.ModuleReleaseMeta) bool { return m.Spec.ModuleName != module })
	switch len(found) {
	case 1:
		return &found[0], nil
	case 0:
		return nil, command.NotFoundf("module %q has no ModuleReleaseMeta: if its ModuleTemplates have channels, apply a ModuleTemplate for the "+
			"channel with 'kymactl module template', otherwise create a ModuleReleaseMeta with spec.moduleName %s", module, module)
	}
	names := make([]string, 0, len(found))
	for i := range found {
		names = append(names, found[i].Name)
	}
	return nil, errors.Errorf("ModuleReleaseMetas %s all have spec.moduleName %s: delete all but one", strings.Join(names, " and "), module)
}

// Targets returns the releases of all channels in the order of the spec, or of the mandatory version.
func Targets(m *v1alpha1.ModuleReleaseMeta) []Target {
	if m.Spec.Mandatory != nil {
		return []Target{{Meta: m, Channel: v1alpha1.MandatoryChannel, Release: m.Spec.Mandatory, path: "/spec/mandatory"}}
	}
	out := make([]Target, 0, len(m.Spec.Channels))
	for i := range m.Spec.Channels {
		r := &m.Spec.Channels[i]
		out = append(out, Target{Meta: m, Channel: r.Channel, Release: &r.Release, path: "/spec/channels/" + strconv.Itoa(i)})
	}
	return out
}

// Channels returns the names of the channels, in the order of Targets.
func Channels(m *v1alpha1.ModuleReleaseMeta) []string {
	var out []string
	for _, t := range Targets(m) {
		out = append(out, t.Channel)
	}
	return out
}

// In returns the release of a channel. An empty name means the only channel: if there are several, In fails with ExitUsage.
func In(m *v1alpha1.ModuleReleaseMeta, channel string) (*Target, error) {
	all := Targets(m)
	if channel == "" && len(all) == 1 {
		return &all[0], nil
	}
	if channel == "" {
		return nil, command.Usagef("module %s has several channels: use --channel with one of %s", m.Spec.ModuleName, strings.Join(Channels(m), ", "))
	}
	for i := range all {
		if all[i].Channel == channel {
			return &all[i], nil
		}
	}
	return nil, command.NotFoundf("ModuleReleaseMeta %s has no channel %q: use one of %s", m.Name, channel, strings.Join(Channels(m), ", "))
}

// Rollout returns the rollout of the current version, or nil until the provider has processed the current spec.
func (t *Target) Rollout() *v1alpha1.ChannelRollout {
	if t.Meta.Status.ObservedGeneration < t.Meta.Generation {
		return nil
	}
	for i := range t.Meta.Status.Channels {
		r := &t.Meta.Status.Channels[i]
		if r.Channel == t.Channel && r.Version == t.Release.Version {
			return r
		}
	}
	return nil
}
