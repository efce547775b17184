// SPDX-License-Identifier: Apache-2.0

package module

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/source/sourcetest"
)

const treeURL = "https://trees.example.org/a"

// TestNewSourceType shows that a new source type requires no changes to the code that maps, installs and verifies modules.
func TestNewSourceType(t *testing.T) {
	if err := validateSource(sourcetest.Tree(treeURL, digestA)); err != nil {
		t.Errorf("validateSource(...): %v", err)
	}
	if err := validateSource(sourcetest.Tree("", digestA)); err == nil || err.Error() != "the URL of the tree is missing" {
		t.Errorf("validateSource(...): want the error of the type, got %v", err)
	}
	template := &v1alpha1.ModuleTemplate{Status: v1alpha1.ModuleTemplateStatus{Resources: []v1alpha1.ModuleResource{
		{Name: "plain", Use: v1alpha1.UseInstall, Install: "plain", Source: sourcetest.Tree(treeURL, digestA)},
	}}}
	p, err := Parameters(template, &v1alpha1.Module{Name: "m", Values: &runtime.RawExtension{Raw: []byte(`{"a":1}`)}})
	want := []v1alpha1.Install{{Name: "plain", Namespace: "default", Source: *sourcetest.Tree(treeURL, digestA)}}
	if diff := cmp.Diff(want, p.Installs); err != nil || diff != "" {
		t.Errorf("Parameters(...): plain objects have no values: %v, -want, +got:\n%s", err, diff)
	}
}

func TestVerifyNewSourceType(t *testing.T) {
	private, key := keyPair(t)
	tree := []byte("tree")
	descriptor := signed(t, describe(t, sample, "1.0.0", []fields{local("plain", "yaml", tree)}), private)
	cases := map[string]struct {
		reason string
		source v1alpha1.Source
		want   string
	}{
		"Covered":    {reason: "The type names the digest that a signature covers.", source: *sourcetest.Tree(treeURL, sum(tree))},
		"NotCovered": {reason: "Another digest is not signed.", source: *sourcetest.Tree(treeURL, digestA), want: `install "plain": signature "module-signature" does not cover ` + digestA},
		"Moves":      {reason: "The type says why it cannot be signed.", source: *sourcetest.Tree(treeURL, ""), want: `install "plain": a tree without a digest can change`},
		"Unknown":    {reason: "A type that is not registered is refused.", source: v1alpha1.Source{Type: "svn", Ref: sum(tree)}, want: `install "plain": unknown source type "svn"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := NewVerifier(newPuller()).Verify(t.Context(), nil, &v1alpha1.ManifestParameters{
				Descriptor: &runtime.RawExtension{Raw: descriptor.JSON()}, Installs: []v1alpha1.Install{{Name: "plain", Source: tc.source}},
			}, []ocm.Key{key})
			var v *ocm.VerificationError
			if tc.want == "" && err != nil || tc.want != "" && (!errors.As(err, &v) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("\n%s\nVerify(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
