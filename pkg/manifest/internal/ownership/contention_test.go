// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

func TestContention(t *testing.T) {
	const path = `{"f:data":{"f:a":{}}}`
	ref := cluster.ObjectRef{Kind: "ConfigMap", Namespace: "apps", Name: "web"}
	start := time.Unix(1_700_000_000, 0)
	before := func(manager string) []metav1.ManagedFieldsEntry {
		return []metav1.ManagedFieldsEntry{{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: &metav1.FieldsV1{Raw: []byte(path)}}}
	}
	lost := fieldpath.NewSet(fieldset.Parse(path))
	cases := map[string]struct {
		reason string
		// managers that took the field, one a step.
		managers []string
		step     time.Duration
		want     int
	}{
		"Few":     {reason: "A field that is taken now and then is repaired.", managers: slices.Repeat([]string{"a"}, MaxRepairs-1), step: time.Second},
		"Many":    {reason: "One that the same manager takes again and again is ceded.", managers: slices.Repeat([]string{"a"}, MaxRepairs), step: time.Second, want: 1},
		"Rare":    {reason: "Repairs that are further apart than the window do not add up.", managers: slices.Repeat([]string{"a"}, 2*MaxRepairs), step: Window},
		"Several": {reason: "Each manager is counted on its own.", managers: slices.Repeat([]string{"a", "b"}, MaxRepairs-1), step: time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, now := &Contention{}, start
			for _, m := range tc.managers {
				now = now.Add(tc.step)
				c.Repaired(us, ref, before(m), lost, now)
			}
			got := c.Ceded(ref, now)
			if len(got) != tc.want {
				t.Errorf("\n%s\nCeded(...): %+v", tc.reason, got)
			}
			for i := range got {
				if got[i].Field() != "data.a" || got[i].IsDue(now) || !got[i].IsDue(now.Add(retryContended)) {
					t.Errorf("\n%s\nCeded(...): %+v", tc.reason, got[i])
				}
			}
			c.Forget(ref)
			if c.Len() != 0 {
				t.Errorf("\n%s\nLen() after Forget: %d", tc.reason, c.Len())
			}
		})
	}
}

func TestPaused(t *testing.T) {
	ref := cluster.ObjectRef{Kind: "ConfigMap", Namespace: "apps", Name: "web"}
	c, now := &Contention{}, time.Unix(1_700_000_000, 0)
	for range MaxRepairs {
		if c.AllPaused(now)[ref] {
			t.Fatal("an object that is deleted a few times is restored at once")
		}
		c.Restored(ref, now)
	}
	if !c.AllPaused(now.Add(RestoreInterval - 1))[ref] || c.AllPaused(now.Add(RestoreInterval))[ref] {
		t.Error("then it is restored once in an interval")
	}
	if c.AllPaused(now.Add(Window))[ref] {
		t.Error("after the window it is restored at once again")
	}
}

func TestLostLabelsAreOneRepair(t *testing.T) {
	ref := cluster.ObjectRef{Kind: "ConfigMap", Namespace: "apps", Name: "web"}
	both := fieldpath.NewSet(
		fieldset.Parse(`{"f:metadata":{"f:labels":{"f:applyset.kubernetes.io/part-of":{}}}}`),
		fieldset.Parse(`{"f:metadata":{"f:labels":{"f:operator.kyma-project.io/managed-by":{}}}}`),
	)
	c, now := &Contention{}, time.Unix(1_700_000_000, 0)
	for range MaxRepairs - 1 {
		c.Repaired(us, ref, nil, both, now)
	}
	if c.AllPaused(now)[ref] {
		t.Errorf("%d repairs of both labels count more than once each", MaxRepairs-1)
	}
	c.Repaired(us, ref, nil, both, now)
	if !c.AllPaused(now)[ref] {
		t.Errorf("%d repairs of both labels do not pause the next one", MaxRepairs)
	}
}

func TestIsIdentity(t *testing.T) {
	cases := map[string]struct {
		reason, path string
		want         bool
	}{
		"Set":     {reason: "By this label it is known whose an object is.", path: `{"f:metadata":{"f:labels":{"f:applyset.kubernetes.io/part-of":{}}}}`, want: true},
		"Label":   {reason: "Others are ordinary fields.", path: `{"f:metadata":{"f:labels":{"f:app":{}}}}`},
		"Strange": {reason: "What a cluster answers may have any form.", path: `{"f:metadata":{"i:0":{"f:x":{}}}}`},
		"Index":   {reason: "At any place.", path: `{"f:metadata":{"f:labels":{"i:0":{}}}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsIdentity(fieldset.Parse(tc.path)); got != tc.want {
				t.Errorf("\n%s\nIsIdentity(...): %v", tc.reason, got)
			}
		})
	}
}
