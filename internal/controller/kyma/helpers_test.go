// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
)

const (
	namespace = "team-a"
	kymaUID   = types.UID("kyma-uid")
	digest    = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// newKyma returns a Kyma with modules.
func newKyma(modules ...v1alpha1.Module) *v1alpha1.Kyma {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "k", UID: kymaUID}}
	k.Spec.ForProvider.Channel = "regular"
	k.Spec.ForProvider.Modules = modules
	k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "cluster"}
	k.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	return k
}

// otherKyma returns a second Kyma in the same namespace, without modules.
func otherKyma() *v1alpha1.Kyma {
	k := newKyma()
	k.ObjectMeta = metaOf("other")
	return k
}

// newTemplate returns a resolved template with one chart.
func newTemplate(name, channel, version string, change ...func(*v1alpha1.ModuleTemplate)) v1alpha1.ModuleTemplate {
	t := v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: name + "-" + channel, Generation: 1}}
	t.Spec.ModuleName, t.Spec.Channel, t.Spec.Target = name, channel, v1alpha1.ModuleTargetRemote
	t.Spec.Component = &v1alpha1.Component{Repository: "registry/modules", Name: "example.org/" + name, Version: version, NameMapping: v1alpha1.NameMappingURLPath}
	t.Status = v1alpha1.ModuleTemplateStatus{
		ResolvedGeneration: 1, ModuleName: name, Version: version, Digest: digest,
		Resources: []v1alpha1.ModuleResource{{
			Name: name, Type: "helm-chart", Version: version, Use: v1alpha1.UseInstall, Install: name,
			Source: &v1alpha1.Source{Type: v1alpha1.SourceTypeOCIRef, Repo: "registry/modules/component-descriptors", Name: "example.org/" + name, Ref: digest},
		}},
	}
	t.Status.SetConditions(xpv2.Condition{Type: v1alpha1.TypeResolved, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonResolved})
	for _, f := range change {
		f(&t)
	}
	return t
}

// policyOf returns the management policies of a Kyma, with support for policies enabled.
func policyOf(k *v1alpha1.Kyma) managed.ManagementPoliciesChecker {
	return managed.NewManagementPoliciesResolver(true, k.Spec.ManagementPolicies)
}

// newPlanner returns a planner for a Kyma with templates and Manifests.
func newPlanner(k *v1alpha1.Kyma, templates []v1alpha1.ModuleTemplate, manifests ...*v1alpha1.Manifest) *planner {
	p := &planner{
		kyma: k, manifests: manifests, intent: intentOf(k, policyOf(k)), catalogues: map[string]*catalogue.Catalogue{},
		controlPlane: &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "control-plane"},
	}
	p.addModules(nil)
	for _, m := range p.modules {
		p.catalogues[m.Name] = &catalogue.Catalogue{Module: m.Name}
	}
	for _, t := range templates {
		c, ok := p.catalogues[t.Spec.ModuleName]
		if !ok {
			c = &catalogue.Catalogue{Module: t.Spec.ModuleName}
			p.catalogues[c.Module] = c
		}
		c.Templates = append(c.Templates, t)
	}
	return p
}

// installed returns the Manifest that a Kyma creates from a template, with state Ready.
func installed(k *v1alpha1.Kyma, t v1alpha1.ModuleTemplate, change ...func(*v1alpha1.Manifest)) *v1alpha1.Manifest {
	m := desiredOf(k, t, v1alpha1.Module{Name: t.Spec.ModuleName}, nil)
	m.UID, m.Generation = types.UID("manifest-of-"+t.Spec.ModuleName), 1
	m.Status.AtProvider.State = v1alpha1.StateReady
	m.SetConditions(xpv2.Available(), xpv2.ReconcileSuccess().WithObservedGeneration(1))
	for _, f := range change {
		f(m)
	}
	return m
}

// desiredOf returns the desired Manifest of a module.
func desiredOf(k *v1alpha1.Kyma, t v1alpha1.ModuleTemplate, module v1alpha1.Module, live *v1alpha1.Manifest) *v1alpha1.Manifest {
	p := newPlanner(k, nil)
	c, err := p.contentOf(&t, &module, t.Spec.Channel)
	if err != nil {
		panic(err)
	}
	return desiredManifest(k, p.intent, c, live)
}

// in returns a Manifest in a state, with a message.
func in(state v1alpha1.State, message string) func(*v1alpha1.Manifest) {
	return func(m *v1alpha1.Manifest) {
		m.Status.AtProvider.State, m.Status.AtProvider.Message = state, message
		if state != v1alpha1.StateReady {
			c := xpv2.Unavailable().WithMessage(message)
			if state == v1alpha1.StateError {
				c.Reason = v1alpha1.ReasonModuleFailed
			}
			m.SetConditions(c)
		}
	}
}

func deleted(m *v1alpha1.Manifest) {
	now := metav1.Now()
	m.DeletionTimestamp = &now
	m.Finalizers = []string{"finalizer"}
}

func metaOf(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name)}
}
