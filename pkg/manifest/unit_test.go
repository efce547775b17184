// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

func TestID(t *testing.T) {
	// sha256 of "team-a-web.kyma-system.Secret.", base64 for URLs without padding, as KEP-3659 says.
	want := "applyset-avNIsNPAqJ-K-AGRbzQrd7Salf78lg0sMuS4mrJSUFc-v1"
	if got := New().ID(&Set{Name: "team-a-web"}); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	if got := New(WithNamespace("other")).ID(&Set{Name: "team-a-web"}); got == want {
		t.Error("the namespace must be part of the ID")
	}
}

func TestInputs(t *testing.T) {
	base := func() *Set { return setOf(Install{Name: "web", Namespace: "apps", Layer: source.Layer{Digest: "d"}}) }
	cases := map[string]struct {
		reason string
		change func(s *Set)
		same   bool
	}{
		"Nothing":   {reason: "Equal inputs must have equal digests.", change: func(*Set) {}, same: true},
		"Adopt":     {reason: "Whether objects are adopted changes nothing about them.", change: func(s *Set) { s.Adopt = true }, same: true},
		"Readiness": {reason: "Rules are evaluated without applying.", change: func(s *Set) { s.Readiness = []Rule{{CEL: "true"}} }, same: true},
		"Digest":    {reason: "Other content must be applied.", change: func(s *Set) { s.Installs[0].Digest = "e" }},
		"Values":    {reason: "Other values must be applied.", change: func(s *Set) { s.Installs[0].Values = map[string]any{"a": int64(1)} }},
		"Namespace": {reason: "Another namespace must be applied.", change: func(s *Set) { s.Installs[0].Namespace = "other" }},
		"Labels":    {reason: "Other labels must be applied.", change: func(s *Set) { s.Labels["team"] = "b" }},
	}
	digest := func(s *Set) string {
		p, err := s.parts()
		if err != nil {
			t.Fatal(err)
		}
		return p[0].digest
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := base()
			tc.change(s)
			if got := digest(s) == digest(base()); got != tc.same {
				t.Errorf("\n%s\nsame: want %v, got %v", tc.reason, tc.same, got)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	web := func() Install { return Install{Name: "web", Namespace: "apps", Layer: source.Layer{Digest: "d"}} }
	cases := map[string]struct {
		reason string
		set    *Set
		want   string
	}{
		"Good":      {reason: "A set may have any number of installs.", set: setOf(web())},
		"NoName":    {reason: "The name is that of the release.", set: setOf(Install{}), want: `install "" at index 0: a name is needed, and no colon in it`},
		"Colon":     {reason: "Names with a colon are those of other parts.", set: setOf(Install{Name: partCRDs}), want: `install "crds:" at index 0: a name is needed, and no colon in it`},
		"Twice":     {reason: "Two releases cannot have one name.", set: setOf(web(), web()), want: `install "web" is there twice`},
		"NoDigest":  {reason: "Without a digest nobody knows whether anything changed.", set: setOf(Install{Name: "web"}), want: `install "web": has no digest`},
		"Namespace": {reason: "A release is in a namespace.", set: setOf(Install{Name: "web", Layer: source.Layer{Digest: "d"}}), want: `install "web": has no namespace`},
		"CRDs":      {reason: "Definitions have a digest too.", set: &Set{CRDs: &source.Layer{}}, want: "crds have no digest"},
		"Values":    {reason: "Values must be JSON.", set: setOf(func() Install { i := web(); i.Values = map[string]any{"a": func() {}}; return i }()), want: `install "web": cannot encode values: json: unsupported type: func()`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := tc.set.parts()
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestKindsOf(t *testing.T) {
	crd := manifestOf(t, `{kind: CustomResourceDefinition, spec: {group: g, scope: Cluster, names: {kind: K, plural: ks}, versions: [
		{name: v1, served: true}, {name: v2, served: false}, {name: v3}, 7]}}`)
	want := map[schema.GroupVersionKind]cluster.Mapping{{Group: "g", Version: "v1", Kind: "K"}: {Resource: "ks"}}
	if diff := cmp.Diff(want, kindsOf(crd)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if got := kindsOf(manifestOf(t, "{kind: CustomResourceDefinition}")); len(got) != 0 {
		t.Errorf("a definition without names has no kinds: %v", got)
	}
}

func TestClaim(t *testing.T) {
	meta := func(owner string) *metav1.PartialObjectMetadata {
		m := &metav1.PartialObjectMetadata{}
		m.UID = "1"
		if owner != "" {
			m.Labels = map[string]string{object.LabelPartOf: owner}
		}
		return m
	}
	cases := map[string]struct {
		reason string
		adopt  bool
		stage  object.Stage
		uid    string
		meta   *metav1.PartialObjectMetadata
		want   string
	}{
		"Gone":     {reason: "What is not there is in nobody's way."},
		"Ours":     {reason: "Our label says so.", meta: meta("me")},
		"SameUID":  {reason: "We made it, and it lost its label.", uid: "1", meta: meta("")},
		"OtherUID": {reason: "Somebody made it anew.", uid: "2", meta: meta(""), want: "exists and does not belong to this module; remove it, or set adopt to take it over"},
		"OtherSet": {
			reason: "Another set has it, though we made it.", uid: "1", meta: meta("you"),
			want: "exists and belongs to another set of objects (label applyset.kubernetes.io/part-of: you); remove it there, or set adopt to take it over",
		},
		"Resource": {
			reason: "For a custom resource there is a policy.", stage: object.StageResource, meta: meta(""),
			want: "exists and does not belong to this module; set adopt to take it over, or customResourcePolicy to Ignore",
		},
		"Adopt": {reason: "It was asked for.", adopt: true, meta: meta("you")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newBench(t).begun(&Set{Name: "me", Adopt: tc.adopt})
			w.id = "me"
			got := ""
			if err := w.claim(t.Context(), &object.Desired{Stage: tc.stage}, &inventory.Entry{UID: tc.uid}, tc.meta); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConclude(t *testing.T) {
	o := Observation{State: Ready, Parts: []PartState{
		{Name: "a", State: Processing, Message: "1"}, {Name: "b", State: Error, Message: "2"}, {Name: "c", State: Error, Message: "3"}, {Name: "d", State: Warning, Message: "4"},
	}}
	o.conclude()
	if o.State != Error || o.Message != "b: 2" {
		t.Errorf("the first of the most urgent counts: %s %q", o.State, o.Message)
	}
	p := PartState{State: Ready}
	for _, s := range []State{Processing, Warning, Error, Deleting, Processing} {
		p.see(s, string(s))
	}
	if p.State != Deleting || p.Message != "Deleting" {
		t.Errorf("the most urgent counts: %+v", p)
	}
}
