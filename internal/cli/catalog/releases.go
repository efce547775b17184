// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kmeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// A Release is a version of a module, offered by one ModuleTemplate. Its channel is that of the ModuleTemplate, or a
// ModuleReleaseMeta assigns the version to the channel.
type Release struct {
	// Name is the name of the module.
	Name string `json:"name"`
	// Channel is the channel of the version; empty if no channel has it.
	Channel string `json:"channel"`
	// Version is the version of the module; empty until the current spec of the template is resolved.
	Version string `json:"version"`
	// Template is the name of the ModuleTemplate; empty if none provides the version.
	Template string `json:"template"`
	// Repository is the location of the component of the module in a registry; empty if the component descriptor does not have one.
	Repository string `json:"repository"`
	// ReleaseMeta is the name of the ModuleReleaseMeta that assigns the version to the channel; empty if the ModuleTemplate does.
	ReleaseMeta string `json:"releaseMeta"`
	// Phase is the phase of the rollout of the version in the channel; empty if the provider has not reported one.
	Phase string `json:"phase"`
	// Ready, Resolved and Verified are the statuses of these conditions: True, False, Unknown, or empty if the template has no
	// such condition.
	Ready    string `json:"ready"`
	Resolved string `json:"resolved"`
	Verified string `json:"verified"`
	// Message explains why the template is not resolved or verified; empty if nothing is wrong.
	Message string `json:"message"`
}

// Releases is a list of the releases in a control plane, sorted by name, channel and template.
type Releases []Release

// Offered lists the releases in a control plane.
func Offered(ctx context.Context, c client.Reader) (Releases, error) {
	l := &v1alpha1.ModuleTemplateList{}
	if err := c.List(ctx, l); err != nil {
		return nil, lookup.Explain(err, "list the ModuleTemplates")
	}
	metas := &v1alpha1.ModuleReleaseMetaList{}
	// Control planes with an older version of the provider do not have the kind.
	if err := c.List(ctx, metas); err != nil && !kmeta.IsNoMatchError(err) && !notfound.Is(err) {
		return nil, lookup.Explain(err, "list the ModuleReleaseMetas")
	}
	return assign(releasesOf(l.Items), metas.Items), nil
}

// releasesOf returns the releases of templates. It omits those being deleted, which the provider does not resolve.
func releasesOf(templates []v1alpha1.ModuleTemplate) Releases {
	out := make(Releases, 0, len(templates))
	for i := range templates {
		t := &templates[i]
		if meta.WasDeleted(t) {
			continue
		}
		r := Release{
			Name: module.NameOf(t), Channel: t.Spec.Channel, Template: t.Name, Version: t.Status.Version,
			Repository: repositoryOf(t),

			Ready:    readiness(t),
			Resolved: conditionStatus(t.Status.Conditions, v1alpha1.TypeResolved),
			Verified: conditionStatus(t.Status.Conditions, v1alpha1.TypeVerified),
		}
		if t.Status.ResolvedGeneration != t.Generation {
			// The status describes an earlier spec.
			r.Version = ""
		}
		r.Message = templateMessage(t)
		out = append(out, r)
	}
	out.sort()
	return out
}

// templateMessage returns why a template is not resolved or verified: the message of the first of the conditions Resolved and
// Verified that is not True. It returns an empty string if nothing is wrong.
func templateMessage(t *v1alpha1.ModuleTemplate) string {
	for _, kind := range []string{string(v1alpha1.TypeResolved), string(v1alpha1.TypeVerified)} {
		for _, c := range t.Status.Conditions {
			if string(c.Type) == kind && c.Status != "True" && c.Message != "" {
				return c.Message
			}
		}
	}
	if t.Status.ResolvedGeneration != t.Generation {
		return "not resolved yet"
	}
	return ""
}

// readiness returns the status of the condition Ready, or Unknown if the condition describes an earlier spec.
func readiness(t *v1alpha1.ModuleTemplate) string {
	ready := conditionStatus(t.Status.Conditions, xpv2.TypeReady)
	if ready != "" && t.Status.ObservedGeneration != t.Generation {
		return string(corev1.ConditionUnknown)
	}
	return ready
}

// conditionStatus returns the status of a condition: True, False or Unknown, or an empty string if the condition is missing.
func conditionStatus(all []xpv2.Condition, kind xpv2.ConditionType) string {
	for i := range all {
		if all[i].Type == kind {
			return string(all[i].Status)
		}
	}
	return ""
}

// Of returns the releases of a module, in any channel.
func (r Releases) Of(name string) Releases {
	return slices.Collect(func(yield func(Release) bool) {
		for _, one := range r {
			if one.Name == name && !yield(one) {
				return
			}
		}
	})
}

// In returns the releases in a channel, of any module.
func (r Releases) In(channel string) Releases {
	return slices.DeleteFunc(slices.Clone(r), func(one Release) bool { return one.Channel != channel })
}

// Names returns the names of the modules, sorted and without duplicates.
func (r Releases) Names() []string {
	return unique(r, func(one Release) string { return one.Name })
}

// Channels returns the names of the channels, sorted and without duplicates.
func (r Releases) Channels() []string {
	return unique(r, func(one Release) string { return one.Channel })
}

// Versions returns the versions that ModuleTemplates provide, without duplicates, and the highest first.
func (r Releases) Versions() []string {
	provided := slices.DeleteFunc(slices.Clone(r), func(one Release) bool { return one.Template == "" })
	out := unique(provided, func(one Release) string { return one.Version })
	slices.SortStableFunc(out, func(a, b string) int {
		c, err := module.CompareVersions(b, a)
		if err != nil {
			return 0
		}
		return c
	})
	return out
}

// unique returns the values of a field, sorted and without duplicates and empty values.
func unique(r Releases, of func(Release) string) []string {
	out := make([]string, 0, len(r))
	for _, one := range r {
		if v := of(one); v != "" {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Find returns the release of a module in a channel. It fails in the same cases as the provider: the channel has no release of
// the module, even if other channels have one (ExitNotFound), or it has several (ExitFailure).
func (r Releases) Find(name, channel string) (Release, error) {
	all := r.Of(name)
	switch found := all.In(channel); {
	case len(found) == 1 && found[0].Template == "":
		return Release{}, command.NotFoundf("channel %q of module %q has version %s in ModuleReleaseMeta %s, but no ModuleTemplate provides it: create one "+
			"with 'kymactl module template --no-channel', and apply it", channel, name, found[0].Version, found[0].ReleaseMeta)
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		templates := unique(found, func(one Release) string { return one.Template })
		return Release{}, errors.Errorf("ModuleTemplates %s all provide module %q in channel %q, so none of them is used: delete all but one",
			strings.Join(templates, " and "), name, channel)
	case len(all) > 0:
		return Release{}, command.NotFoundf("module %q has no ModuleTemplate in channel %q: use -c with one of %s",
			name, channel, strings.Join(all.Channels(), ", "))
	case len(r) == 0:
		return Release{}, command.NotFoundf("module %q: the control plane has no ModuleTemplates: create one with 'kymactl module template', and apply it", name)
	}
	return Release{}, command.NotFoundf("no ModuleTemplate provides module %q: available modules are %s", name, some(r.Names()))
}

// some joins names with commas, and shortens the list if it is long.
func some(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and others; see 'kymactl module list'"
}

// Lowers reports whether the first version is lower than the second. It returns false if the versions cannot be compared.
func Lowers(version, than string) bool {
	c, err := module.CompareVersions(version, than)
	return err == nil && c < 0
}
