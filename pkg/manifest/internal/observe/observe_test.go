// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"errors"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

func TestObserve(t *testing.T) {
	upgrade := func(w *world) { w.rec.Digest = "old" }
	cases := map[string]*observation{
		"NothingInstalled": {
			reason: "Without an inventory, nothing is installed.",
			in:     func(w *world) Input { return w.in },
			want:   Observation{State: health.Processing, Message: "nothing is installed yet"},
		},
		"Ready": {
			reason: "An object that is as it was applied, and works, is ready.",
			in:     func(w *world) Input { return w.input() },
			phase:  PhaseReady,
			want:   Observation{Exists: true, UpToDate: true, State: health.Ready, Ready: 1, Total: 1},
		},
		"Adopting": {
			reason: "The next step adopts the inventory of another owner.",
			in:     func(w *world) Input { w.in.Adopting = true; return w.input() },
			phase:  PhaseReady,
			want:   Observation{Exists: true, State: health.Ready, Ready: 1, Total: 1},
		},
		"StaleReasons": {
			reason: "If a successful step could not save the inventory, another step removes the previous failure from it.",
			in: func(w *world) Input {
				w.last.Failed = map[object.PartID]inventory.Failure{"web": {Digest: "new", Message: "no"}}
				return w.input()
			},
			phase: PhaseReady,
			want:  Observation{Exists: true, State: health.Ready, Ready: 1, Total: 1},
		},
		"Unhealthy": {
			reason: "An object that has failed is an error that a step cannot repair.",
			in:     func(w *world) Input { w.obj.Status, w.obj.Message = cluster.Failed, "no"; return w.input() },
			phase:  PhaseUnhealthy,
			want:   Observation{Exists: true, UpToDate: true, State: health.Error, Message: "web: ConfigMap apps/web: no", Total: 1},
		},
		"Rule": {
			reason: "A rule takes precedence over the status.",
			in: func(w *world) Input {
				w.in.Health = map[cluster.ObjectRef]Health{ref: {State: health.Warning, Message: "slow"}}
				return w.input()
			},
			phase: PhaseDegraded,
			want:  Observation{Exists: true, UpToDate: true, State: health.Warning, Message: "web: ConfigMap apps/web: slow", Total: 1},
		},
		"Applying": {
			reason: "Inputs that are not in the cluster yet are being applied.",
			in:     func(w *world) Input { upgrade(w); w.en.UID = ""; return w.input() },
			phase:  PhaseApplying,
			want:   Observation{Exists: true, State: health.Processing, Message: "web: is being applied", Total: 1},
		},
		"Recreated": {
			reason: "An object that was deleted for its repair and does not exist again keeps its part from being Ready.",
			in:     func(w *world) Input { w.en.UID = ""; return w.input() },
			phase:  PhaseDrifted,
			want:   Observation{Exists: true, State: health.Processing, Message: "web: ConfigMap apps/web is being recreated", Total: 1},
		},
		"Blocked": {
			reason: "The message says what the last step waited for.",
			in:     func(w *world) Input { upgrade(w); w.last.Waiting = "waits"; return w.input() },
			phase:  PhaseBlocked,
			want:   Observation{Exists: true, State: health.Processing, Message: "web: waits", Ready: 1, Total: 1},
		},
		"Held": {
			reason: "What a part itself waits for takes precedence.",
			in: func(w *world) Input {
				upgrade(w)
				w.last = inventory.Reasons{Waiting: "waits", Held: map[object.PartID]string{"web": "held"}}
				return w.input()
			},
			phase: PhaseBlocked,
			want:  Observation{Exists: true, State: health.Processing, Message: "web: held", Ready: 1, Total: 1},
		},
		"HooksRunning": {
			reason: "A part with running hooks waits for them.",
			in: func(w *world) Input {
				upgrade(w)
				w.rec.Run = &inventory.Run{Recorded: true, Inputs: "new", Event: "pre-upgrade"}
				w.last.Waiting = "hook"
				return w.input()
			},
			phase: PhaseHooksRunning,
			want:  Observation{Exists: true, State: health.Processing, Message: "web: hook", Ready: 1, Total: 1},
		},
		"Failed": {
			reason: "A failure of these inputs takes precedence over what the step waits for.",
			in: func(w *world) Input {
				upgrade(w)
				w.last = inventory.Reasons{Waiting: "waits", Failed: map[object.PartID]inventory.Failure{"web": {Digest: "new", Message: "no"}}}
				return w.input()
			},
			phase: PhaseFailed,
			want:  Observation{Exists: true, State: health.Error, Message: "web: no", Ready: 1, Total: 1},
		},
		"FailedBefore": {
			reason: "A failure of other inputs no longer counts.",
			in: func(w *world) Input {
				upgrade(w)
				w.last.Failed = map[object.PartID]inventory.Failure{"web": {Digest: "other", Message: "no"}}
				return w.input()
			},
			phase: PhaseApplying,
			want:  Observation{Exists: true, State: health.Processing, Message: "web: is being applied", Ready: 1, Total: 1},
		},
		"HookFailed": {
			reason: "If a hook failed before the objects were applied, no step helps until the inputs change.",
			in: func(w *world) Input {
				upgrade(w)
				w.en.UID, w.in.Test = "", "t"
				w.rec.Run = &inventory.Run{Recorded: true, Inputs: "new", Event: "pre-install", Over: true, Failed: "no"}
				return w.input()
			},
			phase: PhaseHookFailed,
			want:  Observation{Exists: true, UpToDate: true, State: health.Error, Message: "web: no", Total: 1},
		},
		"HookFailedDue": {
			reason: "A ceded field that is due for a retry does not help either: a step retries it once the hooks succeed.",
			in: func(w *world) Input {
				upgrade(w)
				w.rec.Run = &inventory.Run{Recorded: true, Inputs: "new", Event: "pre-install", Over: true, Failed: "no"}
				w.en.Ceded = []ownership.Ceded{{Path: `{"f:data":{"f:k":{}}}`, Manager: "them", Since: 1}}
				return w.input()
			},
			phase: PhaseHookFailed,
			want: Observation{
				Exists: true, UpToDate: true, State: health.Error, Message: "web: no", Ready: 1, Total: 1,
				Ceded: []CededField{{Key: ref, Field: "data.k", Manager: "them", Contended: true}},
			},
		},
		"PostHookFailed": {
			reason: "If the objects were applied before the hook failed, missing ones are still repaired.",
			in: func(w *world) Input {
				upgrade(w)
				w.rec.Run = &inventory.Run{Recorded: true, Inputs: "new", Event: "post-install", Over: true, Failed: "no"}
				return deleted(w)
			},
			phase: PhaseHookFailed,
			want:  Observation{Exists: true, State: health.Error, Message: "web: no", Total: 1, Drift: []Drift{{Key: ref, Kind: DriftDeleted}}},
		},
		"HookRetried": {
			reason: "A new retry token runs the hook again.",
			in: func(w *world) Input {
				upgrade(w)
				w.in.Retry, w.rec.Run = "again", &inventory.Run{Recorded: true, Inputs: "new", Event: "pre-install", Over: true, Failed: "no"}
				return w.input()
			},
			phase: PhaseApplying,
			want:  Observation{Exists: true, State: health.Processing, Message: "web: is being applied", Ready: 1, Total: 1},
		},
		"Ceded": {
			reason: "A field that was ceded after an ownership conflict results in a warning, but the object works.",
			in: func(w *world) Input {
				w.en.Ceded = []ownership.Ceded{{Path: `{"f:data":{"f:k":{}}}`, Manager: "them", Since: w.in.Now.Unix()}}
				return w.input()
			},
			phase: PhaseCeded,
			want: Observation{
				Exists: true, UpToDate: true, State: health.Warning, Works: true, Ready: 1, Total: 1,
				Ceded:   []CededField{{Key: ref, Field: "data.k", Manager: "them", Contended: true}},
				Message: "web: ConfigMap apps/web: data.k is ceded to them, which changed it repeatedly; stop one of the two managers, or remove the field from the module",
			},
		},
		"CededDue": {
			reason: "After a while, the engine tries again.",
			in: func(w *world) Input {
				w.en.Ceded = []ownership.Ceded{{Path: `{"f:data":{"f:k":{}}}`, Manager: "them", Since: 1}}
				return w.input()
			},
			phase: PhaseCeded,
			want: Observation{
				Exists: true, State: health.Warning, Works: true, Ready: 1, Total: 1,
				Ceded:   []CededField{{Key: ref, Field: "data.k", Manager: "them", Contended: true}},
				Message: "web: ConfigMap apps/web: data.k is ceded to them, which changed it repeatedly; stop one of the two managers, or remove the field from the module",
			},
		},
		"CededLegitimately": {
			reason: "A field that another manager owns legitimately is listed, without a warning.",
			in: func(w *world) Input {
				w.en.Ceded = []ownership.Ceded{{Path: `{"f:data":{"f:k":{}}}`, Manager: "them"}}
				return w.input()
			},
			phase: PhaseReady,
			want: Observation{
				Exists: true, UpToDate: true, State: health.Ready, Ready: 1, Total: 1,
				Ceded: []CededField{{Key: ref, Field: "data.k", Manager: "them"}},
			},
		},
		"Dismissed": {
			reason: "The custom resource is not recreated after its users deleted it.",
			in:     func(w *world) Input { w.en.Stage = object.StageResource; return deleted(w) },
			phase:  PhaseReady,
			want:   Observation{Exists: true, UpToDate: true, State: health.Ready},
		},
		"Pruning": {
			reason: "An object that waits for its finalizers is being pruned.",
			in: func(w *world) Input {
				w.en.Pruned, w.obj.Status, w.obj.Message = true, cluster.Terminating, "is being deleted, waiting for finalizer x"
				return w.input()
			},
			phase: PhasePruning,
			want:  Observation{Exists: true, State: health.Processing, Message: "web: ConfigMap apps/web: is being deleted, waiting for finalizer x"},
		},
		"PruningBlocked": {
			reason: "What the last step waited for takes precedence.",
			in:     func(w *world) Input { w.en.Pruned, w.last.Waiting = true, "1 object is left"; return w.input() },
			phase:  PhasePruning,
			want:   Observation{Exists: true, State: health.Processing, Message: "web: 1 object is left"},
		},
		"Pruned": {
			reason: "The next step removes the entry of an object that no longer exists.",
			in:     func(w *world) Input { w.en.Pruned = true; return deleted(w) },
			phase:  PhaseReady,
			want:   Observation{Exists: true, State: health.Ready},
		},
		"PruneRefused": {
			reason: "An object that cannot be deleted is an error.",
			in:     func(w *world) Input { w.en.Pruned, w.last.Pruning = true, "forbidden"; return w.input() },
			phase:  PhaseFailed,
			want:   Observation{Exists: true, State: health.Error, Message: "web: forbidden"},
		},
		"Unreadable": {
			reason: "An object that the credentials may not read is an error.",
			in: func(w *world) Input {
				w.in.Denied = map[cluster.ObjectRef]error{ref: errors.New("for\nbidden")}
				return deleted(w)
			},
			phase: PhaseUnreadable,
			want:  Observation{Exists: true, UpToDate: true, State: health.Error, Message: "web: cannot read the status: for bidden", Total: 1},
		},
		"Atomic": {
			reason: "The inventory holds how long an upgrade may take.",
			in:     func(w *world) Input { w.rec.Atomic, w.rec.HookTimeout = true, 7; return w.input() },
			phase:  PhaseReady,
			want:   Observation{Exists: true, UpToDate: true, State: health.Ready, Ready: 1, Total: 1, Atomic: 7 * time.Second},
		},
		"TestsDue": {
			reason: "A bundle with outstanding tests is not up to date.",
			in: func(w *world) Input {
				in := w.input()
				in.Test = "b"
				in.Inventory.Tests = &inventory.Tests{Token: "a", Over: true, Tests: []inventory.TestRecord{{Part: "web", Name: "Pod x", State: health.Ready}}}
				return in
			},
			phase: PhaseReady,
			want: Observation{
				Exists: true, State: health.Ready, Ready: 1, Total: 1, TestToken: "a", Tests: []TestState{{Install: "web", Key: cluster.ObjectRef{Kind: "Pod", Name: "x"}, State: health.Ready}},
			},
		},
		"TestsOver": {
			reason: "Once the tests for this token have run, the bundle is up to date.",
			in: func(w *world) Input {
				in := w.input()
				in.Test, in.Inventory.Tests = "a", &inventory.Tests{Token: "a", Over: true}
				return in
			},
			phase: PhaseReady,
			want:  Observation{Exists: true, UpToDate: true, State: health.Ready, Ready: 1, Total: 1, TestToken: "a"},
		},
		"Checkpoint": {
			reason: "A Ready bundle is not up to date until its revision is kept.",
			in: func(w *world) Input {
				in := w.input()
				in.Checkpoint, in.Inventory.Checkpoint = &Checkpoint{Wanted: []byte("b")}, []byte("a")
				return in
			},
			phase: PhaseReady,
			want:  Observation{Exists: true, State: health.Ready, Ready: 1, Total: 1, Checkpoint: []byte("a")},
		},
		"CheckpointOfUnready": {
			reason: "A revision that is not Ready is not kept.",
			in: func(w *world) Input {
				w.obj.Status = cluster.InProgress
				in := w.input()
				in.Checkpoint, in.Inventory.Checkpoint = &Checkpoint{Wanted: []byte("b")}, []byte("a")
				return in
			},
			phase: PhaseProgressing,
			want: Observation{
				Exists: true, UpToDate: true, State: health.Processing, Message: "web: ConfigMap apps/web: is not ready", Total: 1, Checkpoint: []byte("a"),
			},
		},
		"CheckpointTooLarge": {
			reason: "A revision that does not fit is not kept, but the bundle is still Ready.",
			in: func(w *world) Input {
				w.in.Checkpoint = &Checkpoint{Wanted: []byte("b"), Inventory: inventory.MaxData, Parent: cluster.ObjectRef{Kind: "Secret", Name: "p"}}
				return w.input()
			},
			phase: PhaseReady,
			want: Observation{
				Exists: true, UpToDate: true, State: health.Ready, Ready: 1, Total: 1,
				NotKept: "the data for a rollback to this revision (1 bytes compressed) does not fit into Secret p " +
					"with the inventory (943718 bytes): the limit is 943718 bytes",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, tc.test)
	}
}
