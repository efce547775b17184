// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

func TestValidate(t *testing.T) {
	with := func(change func(in *Install)) Bundle {
		in := web()
		change(&in)
		return Bundle{Installs: []Install{in}}
	}
	named := func(name string) Install {
		in := web()
		in.Name = name
		return in
	}
	ready := func(context.Context, *unstructured.Unstructured) (health.State, string, error) {
		return health.Ready, "", nil
	}
	cases := map[string]struct {
		reason string
		bundle Bundle
		want   string
	}{
		"Good":          {reason: "A bundle may have any number of installs.", bundle: Bundle{Installs: []Install{web()}}},
		"NoName":        {reason: "The name becomes that of the release.", bundle: with(func(in *Install) { in.Name = "" }), want: `install at index 0: name "" must not be empty and must not contain a colon`},
		"Colon":         {reason: "Names with a colon are reserved for other parts.", bundle: with(func(in *Install) { in.Name = "crds:" }), want: `install at index 0: name "crds:" must not be empty and must not contain a colon`},
		"Twice":         {reason: "Two releases cannot have the same name.", bundle: Bundle{Installs: []Install{web(), web()}}, want: `install "web" is listed twice; rename or remove one of them`},
		"NamedCRDs":     {reason: "Messages use this name for the CRDs.", bundle: Bundle{CRDs: &source.Layer{Digest: "c"}, Installs: []Install{named("crds")}}, want: `install "crds" uses a reserved name; rename the install`},
		"NamedResource": {reason: "Messages use this name for the custom resource.", bundle: Bundle{Resource: &unstructured.Unstructured{}, Installs: []Install{named("resource")}}, want: `install "resource" uses a reserved name; rename the install`},
		"NamedFreely":   {reason: "Without such a part, the name is available.", bundle: Bundle{Installs: []Install{named("crds"), named("resource")}}},
		"NoDigest":      {reason: "Without a digest, the engine cannot tell whether the content changed.", bundle: with(func(in *Install) { in.Digest = "" }), want: `install "web": digest is missing`},
		"Namespace":     {reason: "A release needs a namespace.", bundle: with(func(in *Install) { in.Namespace = "" }), want: `install "web": namespace is missing`},
		"Form":          {reason: "An install must have one of the three forms.", bundle: with(func(in *Install) { in.Form = "jsonnet" }), want: `install "web": unknown form "jsonnet"`},
		"Path":          {reason: "Only a kustomization has a path.", bundle: with(func(in *Install) { in.Path = "x" }), want: `install "web": path is only supported for kustomizations; remove it`},
		"CRDs":          {reason: "CRDs need a digest, too.", bundle: Bundle{CRDs: &source.Layer{}}, want: "crds have no digest"},
		"Config":        {reason: "A config needs a digest, too.", bundle: Bundle{Config: &source.Layer{}}, want: "config has no digest"},
		"Transform":     {reason: "A transform needs a digest, too.", bundle: Bundle{Transforms: []Transform{{}}}, want: "transforms[0] has no digest"},
		"NoFunc":        {reason: "A transform needs a function.", bundle: Bundle{Transforms: []Transform{{Digest: "t"}}}, want: "transforms[0] t has no function"},
		"EmptyRule":     {reason: "A rule needs an expression or a function.", bundle: Bundle{Readiness: []Rule{{}}}, want: "readiness[0]: either an expression or a function is required"},
		"DoubleRule":    {reason: "A rule must not have both.", bundle: Bundle{Readiness: []Rule{{CEL: "true", Func: ready}}}, want: "readiness[0]: expression and function are mutually exclusive; remove one of them"},
		"Values":        {reason: "Values must be JSON.", bundle: with(func(in *Install) { in.Values = map[string]any{"a": func() {}} }), want: `web: cannot encode the inputs: json: unsupported type: func()`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := tc.bundle.Parts()
			if diff := cmp.Diff(tc.want, textOf(err)); diff != "" {
				t.Errorf("\n%s\nParts(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
