// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
)

// TestEditComesFirst checks that a Manifest that a user is waiting for is processed before a fleet.
func TestEditComesFirst(t *testing.T) {
	const count = 1000
	fleet := make([]v1alpha1.Manifest, count)
	for i := range fleet {
		fleet[i] = *named("n", fmt.Sprintf("m%d", i), func(m *v1alpha1.Manifest) { m.SetConditions(xpv2.ReconcileSuccess()) })
	}
	written := func(m *v1alpha1.Manifest) ctrlevent.UpdateEvent {
		is := m.DeepCopy()
		is.ResourceVersion, is.Generation = "new", is.Generation+1
		return ctrlevent.UpdateEvent{ObjectOld: m, ObjectNew: is}
	}
	rollout := func(w *watches, q priority.Queue) {
		for i := range fleet {
			w.priorities.SetCause(client.ObjectKeyFromObject(&fleet[i]), priority.Rollout)
			w.own().Update(context.Background(), written(&fleet[i]), q)
		}
	}
	edit := func(w *watches, q priority.Queue, m *v1alpha1.Manifest) {
		w.priorities.SetCause(client.ObjectKeyFromObject(m), priority.User)
		w.own().Update(context.Background(), written(m), q)
	}
	cases := map[string]struct {
		reason string
		flood  func(w *watches, q priority.Queue)
		user   func(w *watches, q priority.Queue, m *v1alpha1.Manifest)
	}{
		"Rollout": {"Upgrades that a ModuleTemplate causes wait for an edit of a user.", rollout, edit},
		"Install": {
			"First installs that a ModuleTemplate causes wait for an edit of a user.", func(w *watches, q priority.Queue) {
				for i := range fleet {
					w.priorities.SetCause(client.ObjectKeyFromObject(&fleet[i]), priority.Rollout)
					w.own().Create(context.Background(), ctrlevent.CreateEvent{Object: &fleet[i]}, q)
				}
			}, edit,
		},
		"Objects": {
			"Passes for changed objects of upgrades wait for an edit of a user.", func(w *watches, q priority.Queue) {
				for i := range fleet {
					w.priorities.SetCause(client.ObjectKeyFromObject(&fleet[i]), priority.Rollout)
					w.own().Generic(context.Background(), ctrlevent.GenericEvent{Object: &fleet[i]}, q)
				}
			}, edit,
		},
		"Config": {
			"Passes that a config causes wait for an edit of a user.", func(w *watches, q priority.Queue) {
				priority.RolloutHandler(w.ofConfig).Create(context.Background(), ctrlevent.CreateEvent{Object: &v1alpha1.ProviderConfig{}}, q)
			}, edit,
		},
		"Ready": {
			"Changed objects of Manifests that are Ready wait for an edit of a user.", func(w *watches, q priority.Queue) {
				for i := range fleet {
					w.own().Generic(context.Background(), ctrlevent.GenericEvent{Object: &fleet[i]}, q)
				}
			}, edit,
		},
		"Start": {
			"The initial list waits for changed objects.", func(w *watches, q priority.Queue) {
				for i := range fleet {
					w.own().Create(context.Background(), ctrlevent.CreateEvent{Object: &fleet[i], IsInInitialList: true}, q)
				}
			}, func(w *watches, q priority.Queue, m *v1alpha1.Manifest) {
				w.own().Generic(context.Background(), ctrlevent.GenericEvent{Object: m}, q)
			},
		},
		"Made": {"Upgrades wait for a new Manifest of a user.", rollout, func(w *watches, q priority.Queue, m *v1alpha1.Manifest) {
			w.priorities.SetCause(client.ObjectKeyFromObject(m), priority.User)
			w.own().Create(context.Background(), ctrlevent.CreateEvent{Object: m}, q)
		}},
		"Annotated": {"Upgrades wait for a Manifest that is being upgraded, and whose annotation a user changed.", rollout, func(w *watches, q priority.Queue, m *v1alpha1.Manifest) {
			e := written(m)
			meta.AddAnnotations(e.ObjectNew, map[string]string{v1alpha1.AnnotationTest: "x"})
			w.own().Update(context.Background(), e, q)
		}},
		"Object": {"Upgrades wait for a pass for changed objects after an edit of a user.", rollout, func(w *watches, q priority.Queue, m *v1alpha1.Manifest) {
			w.priorities.SetCause(client.ObjectKeyFromObject(m), priority.User)
			w.own().Generic(context.Background(), ctrlevent.GenericEvent{Object: m}, q)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q := priorityqueue.New[reconcile.Request]("manifests-" + name)
			defer q.ShutDown()
			w := &watches{priorities: priority.NewTracker(), client: &test.MockClient{MockList: func(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
				if l, ok := l.(*v1alpha1.ManifestList); ok {
					l.Items = fleet
				}
				return nil
			}}}
			tc.flood(w, q)
			for deadline := time.Now().Add(time.Minute); q.Len() < count && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond) // The queue provides no event to wait for.
			}
			m := &fleet[count/2]
			tc.user(w, q, m)
			got, first, _ := q.GetWithPriority()
			if got.Name != m.Name {
				t.Errorf("\n%s\nGet(): want %s, got %s with priority %d", tc.reason, m.Name, got.Name, first)
			}
			if _, second, _ := q.GetWithPriority(); second >= first {
				t.Errorf("\n%s\nGet(): %s has priority %d, and the fleet %d", tc.reason, m.Name, first, second)
			}
		})
	}
}

// TestAtStart checks which priority a Manifest has that exists when the provider starts.
func TestAtStart(t *testing.T) {
	ofKyma := func(m *v1alpha1.Manifest) {
		m.OwnerReferences = []metav1.OwnerReference{{Kind: v1alpha1.KymaKind, Name: "k", Controller: new(true)}}
	}
	changed := func(m *v1alpha1.Manifest) {
		m.SetConditions(xpv2.ReconcileSuccess())
		m.Generation++
	}
	cases := map[string]struct {
		reason string
		is     func(m *v1alpha1.Manifest)
		want   int
	}{
		"Reconciled":  {"Nothing has changed.", func(m *v1alpha1.Manifest) { m.SetConditions(xpv2.ReconcileSuccess()) }, priority.Resync},
		"New":         {"It was not reconciled before the provider stopped.", func(*v1alpha1.Manifest) {}, priority.Install},
		"Changed":     {"A user changed it.", changed, priority.User},
		"Deleted":     {"A user deleted it.", func(m *v1alpha1.Manifest) { m.DeletionTimestamp = &metav1.Time{Time: time.Now()} }, priority.User},
		"NewOfKyma":   {"It may be part of a rollout.", ofKyma, priority.Rollout},
		"ChangedKyma": {"It may be part of a rollout.", func(m *v1alpha1.Manifest) { ofKyma(m); changed(m) }, priority.Rollout},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := atStart(named("n", "m", tc.is)); got != tc.want {
				t.Errorf("\n%s\natStart(...): want %s, got %s", tc.reason, priority.NameOf(tc.want), priority.NameOf(got))
			}
		})
	}
}

// TestForgotten checks that no state is kept for a deleted Manifest.
func TestForgotten(t *testing.T) {
	m := named("n", "m", func(*v1alpha1.Manifest) {})
	q := priorityqueue.New[reconcile.Request]("forgotten")
	defer q.ShutDown()
	w := &watches{priorities: priority.NewTracker(), requeuer: requeue.New(t.Context().Done()), memory: &checkpoint.Memory{}, clusters: &mockClusters{}}
	w.priorities.SetCause(client.ObjectKeyFromObject(m), priority.Rollout)
	w.memory.Set(checkpoint.Subject{ObjectKey: client.ObjectKeyFromObject(m)}, checkpoint.State{Atomic: time.Minute})
	w.own().Delete(t.Context(), ctrlevent.DeleteEvent{Object: m}, q)
	if w.priorities.Cause(client.ObjectKeyFromObject(m), priority.State) != priority.State || w.memory.Take(checkpoint.Subject{ObjectKey: client.ObjectKeyFromObject(m)}).Atomic != 0 {
		t.Error("a Manifest that is gone must not roll, nor be remembered")
	}
}

// TestForgottenBehindAPass checks that no state is kept if a running pass stores state for a Manifest after it was deleted.
func TestForgottenBehindAPass(t *testing.T) {
	m := named("n", "m", func(*v1alpha1.Manifest) {})
	nn := client.ObjectKeyFromObject(m)
	q := priorityqueue.New[reconcile.Request]("forgotten")
	defer q.ShutDown()
	w := &watches{priorities: priority.NewTracker(), requeuer: requeue.New(t.Context().Done()), memory: &checkpoint.Memory{}, clusters: &mockClusters{}}
	first := true
	r := w.forgetting(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		if first {
			first = false
			w.own().Delete(ctx, ctrlevent.DeleteEvent{Object: m}, q)
			w.requeuer.Add("id", "c", nn)
			w.memory.Set(checkpoint.Subject{ObjectKey: nn}, checkpoint.State{Atomic: time.Minute})
		}
		return reconcile.Result{}, nil
	}))
	for range 2 {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: nn}); err != nil {
			t.Fatal(err)
		}
	}
	if w.requeuer.Has(nn) || w.memory.Take(checkpoint.Subject{ObjectKey: nn}).Atomic != 0 {
		t.Error("a Manifest that is gone must not be remembered")
	}
	if _, left := w.gone.Load(nn); left {
		t.Error("a name is kept of a Manifest that is gone")
	}
}
