// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

// catalogue returns the versions of a module.
func (s *store) catalogue(ctx context.Context, name string) (*catalogue.Catalogue, error) {
	out := &catalogue.Catalogue{Module: name, Policies: map[string]*v1alpha1.RolloutPolicySpec{}}
	templates := &v1alpha1.ModuleTemplateList{}
	if err := s.client.List(ctx, templates, client.MatchingFields{indexModule: name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, errors.Wrapf(err, "cannot list the ModuleTemplates of module %q", name)
	}
	releases := &v1alpha1.ModuleReleaseMetaList{}
	if err := s.client.List(ctx, releases, client.MatchingFields{indexModule: name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, errors.Wrapf(err, "cannot list the ModuleReleaseMetas of module %q", name)
	}
	out.Templates, out.Releases = templates.Items, releases.Items
	for i := range out.Releases {
		for _, policy := range catalogue.PoliciesOf(&out.Releases[i]) {
			p := &v1alpha1.RolloutPolicy{}
			err := s.client.Get(ctx, client.ObjectKey{Name: policy}, p, client.UnsafeDisableDeepCopy)
			if notfound.Ignore(err) != nil {
				return nil, errors.Wrapf(err, "cannot get RolloutPolicy %s", policy)
			}
			if err == nil {
				out.Policies[policy] = &p.Spec
			}
		}
	}
	return out, nil
}

// mandatory returns the names of the modules that are mandatory for a Kyma.
func (s *store) mandatory(ctx context.Context, k *v1alpha1.Kyma) ([]string, error) {
	list := &v1alpha1.ModuleReleaseMetaList{}
	if err := s.client.List(ctx, list, client.MatchingFields{indexMandatory: "true"}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, errors.Wrap(err, "cannot list the ModuleReleaseMetas of mandatory modules")
	}
	var out []string
	for i := range list.Items {
		if r := &list.Items[i]; catalogue.Requires(r, k) {
			out = append(out, r.Spec.ModuleName)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// addModules sets the modules of the Kyma: those that it enables, and those that are mandatory for it.
func (p *planner) addModules(mandatory []string) {
	p.modules, p.mandatory = slices.Clone(p.kyma.Spec.ForProvider.Modules), map[string]bool{}
	for _, name := range mandatory {
		p.mandatory[name] = true
		if !slices.ContainsFunc(p.modules, func(m v1alpha1.Module) bool { return m.Name == name }) {
			p.modules = append(p.modules, v1alpha1.Module{Name: name, CustomResourcePolicy: v1alpha1.CustomResourcePolicyCreateAndDelete})
		}
	}
}

// choose returns the version in the catalogue that the Kyma has now.
func (p *planner) choose(m *v1alpha1.Module, live *v1alpha1.Manifest) catalogue.Choice {
	r := catalogue.Request{
		Kyma:    rollout.Kyma{UID: p.kyma.UID, Labels: p.kyma.Labels},
		Version: m.Version, Channel: catalogue.ChannelOf(p.kyma, m),
	}
	if live != nil {
		r.Installed, r.InstalledChannel = installedVersion(live), live.Labels[v1alpha1.LabelChannel]
	}
	return p.catalogues[m.Name].Select(r)
}

// warnAboutIgnored sets the state Warning of a module that is Ready if the Kyma requests of a mandatory module what only its ModuleReleaseMeta decides.
func (p *planner) warnAboutIgnored(s *step, m *v1alpha1.Module) {
	ignored := m.Version != "" || m.Channel != "" || m.Managed != nil && !*m.Managed
	if p.mandatory[m.Name] && ignored && s.status.State == v1alpha1.StateReady {
		setState(&s.status, v1alpha1.StateWarning, v1alpha1.ReasonBlocked, catalogue.IgnoredMessage)
	}
}
