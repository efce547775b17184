// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// An observation is a test case: an input, and what is observed. A phase is that of the only part.
type observation struct {
	reason string
	in     func(w *world) Input
	phase  Phase
	want   Observation // Without Parts.
}

func (tc *observation) test(t *testing.T) {
	t.Helper()
	got := Observe(tc.in(newWorld()))
	if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Observation{}, "Parts"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
	}
	if tc.phase == "" {
		return
	}
	if len(got.Parts) != 1 || got.Parts[0].Phase != tc.phase || got.Parts[0].State != tc.phase.State() || got.Parts[0].Version != "1.0.0" {
		t.Errorf("\n%s\nwant phase %s, got %+v", tc.reason, tc.phase, got.Parts)
	}
}

func deleted(w *world) Input {
	in := w.input()
	in.Objects = nil
	return in
}

func TestObserveDrift(t *testing.T) {
	drift := Drift{Key: ref}
	cases := map[string]*observation{
		"Repaired": {
			reason: "A changed object is about to be repaired.",
			in:     func(w *world) Input { w.obj.Owned = "theirs"; return w.input() },
			phase:  PhaseDrifted,
			want:   Observation{Exists: true, State: health.Processing, Message: "web: ConfigMap apps/web was changed", Total: 1, Drift: []Drift{drift}},
		},
		"RepairFailed": {
			reason: "If the repair failed, the failure counts.",
			in: func(w *world) Input {
				w.obj.Owned = "theirs"
				w.last.Failed = map[object.PartID]inventory.Failure{"web": {Digest: "new", Message: "no"}}
				return w.input()
			},
			phase: PhaseFailed,
			want:  Observation{Exists: true, State: health.Error, Message: "web: no", Total: 1, Drift: []Drift{drift}},
		},
		"RepairRetried": {
			reason: "If something did not answer, a retry may help.",
			in: func(w *world) Input {
				w.obj.Owned = "theirs"
				w.last.Failed = map[object.PartID]inventory.Failure{"web": {Digest: "new", Message: "no", Transient: true}}
				return w.input()
			},
			phase: PhaseRetrying,
			want:  Observation{Exists: true, State: health.Error, Message: "web: no", Total: 1, Drift: []Drift{drift}},
		},
		"Again": {
			reason: "An object that is deleted repeatedly results in a warning.",
			in: func(w *world) Input {
				in := deleted(w)
				in.Inventory.Find(ref).Restores = &ownership.Restores{Count: ownership.MaxRepairs, Since: in.Now.Unix(), Last: in.Now.Unix()}
				return in
			},
			phase: PhaseContended,
			want: Observation{
				Exists: true, State: health.Warning, Total: 1, Drift: []Drift{{Key: ref, Kind: DriftDeleted}},
				Message: "web: ConfigMap apps/web was deleted repeatedly and is restored once a minute; find the client that changes the object",
			},
		},
		"Reported": {
			reason: "Under Report, the drift is named, and the health of the object still counts.",
			in: func(w *world) Input {
				w.in.Drift, w.obj.Owned = bundle.DriftReport, "theirs"
				w.in.Differences = map[cluster.ObjectRef]Difference{ref: {Drift: Drift{Key: ref, Fields: []string{"data.k"}}, Differs: true}}
				return w.input()
			},
			phase: PhaseChanged,
			want: Observation{
				Exists: true, UpToDate: true, State: health.Warning, Message: "web: ConfigMap apps/web was changed at data.k", Works: true,
				Ready: 1, Total: 1, Drift: []Drift{{Key: ref, Fields: []string{"data.k"}}},
			},
		},
		"Uncompared": {
			reason: "While one object cannot be compared, it is unknown whether the drift is the same as before.",
			in: func(w *world) Input {
				w.in.Drift, w.obj.Owned = bundle.DriftReport, "theirs"
				w.in.Differences = map[cluster.ObjectRef]Difference{ref: {Drift: Drift{Key: ref}, Differs: true, Failed: true}}
				return w.input()
			},
			phase: PhaseChanged,
			want: Observation{
				Exists: true, UpToDate: true, State: health.Warning, Message: "web: ConfigMap apps/web was changed", Works: true, Ready: 1, Total: 1,
			},
		},
		"Broken": {
			reason: "A missing object does not work.",
			in: func(w *world) Input {
				w.in.Drift = bundle.DriftReport
				w.in.Differences = map[cluster.ObjectRef]Difference{ref: {Drift: Drift{Key: ref, Kind: DriftDeleted}, Differs: true}}
				return deleted(w)
			},
			phase: PhaseBroken,
			want: Observation{
				Exists: true, UpToDate: true, State: health.Warning, Message: "web: ConfigMap apps/web was deleted", Total: 1,
				Drift: []Drift{{Key: ref, Kind: DriftDeleted}},
			},
		},
		"Legitimate": {
			reason: "Fields that other managers own legitimately are not drift.",
			in: func(w *world) Input {
				w.in.Drift, w.obj.Owned = bundle.DriftReport, "theirs"
				w.in.Differences = map[cluster.ObjectRef]Difference{ref: {}}
				return w.input()
			},
			phase: PhaseReady,
			want:  Observation{Exists: true, UpToDate: true, State: health.Ready, Ready: 1, Total: 1},
		},
		"Ignored": {
			reason: "Under Ignore, a change has no effect.",
			in:     func(w *world) Input { w.in.Drift, w.obj.Owned = bundle.DriftIgnore, "theirs"; return w.input() },
			phase:  PhaseReady,
			want:   Observation{Exists: true, UpToDate: true, State: health.Ready, Ready: 1, Total: 1},
		},
		"DeletionIgnored": {
			reason: "Under Ignore, the message names a missing object.",
			in:     func(w *world) Input { w.in.Drift = bundle.DriftIgnore; return deleted(w) },
			phase:  PhaseMissing,
			want:   Observation{Exists: true, UpToDate: true, State: health.Ready, Message: "web: ConfigMap apps/web is missing", Total: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, tc.test)
	}
}
