// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

func TestRepairs(t *testing.T) {
	const path = `{"f:data":{"f:a":{}}}`
	start := time.Unix(1_700_000_000, 0)
	before := func(manager string) []metav1.ManagedFieldsEntry {
		return []metav1.ManagedFieldsEntry{{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: &metav1.FieldsV1{Raw: []byte(path)}}}
	}
	lost := fieldpath.NewSet(fieldset.Parse(path))
	cases := map[string]struct {
		reason string
		// managers that change the field, one per step.
		managers []string
		step     time.Duration
		want     int
	}{
		"Few":     {reason: "A field that is changed a few times is repaired.", managers: slices.Repeat([]string{"a"}, MaxRepairs-1), step: time.Second},
		"Many":    {reason: "A field that the same manager changes repeatedly is ceded.", managers: slices.Repeat([]string{"a"}, MaxRepairs), step: time.Second, want: 1},
		"Rare":    {reason: "Repairs that are further apart than the window do not add up.", managers: slices.Repeat([]string{"a"}, 2*MaxRepairs), step: Window},
		"Several": {reason: "Each manager is counted separately.", managers: slices.Repeat([]string{"a", "b"}, MaxRepairs-1), step: time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, now := Repairs{}, start
			for _, m := range tc.managers {
				now = now.Add(tc.step)
				was := r
				r, _ = r.Add(us, before(m), lost, nil, now)
				if len(was.Ceded(now)) == tc.want && tc.want > 0 {
					t.Errorf("\n%s\nAdd(...) changed the value before: %+v", tc.reason, was)
				}
			}
			got := r.Ceded(now)
			if len(got) != tc.want {
				t.Errorf("\n%s\nCeded(...): %+v", tc.reason, got)
			}
			for i := range got {
				if got[i].Field() != "data.a" || got[i].IsDue(now) || !got[i].IsDue(now.Add(retryContended)) {
					t.Errorf("\n%s\nCeded(...): %+v", tc.reason, got[i])
				}
			}
		})
	}
}
