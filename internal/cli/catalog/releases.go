// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// A Release is one module in one channel, by one ModuleTemplate.
type Release struct {
	// Name of the module.
	Name string `json:"name"`
	// Channel that the version is in.
	Channel string `json:"channel"`
	// Version; empty as long as the template is not resolved.
	Version string `json:"version"`
	// Template is the name of the ModuleTemplate.
	Template string `json:"template"`
	// Resolved and Verified are the statuses of these conditions: True, False, Unknown, or empty where there is none.
	Resolved string `json:"resolved"`
	Verified string `json:"verified"`
	// Message says what is wrong, if anything.
	Message string `json:"message"`
}

// Releases are what a control plane offers, sorted by name, channel and template.
type Releases []Release

// Offered lists what a control plane offers.
func Offered(ctx context.Context, c client.Reader) (Releases, error) {
	l := &v1alpha1.ModuleTemplateList{}
	if err := c.List(ctx, l); err != nil {
		return nil, lookup.Explain(err, "list the ModuleTemplates")
	}
	return releasesOf(l.Items), nil
}

// releasesOf lists what templates offer. One that is being deleted offers nothing, as it is not resolved any more.
func releasesOf(templates []v1alpha1.ModuleTemplate) Releases {
	out := make(Releases, 0, len(templates))
	for i := range templates {
		t := &templates[i]
		if meta.WasDeleted(t) {
			continue
		}
		r := Release{
			Name: module.NameOf(t), Channel: t.Spec.Channel, Template: t.Name, Version: t.Status.Version,
			Resolved: conditionStatus(t.Status.Conditions, v1alpha1.TypeResolved),
			Verified: conditionStatus(t.Status.Conditions, v1alpha1.TypeVerified),
		}
		if t.Status.ResolvedGeneration != t.Generation {
			// What the status says is of another spec.
			r.Version = ""
		}
		r.Message = templateMessage(t)
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Release) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Channel, b.Channel), strings.Compare(a.Template, b.Template))
	})
	return out
}

// templateMessage is the message of the first condition that is not True.
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

// conditionStatus is True, False or Unknown, or empty without such a condition.
func conditionStatus(all []xpv2.Condition, kind xpv2.ConditionType) string {
	for i := range all {
		if all[i].Type == kind {
			return string(all[i].Status)
		}
	}
	return ""
}

// Of returns those of a module, in any channel.
func (r Releases) Of(name string) Releases {
	return slices.Collect(func(yield func(Release) bool) {
		for _, one := range r {
			if one.Name == name && !yield(one) {
				return
			}
		}
	})
}

// In returns those in a channel, of any module.
func (r Releases) In(channel string) Releases {
	return slices.DeleteFunc(slices.Clone(r), func(one Release) bool { return one.Channel != channel })
}

// Names of the modules, sorted, each once.
func (r Releases) Names() []string {
	return unique(r, func(one Release) string { return one.Name })
}

// Channels that there are, sorted, each once.
func (r Releases) Channels() []string {
	return unique(r, func(one Release) string { return one.Channel })
}

func unique(r Releases, of func(Release) string) []string {
	out := make([]string, 0, len(r))
	for _, one := range r {
		out = append(out, of(one))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Find the one release of a module in a channel. It fails as the provider would, which falls back to no other channel
// and picks none of several.
func (r Releases) Find(name, channel string) (Release, error) {
	all := r.Of(name)
	switch found := all.In(channel); {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		templates := unique(found, func(one Release) string { return one.Template })
		return Release{}, errors.Errorf("ModuleTemplates %s are all of module %q in channel %q, of which the provider picks none: delete all but one",
			strings.Join(templates, " and "), name, channel)
	case len(all) > 0:
		return Release{}, command.NotFoundf("module %q has no ModuleTemplate in channel %q: use -c with one of %s",
			name, channel, strings.Join(all.Channels(), ", "))
	case len(r) == 0:
		return Release{}, command.NotFoundf("module %q: the control plane has no ModuleTemplates at all: make one with 'kymactl module template', and apply it", name)
	}
	return Release{}, command.NotFoundf("there is no ModuleTemplate of a module %q in any channel: there are modules %s", name, some(r.Names()))
}

// some names, if there are many.
func some(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + ", and others, see 'kymactl module list'"
}

// Lowers reports whether a version is lower than another one. What cannot be compared is not lower.
func Lowers(version, than string) bool {
	c, err := module.CompareVersions(version, than)
	return err == nil && c < 0
}
