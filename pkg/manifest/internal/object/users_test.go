// SPDX-License-Identifier: Apache-2.0

package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestUsersOf(t *testing.T) {
	marks := map[string]string{
		UsedBy("a"): "Manifest b/x", UsedBy("b"): "Manifest a/y", UsedBy("c"): "", "kyma.m.crossplane.io/kept-by": "d", "used-by.x": "e",
	}
	cases := map[string]struct {
		reason string
		except string
		want   []string
	}{
		"All":    {reason: "All users are sorted by name. One without a name has its hash.", want: []string{HashOfSet("c"), "Manifest a/y", "Manifest b/x"}},
		"Except": {reason: "A bundle does not count itself.", except: "b", want: []string{HashOfSet("c"), "Manifest b/x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, UsersOf(marks, tc.except)); diff != "" {
				t.Errorf("\n%s\nUsersOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUsedBy checks that the annotation is valid, and stays the same: CRDs have it for as long as modules are installed.
func TestUsedBy(t *testing.T) {
	const want = "kyma.m.crossplane.io/used-by.42f25519066545de"
	got := UsedBy("applyset-x-v1")
	if problems := validation.IsQualifiedName(got); len(problems) > 0 {
		t.Errorf("%s: %v", got, problems)
	}
	if got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

func TestIsHandedOver(t *testing.T) {
	handed := map[string]string{AnnotationHandedOver: "a"}
	cases := map[string]struct {
		reason              string
		labels, annotations map[string]string
		want                bool
	}{
		"HandedOver": {reason: "A CRD that was handed over has the annotation and no owner.", annotations: handed, want: true},
		"Owned":      {reason: "The annotation of a CRD that has an owner does not count.", labels: map[string]string{LabelPartOf: "b"}, annotations: handed},
		"Unowned":    {reason: "A CRD that never had an owner was not handed over."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsHandedOver(tc.labels, tc.annotations); got != tc.want {
				t.Errorf("\n%s\nIsHandedOver(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
