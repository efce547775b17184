// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/release"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// assign adds the channels of ModuleReleaseMetas to the releases of ModuleTemplates, and sorts the result. A version that several
// channels have is listed once for each.
func assign(offered Releases, metas []v1alpha1.ModuleReleaseMeta) Releases {
	out := slices.Clone(offered)
	used := map[string]bool{}
	for i := range metas {
		m := &metas[i]
		if meta.WasDeleted(m) {
			continue
		}
		for _, t := range release.Targets(m) {
			one := provider(offered.Of(m.Spec.ModuleName), &t)
			if one.Channel == "" {
				used[one.Template] = true
			}
			// A ModuleTemplate with the channel and the same version says the same.
			out = slices.DeleteFunc(out, func(r Release) bool { return r == one && r.Channel == t.Channel })
			one.Channel, one.ReleaseMeta = t.Channel, t.Meta.Name
			if r := t.Rollout(); r != nil {
				one.Phase = string(r.Phase)
			}
			out = append(out, one)
		}
	}
	out = slices.DeleteFunc(out, func(r Release) bool { return r.Channel == "" && used[r.Template] })
	out.sort()
	return out
}

// provider returns the release of the ModuleTemplate that provides a version: one with the channel if there is one, or else one
// without a channel, or else any. If there is none, it returns a release without a template.
func provider(offered Releases, t *release.Target) Release {
	found := slices.DeleteFunc(offered, func(r Release) bool { return r.Version != t.Release.Version })
	if len(found) == 0 {
		return Release{
			Name: t.Meta.Spec.ModuleName, Version: t.Release.Version, Ready: "False",
			Message: "no ModuleTemplate provides version " + t.Release.Version,
		}
	}
	rank := func(r Release) int {
		switch r.Channel {
		case t.Channel:
			return 0
		case "":
			return 1
		}
		return 2
	}
	return slices.MinFunc(found, func(a, b Release) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.Template, b.Template))
	})
}

// repositoryOf returns the location of the component of a ModuleTemplate, or an empty string if it has none.
func repositoryOf(t *v1alpha1.ModuleTemplate) string {
	switch {
	case t.Spec.Component != nil:
		return t.Spec.Component.Repository
	case t.Spec.Descriptor == nil:
		return ""
	}
	d, err := ocm.Decode(t.Spec.Descriptor.Raw)
	if err != nil {
		return ""
	}
	l, _ := d.Location()
	return strings.TrimSuffix(l.BaseURL+"/"+l.SubPath, "/")
}

// sort sorts releases by name, channel, version and template.
func (r Releases) sort() {
	slices.SortFunc(r, func(a, b Release) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Channel, b.Channel),
			strings.Compare(a.Version, b.Version), strings.Compare(a.Template, b.Template))
	})
}
