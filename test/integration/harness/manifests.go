// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// Values holds the values of a chart, or another JSON object.
type Values map[string]any

// Manifest returns a Manifest with the ProviderConfig of the space, without creating it.
func (s *Space) Manifest(name string, installs ...v1alpha1.Install) *v1alpha1.Manifest {
	m := &v1alpha1.Manifest{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: name},
		Spec:       v1alpha1.ManifestSpec{ForProvider: v1alpha1.ManifestParameters{Installs: installs}},
	}
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: ConfigName}
	return m
}

// InstallOf returns an install of a source into the namespace of the space.
func (s *Space) InstallOf(name string, source v1alpha1.Source, v Values) v1alpha1.Install {
	GinkgoHelper()
	return v1alpha1.Install{Name: name, Namespace: s.Name, Source: source, Values: Raw(v)}
}

// Raw encodes values as JSON. It returns nil for nil.
func Raw(v Values) *runtime.RawExtension {
	GinkgoHelper()
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v)
	Expect(err).NotTo(HaveOccurred())
	return &runtime.RawExtension{Raw: b}
}

// SetValues returns an edit that sets the values of the first install.
func SetValues(v Values) func(m *v1alpha1.Manifest) {
	GinkgoHelper()
	r := Raw(v)
	return func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Installs[0].Values = r }
}

// SetSource returns an edit that sets the source of the first install.
func SetSource(source v1alpha1.Source) func(m *v1alpha1.Manifest) {
	return func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Installs[0].Source = source }
}

// Widget returns a Widget of a group, as the custom resource of a module.
func (s *Space) Widget(group, name string, spec Values) Values {
	return Values{
		"apiVersion": group + "/v1", "kind": "Widget",
		"metadata": map[string]any{"namespace": s.Name, "name": name},
		"spec":     spec,
	}
}

// Group returns an API group of custom resources that only this space uses.
func (s *Space) Group() string { return s.Name + ".example.org" }

// TitleOf returns the kind and name of an object, in the format of messages.
func TitleOf(r v1alpha1.ObjectReference) string { return cluster.ObjectRef(r).String() }

const TestModule = "component-descriptors/example.org/module/test"

// Inline returns a source with a ConfigMap for each pair of a name and a line of data. The ConfigMaps get the namespace of the
// install.
func (s *Space) Inline(pairs ...string) v1alpha1.Source {
	text := &strings.Builder{}
	text.WriteString("# Nothing but comments makes no object.\n")
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {%s}\n", pairs[i], pairs[i+1])
	}
	return v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: text.String()}
}

// ConfigLayer pushes YAML as a blob, unchanged, and returns its source.
func ConfigLayer(ctx context.Context, text string) *v1alpha1.LayerSource {
	GinkgoHelper()
	p, err := Env.Registry.PushBlob(ctx, TestModule, []byte(text))
	Expect(err).NotTo(HaveOccurred())
	source := OciRef(p.Repository, p.Layer)
	return &v1alpha1.LayerSource{Type: v1alpha1.LayerSourceTypeOCIRef, Repo: source.Repo, Name: source.Name, Ref: source.Ref}
}
