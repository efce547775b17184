// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// values of a chart.
type values map[string]any

// manifest of the space with its ProviderConfig. It is not created yet.
func (s *space) manifest(name string, installs ...v1alpha1.Install) *v1alpha1.Manifest {
	m := &v1alpha1.Manifest{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name},
		Spec:       v1alpha1.ManifestSpec{ForProvider: v1alpha1.ManifestParameters{Installs: installs}},
	}
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: configName}
	return m
}

// installOf a source into the namespace of the space.
func (s *space) installOf(name string, source v1alpha1.Source, v values) v1alpha1.Install {
	GinkgoHelper()
	return v1alpha1.Install{Name: name, Namespace: s.name, Source: source, Values: raw(v)}
}

// raw JSON of values; nil for nil.
func raw(v values) *runtime.RawExtension {
	GinkgoHelper()
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v)
	Expect(err).NotTo(HaveOccurred())
	return &runtime.RawExtension{Raw: b}
}

// setValues of the first install.
func setValues(v values) func(m *v1alpha1.Manifest) {
	GinkgoHelper()
	r := raw(v)
	return func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Installs[0].Values = r }
}

// setSource of the first install.
func setSource(source v1alpha1.Source) func(m *v1alpha1.Manifest) {
	return func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Installs[0].Source = source }
}

// widget of a group, as the custom resource of a module.
func (s *space) widget(group, name string, spec values) values {
	return values{
		"apiVersion": group + "/v1", "kind": "Widget",
		"metadata": map[string]any{"namespace": s.name, "name": name},
		"spec":     spec,
	}
}

// group of custom resources that only this space uses.
func (s *space) group() string { return s.name + ".example.org" }
