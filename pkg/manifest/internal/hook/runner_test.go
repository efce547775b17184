// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

const ourSet = "applyset-1"

// succeeded is the outcome of a hook that succeeded. Any other outcome is the reason of a failure.
const succeeded = "Succeeded"

// A thing is an object of a fake target.
type thing struct {
	uid, set, identity, outcome string
	// stays is true if the object has finalizers.
	stays, leaving bool
}

// A fakeTarget holds objects and logs the requests.
type fakeTarget struct {
	things map[cluster.ObjectRef]*thing
	log    *[]string
	// outcome of the Jobs to create, and err by the log line of the request that fails.
	outcome string
	stays   bool
	err     map[string]error
	created int
}

func (f *fakeTarget) note(verb string, r cluster.ObjectRef) error {
	line := verb + " " + r.Name
	*f.log = append(*f.log, line)
	return f.err[line]
}

func (f *fakeTarget) Create(_ context.Context, o *object.Desired) (string, error) {
	if err := f.note("create", o.Ref); err != nil {
		return "", err
	}
	if f.things[o.Ref] != nil {
		return "", kerrors.NewConflict(schema.GroupResource{}, o.Ref.Name, errors.New("exists"))
	}
	f.created++
	uid := fmt.Sprintf("uid-%d", f.created)
	f.things[o.Ref] = &thing{uid: uid, set: ourSet, identity: "id-" + o.Ref.Name, outcome: f.outcome, stays: f.stays}
	return uid, nil
}

func (f *fakeTarget) Metadata(_ context.Context, _ schema.GroupVersionKind, r cluster.ObjectRef) (*metav1.PartialObjectMetadata, error) {
	if err := f.note("metadata", r); err != nil || f.things[r] == nil {
		return nil, err
	}
	t, m := f.things[r], &metav1.PartialObjectMetadata{}
	m.UID, m.Labels, m.Annotations = types.UID(t.uid), map[string]string{object.LabelPartOf: t.set}, map[string]string{object.AnnotationHookRun: t.identity}
	if t.leaving {
		m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	}
	return m, nil
}

func (f *fakeTarget) State(_ context.Context, o *object.Desired, _ string) (cluster.ObjectState, bool, error) {
	if err := f.note("state", o.Ref); err != nil || f.things[o.Ref] == nil {
		return cluster.ObjectState{}, false, err
	}
	t := f.things[o.Ref]
	s := cluster.ObjectState{UID: t.uid, Set: t.set, Reason: t.outcome}
	switch t.outcome {
	case "":
	case succeeded:
		s.Outcome, s.Reason = cluster.OutcomeSucceeded, ""
	default:
		s.Outcome = cluster.OutcomeFailed
	}
	if t.leaving {
		s.Status = cluster.Terminating
	}
	return s, true, nil
}

func (f *fakeTarget) Delete(_ context.Context, o *object.Desired, uid string) (*cluster.ObjectState, error) {
	if err := f.note("delete", o.Ref); err != nil {
		return nil, err
	}
	t := f.things[o.Ref]
	switch {
	case t == nil:
		return nil, nil //nolint:nilnil // Nothing is left.
	case t.uid != uid:
		return nil, kerrors.NewConflict(schema.GroupResource{}, o.Ref.Name, errors.New("another one"))
	case t.stays:
		t.leaving = true
		return &cluster.ObjectState{UID: uid, Message: "waiting for finalizer x"}, nil
	}
	delete(f.things, o.Ref)
	return nil, nil //nolint:nilnil // Nothing is left.
}

// A fakeStage is a Sequence with a fake target.
type fakeStage struct {
	Sequence

	target *fakeTarget
	log    []string
	now    int64
	// saves fail with err.
	err error
}

func newStage(hooks ...Hook) *fakeStage {
	s := &fakeStage{now: 100}
	s.target = &fakeTarget{things: map[cluster.ObjectRef]*thing{}, log: &s.log, outcome: succeeded, err: map[string]error{}}
	s.Sequence = Sequence{
		Runner: Runner{
			Target: s.target, Set: ourSet, Messages: advice.Messages{Adopt: "set adopt"}, Now: func() time.Time { return time.Unix(s.now, 0) },
			Pods: fakePods{},
		}, Timeout: time.Minute, Hooks: hooks, Run: &inventory.Run{ID: "r", Event: inventory.PreInstall},
		Save: func(context.Context) error {
			s.log = append(s.log, fmt.Sprintf("save %d uid=%s failed=%t", s.Run.Index, s.Run.UID, s.Run.Failed != ""))
			return s.err
		},
		Take: func(r cluster.ObjectRef) { s.log = append(s.log, "take "+r.Name) },
	}
	s.Saved = *s.Run
	return s
}

func TestAdvance(t *testing.T) {
	job := func(name string, p ...Policy) Hook { return aHook("Job", name, p...) }
	key := job("a").Ref
	cases := map[string]struct {
		reason string
		hooks  []Hook
		// before changes the stage before the run advances.
		before  func(s *fakeStage)
		waiting string
		err     string
		log     []string
		want    inventory.Run
	}{
		"None": {
			reason: "An event without hooks is over without a save.",
			want:   inventory.Run{Over: true},
		},
		"All": {
			reason: "Each hook is saved before it is created, and all successes are saved before an object is deleted.",
			hooks:  []Hook{job("a", Succeeded), job("b", Succeeded)},
			log: []string{
				"save 0 uid= failed=false", "create a", "take a", "state a", "save 1 uid= failed=false", "create b", "take b", "state b",
				"save 2 uid= failed=false", "state b", "delete b", "state a", "delete a",
			},
			want: inventory.Run{Index: 2, Done: 2, Started: 100, Over: true},
		},
		"Others": {
			reason: "An object of a kind without an outcome is done as soon as it exists, without another request.",
			hooks:  []Hook{aHook("ConfigMap", "a")},
			log:    []string{"save 0 uid= failed=false", "create a", "take a"},
			want:   inventory.Run{Index: 1, Done: 1, Over: true},
		},
		"Runs": {
			reason:  "A running Job is waited for. The caller saves its UID.",
			hooks:   []Hook{job("a")},
			before:  func(s *fakeStage) { s.target.outcome = "" },
			waiting: "hook pre-install Job a/a is running",
			log:     []string{"save 0 uid= failed=false", "create a", "take a", "state a"},
			want:    inventory.Run{UID: "uid-1", Started: 100},
		},
		"Gone": {
			reason: "A hook that was deleted after its creation counts as done.",
			hooks:  []Hook{job("a")},
			before: func(s *fakeStage) { s.Run.UID, s.Run.Started = "uid-1", 90 },
			log:    []string{"state a"},
			want:   inventory.Run{Index: 1, Done: 1, Over: true},
		},
		"Late": {
			reason: "A hook that exceeds its timeout fails the event, and the failure is saved before the object is deleted.",
			hooks:  []Hook{job("a", Failed)},
			before: func(s *fakeStage) { s.target.outcome, s.now, s.Run.Started, s.Run.Extended = "", 160, 100, true },
			log:    []string{"create a", "take a", "state a", "save 0 uid=uid-1 failed=true", "state a", "delete a"},
			want:   inventory.Run{UID: "uid-1", Started: 100, Extended: true, Failed: "hook pre-install Job a/a did not finish within 1m0s: the hook is running", Over: true},
		},
		"Fails": {
			reason: "After a failure, no other hook runs, and the earlier ones are deleted according to their policies.",
			hooks:  []Hook{job("a", Succeeded), job("b"), job("c")},
			before: func(s *fakeStage) {
				s.target.outcome, s.Run.Index, s.Run.Done = "failed", 1, 1
				s.target.things[key] = &thing{uid: "u", set: ourSet}
			},
			log:  []string{"save 1 uid= failed=false", "create b", "take b", "state b", "save 1 uid=uid-1 failed=true", "state a", "delete a"},
			want: inventory.Run{Index: 1, Done: 1, UID: "uid-1", Started: 100, Failed: "hook pre-install Job a/b failed", Over: true},
		},
		"Cut": {
			reason: "A hook that was created before its UID was saved is recognized.",
			hooks:  []Hook{job("a")},
			before: func(s *fakeStage) {
				s.Run.Started = 100
				s.target.things[key] = &thing{uid: "u", set: ourSet, identity: "id-a", outcome: succeeded}
			},
			log:  []string{"create a", "metadata a", "take a", "state a"},
			want: inventory.Run{Index: 1, Done: 1, Over: true},
		},
		"Replaces": {
			reason: "The object of another run is deleted first.",
			hooks:  []Hook{job("a")},
			before: func(s *fakeStage) { s.target.things[key] = &thing{uid: "u", set: ourSet, identity: "id-x"} },
			log:    []string{"save 0 uid= failed=false", "create a", "metadata a", "delete a", "create a", "take a", "state a"},
			want:   inventory.Run{Index: 1, Done: 1, Over: true},
		},
		"Finalizers": {
			reason:  "A slow deletion of the old object is waited for.",
			hooks:   []Hook{job("a")},
			before:  func(s *fakeStage) { s.target.things[key] = &thing{uid: "u", set: ourSet, stays: true} },
			waiting: "hook pre-install Job a/a is waiting for the previous object to be deleted",
			log:     []string{"save 0 uid= failed=false", "create a", "metadata a", "delete a"},
			want:    inventory.Run{Started: 100},
		},
		"InTheWay": {
			reason: "An object that must not be replaced fails the event. Its pods are not read.",
			hooks:  []Hook{job("a", Succeeded)},
			before: func(s *fakeStage) { s.target.things[key] = &thing{uid: "u", set: ourSet} },
			log:    []string{"save 0 uid= failed=false", "create a", "metadata a", "save 0 uid= failed=true"},
			want: inventory.Run{Started: 100, Over: true,
				Failed: "hook pre-install Job a/a already exists, because the delete policy keeps the object; add before-hook-creation to the policy, or delete the object"},
		},
		"Foreign": {
			reason: "An object of another bundle results in an error, and the run continues once the object is gone.",
			hooks:  []Hook{job("a")},
			before: func(s *fakeStage) { s.target.things[key] = &thing{uid: "u"} },
			err:    "hook pre-install: Job a/a already exists and does not belong to this module; remove the object, or set adopt",
			log:    []string{"save 0 uid= failed=false", "create a", "metadata a"},
			want:   inventory.Run{Started: 100},
		},
		"Refused": {
			reason: "An error of the API server names the hook.",
			hooks:  []Hook{job("a")},
			before: func(s *fakeStage) { s.target.err["create a"] = errors.New("no\nquota") },
			err:    "hook pre-install: Job a/a: no quota",
			log:    []string{"save 0 uid= failed=false", "create a"},
			want:   inventory.Run{Started: 100},
		},
		"Unsaved": {
			reason: "If the save fails, no request is sent.",
			hooks:  []Hook{job("a")},
			before: func(s *fakeStage) { s.err = errors.New("conflict") },
			err:    "conflict",
			log:    []string{"save 0 uid= failed=false"},
			want:   inventory.Run{Started: 100},
		},
		"Tidies": {
			reason: "A deletion after the last hook is waited for.",
			hooks:  []Hook{job("a", Succeeded), job("b", Succeeded)},
			before: func(s *fakeStage) {
				s.Run.Index, s.target.things[key] = 2, &thing{uid: "u", set: ourSet, stays: true}
			},
			waiting: "hook pre-install Job a/a waiting for finalizer x",
			log:     []string{"save 2 uid= failed=false", "state b", "state a", "delete a"},
			want:    inventory.Run{Index: 2, Started: 100},
		},
		"TidiesLate": {
			reason: "A deletion that never completes fails the event, and the other objects are still deleted.",
			hooks:  []Hook{job("b", Succeeded), job("a", Succeeded)},
			before: func(s *fakeStage) {
				s.Run.Index, s.Run.Started, s.Run.Extended, s.now = 2, 1, true, 100
				s.Saved = *s.Run
				s.target.things[key] = &thing{uid: "u", set: ourSet, leaving: true}
				s.target.things[job("b").Ref] = &thing{uid: "v", set: ourSet}
			},
			log:  []string{"state a", "save 2 uid= failed=true", "state b", "delete b"},
			want: inventory.Run{Index: 2, Started: 1, Extended: true, Failed: "hook pre-install Job a/a did not finish within 1m0s: the hook is being deleted", Over: true},
		},
		"TidiesOurs": {
			reason: "An object of another bundle, or a new object with the same name, is not deleted.",
			hooks:  []Hook{job("b", Succeeded), job("a", Succeeded)},
			before: func(s *fakeStage) {
				s.Run.Index = 2
				s.target.things[key] = &thing{uid: "u"}
				s.target.things[job("b").Ref] = &thing{uid: "v", set: ourSet}
				s.target.err["delete b"] = kerrors.NewConflict(schema.GroupResource{}, "b", errors.New("another one"))
			},
			log:  []string{"save 2 uid= failed=false", "state a", "state b", "delete b"},
			want: inventory.Run{Index: 2, Started: 100, Over: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(tc.hooks...)
			if tc.before != nil {
				tc.before(s)
				s.Saved = *s.Run
			}
			got, err := s.Advance(t.Context())
			text := ""
			if err != nil {
				text = err.Error()
			}
			if want := standingAfter(tc.err, tc.waiting, tc.want.Failed); !cmp.Equal(want, got) || text != tc.err {
				t.Errorf("\n%s\nAdvance(...): want %v and error %q, got %v and %q", tc.reason, want, tc.err, got, text)
			}
			if diff := cmp.Diff(tc.log, s.log); diff != "" {
				t.Errorf("\n%s\nrequests and saves: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, *s.Run, cmpopts.IgnoreFields(inventory.Run{}, "ID", "Event")); diff != "" {
				t.Errorf("\n%s\nrun: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A process can stop after any save or request. The next process continues from the saved run: no hook that was saved as done runs
// again, and each created object is known or recognized.
func TestAdvanceSurvivesDeath(t *testing.T) {
	hooks := []Hook{aHook("Job", "a", Succeeded), aHook("ConfigMap", "b"), aHook("Job", "c", BeforeCreation, Succeeded)}
	whole := newStage(hooks...)
	if _, err := whole.Advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	died := errors.New("died")
	for at := range len(whole.log) {
		s := newStage(hooks...)
		inventoried := *s.Run
		steps := 0
		dies := func() error {
			if steps++; steps > at {
				return died
			}
			return nil
		}
		s.Target = dyingTarget{fakeTarget: s.target, dies: dies}
		s.Save = func(context.Context) error {
			if err := dies(); err != nil {
				return err
			}
			inventoried = *s.Run
			return nil
		}
		_, err := s.Advance(t.Context())
		if err == nil {
			continue // It was over before.
		}
		again := newStage(hooks...)
		again.target.things, again.target.created = s.target.things, s.target.created
		run := inventoried
		again.Run, again.Saved = &run, run
		if s, err := again.Advance(t.Context()); err != nil || s.Progress != Passed || !again.Run.Over || again.Run.Failed != "" || again.Run.Done != 3 {
			t.Errorf("died at %d: %v, %v, %+v", at, s, err, again.Run)
		}
		for _, l := range again.log {
			if strings.HasPrefix(l, "create a") && inventoried.Index > 0 {
				t.Errorf("died at %d: a hook that was saved as done was created again", at)
			}
		}
		if len(again.target.things) != 1 {
			t.Errorf("died at %d: objects are left: %v", at, again.target.things)
		}
	}
}

// A dyingTarget fails every request after the process has stopped.
type dyingTarget struct {
	*fakeTarget

	dies func() error
}

func (d dyingTarget) Create(ctx context.Context, o *object.Desired) (string, error) {
	if err := d.dies(); err != nil {
		return "", err
	}
	uid, err := d.fakeTarget.Create(ctx, o)
	if derr := d.dies(); derr != nil {
		return "", derr // The object was created, but the process does not know it.
	}
	return uid, err
}

func (d dyingTarget) Delete(ctx context.Context, o *object.Desired, uid string) (*cluster.ObjectState, error) {
	if err := d.dies(); err != nil {
		return nil, err
	}
	return d.fakeTarget.Delete(ctx, o, uid)
}
