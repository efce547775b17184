// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestDecisions(t *testing.T) {
	on := func(part object.PartID, s Hindrance, reason string) Decision {
		return Decision{Part: part, Hindrance: s, Reason: reason}
	}
	type want struct {
		Web                  Decision
		Failure, Waiting     string
		Held                 map[object.PartID]string
		Failed               bool
		Stop, Clear, Unknown bool
	}
	cases := map[string]struct {
		reason    string
		decisions Decisions
		want      want
	}{
		"None": {reason: "A part without a decision is clear.", want: want{Web: on("web", Clear, ""), Clear: true}},
		"Spared": {
			reason:    "A part with a CRD that cannot be repaired is applied, but has failed in the end.",
			decisions: Decisions{on("web", Spared, "crd")},
			want:      want{Web: on("web", Spared, "crd"), Failed: true, Failure: "crd", Clear: true},
		},
		"SparedWaits": {
			reason:    "A wait does not mask a failure.",
			decisions: Decisions{on("web", Spared, "crd"), on("web", Waiting, "hook")},
			want:      want{Web: on("web", Waiting, "hook"), Failed: true, Failure: "crd", Waiting: "hook", Stop: true},
		},
		"SparedFails": {
			reason:    "A failure takes precedence over a CRD that cannot be repaired.",
			decisions: Decisions{on("web", Spared, "crd"), on("web", Failed, "error")},
			want:      want{Web: on("web", Failed, "error"), Failed: true, Failure: "error", Stop: true},
		},
		"Blocked": {
			reason:    "The objects of a blocked part are unknown.",
			decisions: Decisions{on("web", Blocked, "other crd")},
			want:      want{Web: on("web", Blocked, "other crd"), Waiting: "other crd", Stop: true, Unknown: true},
		},
		"HeldAndBlocked": {
			reason:    "A refused CRD takes precedence over a held part.",
			decisions: Decisions{on("web", Held, "db"), on("web", Blocked, "crd")},
			want:      want{Web: on("web", Held, "db"), Held: map[object.PartID]string{"web": "db"}, Waiting: "crd", Stop: true, Unknown: true},
		},
		"HeldLast": {
			reason:    "What an install waits for takes precedence over the parts that it holds.",
			decisions: Decisions{on("web", Held, "db"), on("db", Waiting, "hook")},
			want:      want{Web: on("web", Held, "db"), Held: map[object.PartID]string{"web": "db"}, Waiting: "hook", Stop: true},
		},
		"HeldAndFailed": {
			reason:    "A failed part can also be held.",
			decisions: Decisions{on("web", Failed, "error"), on("web", Held, "db")},
			want:      want{Web: on("web", Failed, "error"), Failed: true, Failure: "error", Held: map[object.PartID]string{"web": "db"}, Waiting: "db", Stop: true},
		},
		"FirstWait": {
			reason:    "The first wait is reported, regardless of its part.",
			decisions: Decisions{on("db", Waiting, "first"), on("web", Waiting, "second"), on("web", Waiting, "third")},
			want:      want{Web: on("web", Waiting, "second"), Waiting: "first", Stop: true},
		},
		"FirstFailure": {
			reason:    "The first failure is reported.",
			decisions: Decisions{on("web", Failed, "first"), on("web", Failed, "second")},
			want:      want{Web: on("web", Failed, "first"), Failed: true, Failure: "first", Stop: true},
		},
		"FailureAfterWait": {
			reason:    "A failure takes precedence over a wait, which is still reported for the bundle.",
			decisions: Decisions{on("web", Waiting, "object"), on("web", Failed, "error")},
			want:      want{Web: on("web", Failed, "error"), Failed: true, Failure: "error", Waiting: "object", Stop: true},
		},
		"Dropped": {
			reason:    "The objects of a part that cannot be composed are unknown.",
			decisions: Decisions{on("web", Dropped, "no chart")},
			want:      want{Web: on("web", Dropped, "no chart"), Failed: true, Failure: "no chart", Stop: true, Unknown: true},
		},
		"Silent": {
			reason:    "A failure counts, whatever its reason.",
			decisions: Decisions{on("web", Dropped, "")},
			want:      want{Web: on("web", Dropped, ""), Failed: true, Stop: true, Unknown: true},
		},
		"OtherPart": {
			reason:    "A failure of another part does not affect the part.",
			decisions: Decisions{on("db", Failed, "error")},
			want:      want{Web: on("web", Clear, "")},
		},
		"Whole": {
			reason:    "A wait of the whole bundle does not stop a part.",
			decisions: Decisions{on("", Waiting, "pruning")},
			want:      want{Web: on("web", Clear, ""), Waiting: "pruning"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := tc.decisions
			failure, failed := v.Failure("web")
			got := want{
				Web: v.Of("web"), Failed: failed, Failure: failure.Reason, Held: v.Held(), Stop: v.Stop("web"), Clear: v.IsClear(), Unknown: v.IsIncomplete(),
			}
			var waits bool
			if got.Waiting, waits = v.Waiting(); waits != (tc.want.Waiting != "") {
				t.Errorf("\n%s\nWaiting(): %t", tc.reason, waits)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nverdicts: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
