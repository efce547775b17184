// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "n", Name: name}}
}

// TestRolloutHandler checks which events enqueue requests, and with which priority.
func TestRolloutHandler(t *testing.T) {
	cases := map[string]struct {
		reason string
		event  func(h handler.EventHandler, q Queue)
		want   int
	}{
		"Start": {"All resources are enqueued at the start anyway.", func(h handler.EventHandler, q Queue) {
			h.Create(t.Context(), event.CreateEvent{Object: &v1alpha1.ProviderConfig{}, IsInInitialList: true}, q)
		}, 0},
		"New": {"A new object can be what a resource waits for.", func(h handler.EventHandler, q Queue) {
			h.Create(t.Context(), event.CreateEvent{Object: &v1alpha1.ProviderConfig{}}, q)
		}, 1},
		"Changed": {"A change concerns all resources that refer to the object.", func(h handler.EventHandler, q Queue) {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: &v1alpha1.ProviderConfig{}, ObjectNew: &v1alpha1.ProviderConfig{}}, q)
		}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q := &added{}
			tc.event(RolloutHandler(func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{request("r")} }), q)
			if !slices.Equal(q.priorities, slices.Repeat([]int{Rollout}, tc.want)) {
				t.Errorf("\n%s\nwant %d requests with the priority %d, got %v", tc.reason, tc.want, Rollout, q.priorities)
			}
		})
	}
}

// added is a queue that records the priorities of what is added.
type added struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	priorities []int
}

func (a *added) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	for range items {
		a.priorities = append(a.priorities, *o.Priority)
	}
}

// TestWith checks that items with a higher priority are processed before all items with a lower one, regardless of their number and of
// how they were added.
func TestWith(t *testing.T) {
	cases := map[string]struct {
		reason string
		add    func(q Queue, r reconcile.Request)
	}{
		"Add":         {"The item is added.", func(q Queue, r reconcile.Request) { q.Add(r) }},
		"After":       {"The item is added with a delay that is already over.", func(q Queue, r reconcile.Request) { q.AddAfter(r, time.Nanosecond) }},
		"RateLimited": {"The item is added with a rate limit.", func(q Queue, r reconcile.Request) { q.AddRateLimited(r) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			limiter := func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = atOnce{} }
			q := priorityqueue.New("test-"+name, limiter)
			defer q.ShutDown()
			const many = 1000
			for i := range many {
				tc.add(With(Rollout, q), request(fmt.Sprintf("r%d", i)))
			}
			for q.Len() < many {
				time.Sleep(time.Millisecond) // The queue provides no event to wait for.
			}
			With(Resync, q).Add(request("poll"))
			With(State, q).Add(request("state"))
			With(Install, q).Add(request("install"))
			q.Add(request("user"))
			q.Add(request("r900"))
			for _, want := range []struct {
				name     string
				priority int
			}{{"user", User}, {"r900", User}, {"install", Install}, {"state", State}, {"r0", Rollout}} {
				// The fleet is added in any order.
				got, priority, _ := q.GetWithPriority()
				if got.Name != want.name && want.priority != Rollout || priority != want.priority {
					t.Errorf("\n%s\nGet(): want %v, got %s with priority %d", tc.reason, want, got.Name, priority)
				}
			}
		})
	}
}

// atOnce is a rate limiter with a delay of one nanosecond.
type atOnce struct{}

func (atOnce) When(reconcile.Request) time.Duration { return time.Nanosecond }
func (atOnce) Forget(reconcile.Request)             {}
func (atOnce) NumRequeues(reconcile.Request) int    { return 0 }

func TestResyncPolls(t *testing.T) {
	boom := errors.New("boom")
	cases := map[string]struct {
		reason string
		res    reconcile.Result
		err    error
		low    bool
	}{
		"Poll":  {reason: "Polls have a lower priority than changes by users.", res: reconcile.Result{RequeueAfter: time.Hour}, low: true},
		"Soon":  {reason: "Users still wait for an object that is requeued soon.", res: reconcile.Result{RequeueAfter: time.Second}},
		"Done":  {reason: "An object that is done is not queued.", res: reconcile.Result{}},
		"Retry": {reason: "An object that failed keeps its priority.", res: reconcile.Result{RequeueAfter: time.Hour}, err: boom},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := ResyncPolls(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return tc.res, tc.err }), time.Minute)
			got, err := r.Reconcile(t.Context(), reconcile.Request{})
			if !errors.Is(err, tc.err) || got.RequeueAfter != tc.res.RequeueAfter {
				t.Errorf("\n%s\nReconcile(...): %v, %v", tc.reason, got, err)
			}
			if low := got.Priority != nil && *got.Priority == Resync; low != tc.low {
				t.Errorf("\n%s\nReconcile(...): low is %t", tc.reason, low)
			}
		})
	}
}

func TestTracker(t *testing.T) {
	k, m := request("k").NamespacedName, request("m").NamespacedName
	l := NewTracker()
	l.AddEdit(k, Install)
	first := l.LastEdit(k)
	l.AddEdit(k, User)
	l.RemoveEdit(k, first.Number)
	if got := l.LastEdit(k); got.Number == 0 || got.Priority != User {
		t.Errorf("an edit that came during a pass must be carried out by another one, got %v", got)
	}
	l.AddEdit(k, Install)
	if got := l.LastEdit(k); got.Priority != User || l.PriorityOf(k, Rollout) != User {
		t.Errorf("an edit must keep the higher priority of one before it, got %v", got)
	}
	l.RemoveEdit(k, l.LastEdit(k).Number)
	if l.LastEdit(k) != (Edit{}) || l.PriorityOf(k, Rollout) != Rollout || len(l.edits) != 0 {
		t.Error("an edit that was carried out must be forgotten")
	}
	l.SetCause(m, Rollout)
	if got := l.Cause(m, State); got != Rollout {
		t.Errorf("a rollout must last until it ends, got %d", got)
	}
	l.RemoveCause(m)
	if l.Cause(m, State) != State || len(l.causes) != 0 {
		t.Error("a rollout that has ended must be forgotten")
	}
	none := (*Tracker)(nil)
	none.AddEdit(k, User)
	none.SetCause(m, Rollout)
	none.RemoveCause(m)
	none.RemoveEdit(k, 1)
	if none.LastEdit(k) != (Edit{}) || none.Cause(m, State) != State {
		t.Error("a nil Tracker must know nothing")
	}
}

func TestIsEdit(t *testing.T) {
	now := metav1.Now()
	cases := map[string]struct {
		reason string
		change func(m *v1alpha1.Manifest)
		want   bool
	}{
		"Nothing":    {"Nothing has changed.", func(*v1alpha1.Manifest) {}, false},
		"Generation": {"The spec of a Manifest is its Kyma's to change.", func(m *v1alpha1.Manifest) { m.Generation++ }, false},
		"Created":    {"The managed reconciler notes what it does.", func(m *v1alpha1.Manifest) { meta.SetExternalCreatePending(m, time.Now()) }, false},
		"Named":      {"The provider sets the external name.", func(m *v1alpha1.Manifest) { meta.SetExternalName(m, "x") }, false},
		"Annotated": {"A user asks for something.", func(m *v1alpha1.Manifest) {
			meta.AddAnnotations(m, map[string]string{v1alpha1.AnnotationTest: "x"})
		}, true},
		"Deleted": {"A user deletes it.", func(m *v1alpha1.Manifest) { m.DeletionTimestamp = &now }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			was := &v1alpha1.Manifest{}
			is := was.DeepCopy()
			tc.change(is)
			if got := IsEdit(was, is); got != tc.want {
				t.Errorf("\n%s\nTouched(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestFirstWrite checks that the first write of a pass causes no other pass, unless it contains a change by a user.
func TestFirstWrite(t *testing.T) {
	own := func(mr *v1alpha1.Manifest) {
		mr.Finalizers = []string{managed.FinalizerName}
		meta.SetExternalName(mr, "n.m")
	}
	cases := map[string]struct {
		reason string
		change func(mr *v1alpha1.Manifest)
		want   bool
	}{
		"Own":    {"The pass that wrote it continues.", own, true},
		"Name":   {"A user set the name.", func(mr *v1alpha1.Manifest) { meta.SetExternalName(mr, "n.m") }, false},
		"Status": {"A status is not a first write.", func(*v1alpha1.Manifest) {}, false},
		"Edit": {"A user changed the spec before.", func(mr *v1alpha1.Manifest) {
			own(mr)
			mr.Generation++
		}, false},
		"Annotation": {"A user set an annotation before.", func(mr *v1alpha1.Manifest) {
			own(mr)
			meta.AddAnnotations(mr, map[string]string{v1alpha1.AnnotationTest: "x"})
		}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			was := &v1alpha1.Manifest{}
			is := was.DeepCopy()
			tc.change(is)
			if got := FirstWrite().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}); got != tc.want {
				t.Errorf("\n%s\nUpdate(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
