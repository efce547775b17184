// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestIsAdopted(t *testing.T) {
	type texts = map[string]string
	before := func(labels, annotations texts) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations}}
	}
	cases := map[string]struct {
		reason string
		out    Outcome
		entry  bool
		want   bool
	}{
		"Created":     {reason: "The engine created the object.", out: Outcome{Kind: Created}, entry: true},
		"Unread":      {reason: "The object did not exist before.", out: Outcome{Kind: Updated}, entry: true},
		"Existed":     {reason: "The object existed without an owner.", out: Outcome{Kind: Updated, Before: before(nil, nil)}, want: true},
		"OfAnother":   {reason: "The object existed with another owner.", out: Outcome{Kind: Updated, Before: before(texts{object.LabelPartOf: "other"}, nil)}, want: true},
		"Interrupted": {reason: "An interrupted call applied the object, and may have adopted it.", out: Outcome{Kind: Updated, Before: before(texts{object.LabelPartOf: "set"}, nil)}, entry: true, want: true},
		"Ours":        {reason: "An interrupted call applied the object, and does not adopt.", out: Outcome{Kind: Updated, Before: before(texts{object.LabelPartOf: "set"}, nil)}},
		"Kept":        {reason: "The same ApplySet created and kept the object.", out: Outcome{Kind: Updated, Before: before(nil, texts{object.AnnotationKeptBy: "set"})}, entry: true},
		"Released":    {reason: "The same ApplySet adopted and released the object.", out: Outcome{Kind: Updated, Before: before(nil, texts{object.AnnotationKeptBy: "set", object.AnnotationAdopted: "set"})}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.out.IsAdopted(tc.entry, "set"); got != tc.want {
				t.Errorf("\n%s\nIsAdopted(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
