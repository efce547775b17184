// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"strings"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fakeapi"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

const otherSet = "applyset-other"

// ofOther makes another bundle install an object.
func ofOther(text string) func(s *site) {
	return func(s *site) {
		u := fakeapi.Parse(text)
		object.AddLabels(u, map[string]string{object.LabelPartOf: otherSet, object.LabelManagedBy: object.DefaultManagedBy})
		b, err := u.MarshalJSON()
		if err != nil {
			panic(err)
		}
		s.c.Apply(object.DefaultFieldManager, string(b))
	}
}

// used records that the bundle uses the CRD as it is now.
func (s *site) used(t *testing.T, text string) {
	t.Helper()
	live := s.c.Object(refOf(text))
	s.entry = inventory.EntryOf(desired(t, text))
	s.entry.UID, s.entry.Intent = string(live.GetUID()), desired(t, text).Hash
	s.entry.Use = inventory.UseOf(health.StateOf(object.DefaultFieldManager, live))
}

// handOver takes the CRD from its owner.
func handOver(text string) func(s *site) {
	return func(s *site) {
		s.c.Edit("other", refOf(text), func(u *unstructured.Unstructured) {
			l := u.GetLabels()
			delete(l, object.LabelPartOf)
			u.SetLabels(l)
			u.SetAnnotations(map[string]string{object.AnnotationHandedOver: otherSet, object.AnnotationKeptBy: otherSet})
		})
	}
}

func TestApplyShared(t *testing.T) {
	name := "CustomResourceDefinition widgets.example.org"
	owner, mark, patch, apply := "list Secret kyma-system", "apply unforced "+name, "patch "+name, "apply "+name
	found, tried := []string{"apply new " + name, "metadata " + name, "get " + name}, []string{"try apply new " + name, "get " + name}
	add := func(a []string, b ...string) []string { return append(append([]string{}, a...), b...) }
	refusal := "already exists and belongs to another owner (label applyset.kubernetes.io/part-of: applyset-other), and cannot be used as is: " +
		"version v1: the existing CRD does not have the field spec.mode; upgrade or remove the CRD there, or set adopt"
	sizeOnly := `{type: object, properties: {size: {type: integer}}}`
	cases := map[string]scenario{
		"Uses": {
			reason: "An equal CRD of another bundle is used.",
			others: ofOther(crd(anySpec)), want: crd(anySpec), input: func(in *Subject) { in.Exists = false },
			out: result{Kind: "Used"}, requests: add(found, mark, owner), tries: add(tried, owner),
		},
		"UsesKnown": {
			reason: "A CRD of another bundle that the watch shows is used.",
			others: ofOther(crd(anySpec)), want: crd(anySpec),
			out: result{Kind: "Used"}, requests: add(found[1:], mark, owner), tries: add(tried[1:], owner),
		},
		"UsesMore": {
			reason: "A CRD with more fields than required is used.",
			others: ofOther(crd(anySpec)), want: crd(sizeOnly),
			out: result{Kind: "Used"}, requests: add(found[1:], mark, owner), tries: add(tried[1:], owner),
		},
		"UsesAlthoughItAdopts": {
			reason: "Adoption does not take a CRD from another bundle if it can be used.",
			others: ofOther(crd(anySpec)), want: crd(anySpec), adoption: object.AdoptAll,
			out: result{Kind: "Used"}, requests: add(found[1:], mark, owner), tries: add(tried[1:], owner),
		},
		"UsesUnowned": {
			reason: "A CRD of no bundle is used.",
			others: foreign("kubectl", crd(anySpec)), want: crd(anySpec),
			out: result{Kind: "Used"}, requests: add(found, mark), tries: tried,
		},
		"Refused": {
			reason: "A CRD that lacks a field is refused.",
			others: ofOther(crd(sizeOnly)), want: crd(anySpec),
			out: result{Err: name + ": " + refusal, Refused: true}, requests: add(found[1:], owner), tries: add(tried[1:], owner),
		},
		"Unmarked": {
			reason: "If the CRD cannot be marked, it is not used.",
			others: foreign("kubectl", crd(anySpec)), want: crd(anySpec),
			meet:     refuse(mark, kerrors.NewForbidden(schema.GroupResource{Resource: "customresourcedefinitions"}, "x", nil)),
			out:      result{Err: name + `: cannot mark the object as used: customresourcedefinitions "x" is forbidden: <nil>`, Refused: true},
			requests: add(found, mark), tries: tried, instead: &result{Kind: "Used"},
		},
		"Inherits": {
			reason: "A CRD that was handed over belongs to the bundle, if its own CRD has at least as much.",
			others: both(ofOther(crd(sizeOnly)), handOver(crd(sizeOnly)), func(s *site) { s.used(t, crd(sizeOnly)) }), want: crd(anySpec),
			out:      result{Kind: "Updated", Lost: []string{"metadata.labels." + object.LabelPartOf}},
			requests: add(found[1:], patch, mark, apply), tries: add(tried[1:], "try "+apply),
			fields: []string{"metadata.labels." + object.LabelPartOf, `spec.versions[name="v1"].schema.openAPIV3Schema.properties.spec.properties.mode`},
			unseen: []string{"metadata.annotations." + object.AnnotationHandedOver, "metadata.annotations." + object.AnnotationKeptBy},
		},
		"InheritsLess": {
			reason: "A CRD that was handed over and would lose fields is used as it is.",
			others: both(ofOther(crd(anySpec)), handOver(crd(anySpec)), func(s *site) { s.used(t, crd(anySpec)) }), want: crd(sizeOnly),
			out: result{Kind: "Used"}, requests: add(found[1:], mark), tries: tried[1:],
		},
		"Deleting": {
			reason: "A CRD that is being deleted is waited for, whose ever it is.",
			others: both(ofOther(crd(anySpec)), func(s *site) { s.c.Edit("kubectl", refOf(crd(anySpec)), finalize); s.c.Delete(refOf(crd(anySpec))) }),
			want:   crd(anySpec), out: result{Kind: "Deleting"}, requests: found[1:2], tries: tried[1:],
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { tc.test(t) })
	}
}

// TestSharedMarks checks what a bundle leaves on a CRD of another owner: its name, and nothing once it owns the CRD.
func TestSharedMarks(t *testing.T) {
	s := newSite(t)
	ofOther(crd(anySpec))(s)
	owned := func() string {
		return health.StateOf(object.DefaultFieldManager, s.c.Object(refOf(crd(anySpec)))).Owned
	}
	before := owned()
	o := desired(t, crd(anySpec))
	in := s.input(o)
	out, err := s.writer().Apply(t.Context(), in)
	if err != nil || out.Kind != Used || out.Use.Owner != otherSet {
		t.Fatalf("Apply(...): %+v, %v", out, err)
	}
	live := s.c.Object(o.Ref)
	if got := strings.Join(object.UsersOf(live.GetAnnotations(), ""), ", "); got != "Manifest a/ours" {
		t.Errorf("users: %q", got)
	}
	if owned() != before {
		t.Error("the mark is a change of what the owner applied")
	}
	s.used(t, crd(anySpec))
	handOver(crd(anySpec))(s)
	s.c.Edit("other", o.Ref, func(u *unstructured.Unstructured) {
		a := u.GetAnnotations()
		a[object.UsedBy(ourSet)] = "Manifest a/ours"
		u.SetAnnotations(a)
	})
	if out, err = s.writer().Apply(t.Context(), s.input(o)); err != nil || out.Kind != Updated {
		t.Fatalf("Apply(...): %+v, %v", out, err)
	}
	live = s.c.Object(o.Ref)
	if live.GetLabels()[object.LabelPartOf] != ourSet || live.GetAnnotations()[object.AnnotationHandedOver] != "" {
		t.Errorf("the CRD does not belong to the bundle: %v %v", live.GetLabels(), live.GetAnnotations())
	}
}
