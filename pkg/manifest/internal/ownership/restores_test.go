// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

func TestRestoresAdd(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	at := now.Unix()
	cases := map[string]struct {
		reason string
		was    *Restores
		want   Restores
	}{
		"First":  {reason: "The first restoration starts the count.", want: Restores{Count: 1, Since: at, Last: at}},
		"Next":   {reason: "A restoration within the window is added.", was: &Restores{Count: 2, Since: at - 9, Last: at - 3}, want: Restores{Count: 3, Since: at - 9, Last: at}},
		"Window": {reason: "A restoration after the window starts the count again.", was: &Restores{Count: 7, Since: at - 600, Last: at - 60}, want: Restores{Count: 1, Since: at, Last: at}},
		"Ahead":  {reason: "A restoration after a clock was ahead starts the count again.", was: &Restores{Count: 7, Since: at + 1, Last: at + 1}, want: Restores{Count: 1, Since: at, Last: at}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var before Restores
			if tc.was != nil {
				before = *tc.was
			}
			if diff := cmp.Diff(&tc.want, tc.was.Add(now)); diff != "" {
				t.Errorf("\n%s\nAdd(...): -want, +got:\n%s", tc.reason, diff)
			}
			if tc.was != nil && *tc.was != before {
				t.Errorf("\n%s\nAdd(...) changed the count before: %+v", tc.reason, tc.was)
			}
		})
	}
}

func TestRestoresPause(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	at := now.Unix()
	cases := map[string]struct {
		reason string
		in     *Restores
		want   bool
	}{
		"Never":    {reason: "An object that was never restored does not wait."},
		"Few":      {reason: "An object that is deleted a few times is restored immediately.", in: &Restores{Count: MaxRepairs - 1, Since: at, Last: at}},
		"Many":     {reason: "After many restorations, the object must wait.", in: &Restores{Count: MaxRepairs, Since: at - 9, Last: at}, want: true},
		"Waits":    {reason: "An object that was restored often waits until the interval is over.", in: &Restores{Count: MaxRepairs, Since: at - 99, Last: at - 59}, want: true},
		"Interval": {reason: "After the interval, the object is restored once.", in: &Restores{Count: MaxRepairs, Since: at - 99, Last: at - 60}},
		"Window":   {reason: "After the window, the object is restored immediately again.", in: &Restores{Count: MaxRepairs, Since: at - 600, Last: at}},
		"Ahead":    {reason: "A clock that was ahead does not cause a pause.", in: &Restores{Count: MaxRepairs, Since: at - 9, Last: at + 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.in.Pause(now); got != tc.want {
				t.Errorf("\n%s\nPause(...): %v", tc.reason, got)
			}
		})
	}
}

// Repairs of the labels of an object are stored in the inventory once there are many.
func TestRepairedLabels(t *testing.T) {
	both := fieldpath.NewSet(
		fieldset.Parse(`{"f:metadata":{"f:labels":{"f:applyset.kubernetes.io/part-of":{}}}}`),
		fieldset.Parse(`{"f:metadata":{"f:labels":{"f:operator.kyma-project.io/managed-by":{}}}}`),
	)
	r, now := Repairs{}, time.Unix(1_700_000_000, 0)
	var stored *Restores
	for i := range MaxRepairs - 1 {
		if r, stored = r.Add(us, nil, both, stored, now); stored != nil {
			t.Fatalf("repair %d of both labels changes the inventory: %+v", i, stored)
		}
	}
	r, stored = r.Add(us, nil, both, stored, now)
	if diff := cmp.Diff(&Restores{Count: MaxRepairs, Since: now.Unix(), Last: now.Unix()}, stored); diff != "" {
		t.Errorf("Add(...): -want, +got:\n%s", diff)
	}

	// Another process continues from the inventory.
	later := now.Add(RestoreInterval)
	if _, got := (Repairs{}).Add(us, nil, both, stored, later); !got.Pause(later) || got.Count != MaxRepairs+1 {
		t.Errorf("Add(...) in another process: %+v", got)
	}
	if _, got := r.Add(us, nil, &fieldpath.Set{}, stored, later); got != stored {
		t.Errorf("Add(...) of no label: %+v", got)
	}
}

func TestIsIdentity(t *testing.T) {
	cases := map[string]struct {
		reason, path string
		want         bool
	}{
		"Set":     {reason: "The label part-of identifies the owner of the object.", path: `{"f:metadata":{"f:labels":{"f:applyset.kubernetes.io/part-of":{}}}}`, want: true},
		"Label":   {reason: "Other labels are ordinary fields.", path: `{"f:metadata":{"f:labels":{"f:app":{}}}}`},
		"Strange": {reason: "The field has an unexpected form.", path: `{"f:metadata":{"i:0":{"f:x":{}}}}`},
		"Index":   {reason: "The field is an index in the labels.", path: `{"f:metadata":{"f:labels":{"i:0":{}}}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsIdentity(fieldset.Parse(tc.path)); got != tc.want {
				t.Errorf("\n%s\nIsIdentity(...): %v", tc.reason, got)
			}
		})
	}
}
