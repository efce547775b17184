// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"fmt"
	"testing"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
)

// TestEditComesFirst checks that an edit of one Kyma is processed before a fleet that was queued for another reason.
func TestEditComesFirst(t *testing.T) {
	const many = 1000
	fleet := make([]v1alpha1.Kyma, many)
	for i := range fleet {
		fleet[i] = *newKyma(v1alpha1.Module{Name: "a"})
		fleet[i].Name = fmt.Sprintf("k%d", i)
		fleet[i].SetConditions(xpv2.ReconcileSuccess())
	}
	tpl := newTemplate("a", "regular", "1.0.0")
	newer := changedTo(newTemplate("a", "regular", "1.1.0"))
	config := &v1alpha1.ProviderConfig{ObjectMeta: metaOf("cluster")}
	manifests := func() []v1alpha1.Manifest {
		out := make([]v1alpha1.Manifest, 0, many)
		for i := range fleet {
			out = append(out, *installed(&fleet[i], tpl))
		}
		return out
	}()
	cases := map[string]struct {
		reason string
		flood  func(w *watches, q queue)
		user   func(w *watches, q queue, k *v1alpha1.Kyma)
	}{
		"Template": {
			"A new version comes to all.", func(w *watches, q queue) {
				priority.RolloutHandler(w.usersOfTemplate).Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: &tpl, ObjectNew: newer}, q)
			}, change,
		},
		"TemplateMade": {
			"So does a new template.", func(w *watches, q queue) {
				priority.RolloutHandler(w.usersOfTemplate).Create(t.Context(), ctrlevent.CreateEvent{Object: newer}, q)
			}, change,
		},
		"Config": {
			"A config is that of many.", func(w *watches, q queue) {
				priority.RolloutHandler(w.usersOfConfig).Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: config, ObjectNew: config}, q)
			}, change,
		},
		"Start": {
			"After a start, all are reconciled.", func(w *watches, q queue) {
				for i := range fleet {
					w.kymas().Create(t.Context(), ctrlevent.CreateEvent{Object: &fleet[i], IsInInitialList: true}, q)
				}
			}, change,
		},
		"StartEdited": {
			"One that was changed before the start comes first.", func(w *watches, q queue) {
				for i := range fleet {
					w.kymas().Create(t.Context(), ctrlevent.CreateEvent{Object: &fleet[i], IsInInitialList: true}, q)
				}
			}, func(w *watches, q queue, k *v1alpha1.Kyma) {
				is := k.DeepCopy()
				is.Generation++
				w.kymas().Create(t.Context(), ctrlevent.CreateEvent{Object: is, IsInInitialList: true}, q)
				if got := w.priorities.LastEdit(client.ObjectKeyFromObject(k)); got.Priority != priority.User {
					t.Errorf("what the edit causes has priority %d", got.Priority)
				}
			},
		},
		"Rolling": {
			"Manifests that roll wake their Kymas.", func(w *watches, q queue) {
				for i := range manifests {
					was := &manifests[i]
					is := was.DeepCopy()
					is.ResourceVersion, is.Generation = "new", is.Generation+1
					w.priorities.SetCause(client.ObjectKeyFromObject(is), priority.Rollout)
					w.manifests().Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: was, ObjectNew: is}, q)
				}
			}, change,
		},
		"Made": {
			"A new Kyma is an edit.", templateFlood(t, &tpl, newer), func(w *watches, q queue, k *v1alpha1.Kyma) {
				w.kymas().Create(t.Context(), ctrlevent.CreateEvent{Object: k}, q)
			},
		},
		"Deleted": {
			"So is a deletion.", templateFlood(t, &tpl, newer), func(w *watches, q queue, k *v1alpha1.Kyma) {
				is := k.DeepCopy()
				is.DeletionTimestamp = &metav1.Time{Time: time.Now()}
				is.ResourceVersion = "new"
				w.kymas().Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: k, ObjectNew: is}, q)
			},
		},
		"Annotated": {
			"So is an annotation.", templateFlood(t, &tpl, newer), func(w *watches, q queue, k *v1alpha1.Kyma) {
				is := k.DeepCopy()
				is.ResourceVersion = "new"
				meta.AddAnnotations(is, map[string]string{v1alpha1.AnnotationAllowDowngrade: "a@1.0.0"})
				w.kymas().Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: k, ObjectNew: is}, q)
			},
		},
		"Manifest": {
			"Changes of a Manifest that was edited come as soon.", templateFlood(t, &tpl, newer), func(w *watches, q queue, k *v1alpha1.Kyma) {
				was := installed(k, tpl)
				is := was.DeepCopy()
				is.ResourceVersion, is.Status.AtProvider.Message = "new", "x"
				w.manifests().Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: was, ObjectNew: is}, q)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q := priorityqueue.New[reconcile.Request]("kymas-" + name)
			defer q.ShutDown()
			w := &watches{priorities: priority.NewTracker(), fleet: kymas(fleet), client: &test.MockClient{MockList: func(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
				if l, ok := l.(*v1alpha1.ManifestList); ok {
					l.Items = manifests
				}
				return nil
			}}}
			tc.flood(w, q)
			poll(t, func() bool { return q.Len() == many })
			k := &fleet[many/2]
			tc.user(w, q, k)
			poll(t, func() bool {
				got, p, _ := q.GetWithPriority()
				if got.Name != k.Name && p > priority.Rollout {
					t.Fatalf("\n%s\n%s has priority %d", tc.reason, got.Name, p)
				}
				return got.Name == k.Name
			})
			if left := q.Len(); left < many/4 {
				t.Errorf("\n%s\nthe edit waited for the fleet: %d of %d are left", tc.reason, left, many)
			}
		})
	}
}

// change changes the spec of a Kyma.
func change(w *watches, q queue, k *v1alpha1.Kyma) {
	is := k.DeepCopy()
	is.ResourceVersion, is.Spec.ForProvider.Channel = "new", "fast"
	w.kymas().Update(context.Background(), ctrlevent.UpdateEvent{ObjectOld: k, ObjectNew: is}, q)
}

func templateFlood(t *testing.T, was, is *v1alpha1.ModuleTemplate) func(w *watches, q queue) {
	t.Helper()
	return func(w *watches, q queue) {
		priority.RolloutHandler(w.usersOfTemplate).Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: was, ObjectNew: is}, q)
	}
}

// TestOwnWrites checks that a write of the provider to a Kyma does not count as an edit.
func TestOwnWrites(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(k *v1alpha1.Kyma)
		want   bool
	}{
		"References": {"The provider writes the references to Manifests.", func(k *v1alpha1.Kyma) { k.Spec.ResourceRefs = []v1alpha1.ManifestReference{{Name: "x"}} }, false},
		"Finalizer":  {"The provider writes the finalizer.", func(k *v1alpha1.Kyma) { k.Finalizers = []string{"x"} }, false},
		"Name":       {"The provider writes the external name.", func(k *v1alpha1.Kyma) { meta.SetExternalName(k, "x") }, false},
		"Spec":       {"Users write the rest of the spec.", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules = nil }, true},
		"Label":      {"Users write labels.", func(k *v1alpha1.Kyma) { k.Labels = map[string]string{"a": "b"} }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			was := newKyma(v1alpha1.Module{Name: "a"})
			is := was.DeepCopy()
			tc.change(is)
			if got := isEdit(was, is); got != tc.want {
				t.Errorf("\n%s\nisEdit(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestCauseOfManifest checks which priority a Manifest has because of what its Kyma wrote.
func TestCauseOfManifest(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"})
	older, newer := newTemplate("a", "regular", "1.0.0"), newTemplate("a", "regular", "1.1.0")
	cases := map[string]struct {
		reason   string
		edit     *int
		children []*v1alpha1.Manifest
		before   bool
		want     int
	}{
		"Rollout":        {reason: "A new version has low priority, because it affects many Kymas.", children: []*v1alpha1.Manifest{installed(k, older)}, want: priority.Rollout},
		"RolloutOfFirst": {reason: "The first version of a module from a new template has low priority, too.", want: priority.Rollout},
		"Edit": {
			reason: "A user waits for an edit, even if it comes with a new version.", edit: new(priority.User),
			children: []*v1alpha1.Manifest{installed(k, older)}, before: true, want: priority.User,
		},
		"EditOfFirst": {reason: "A user waits for a new module.", edit: new(priority.User), want: priority.User},
		"New":         {reason: "The modules of a new Kyma wait for edits.", edit: new(priority.Install), want: priority.Install},
		"Arrived":     {reason: "The rollout of a Manifest that is Ready in its desired form ends.", children: []*v1alpha1.Manifest{installed(k, newer)}, before: true, want: priority.State},
		"OnItsWay": {
			reason:   "The rollout of a Manifest that is not Ready continues.",
			children: []*v1alpha1.Manifest{installed(k, newer, in(v1alpha1.StateProcessing, ""))}, before: true, want: priority.Rollout,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			key := client.ObjectKey{Namespace: k.Namespace, Name: "k-a"}
			e := newExternal(&server{}, newRecorder(), nil, []v1alpha1.ModuleTemplate{newer}, tc.children...)
			e.connector.priorities = priority.NewTracker()
			if tc.edit != nil {
				e.connector.priorities.AddEdit(client.ObjectKeyFromObject(k), *tc.edit)
			}
			if tc.before {
				e.connector.priorities.SetCause(key, priority.Rollout)
			}
			k := k.DeepCopy()
			if _, err := e.Observe(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			if err := e.execute(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			if got := e.connector.priorities.Cause(key, priority.State); got != tc.want {
				t.Errorf("\n%s\nCause(...): want %s, got %s", tc.reason, priority.NameOf(tc.want), priority.NameOf(got))
			}
		})
	}
}

// TestCarriedOut checks which reconciles carry out an edit.
func TestCarriedOut(t *testing.T) {
	cases := map[string]struct {
		reason string
		res    reconcile.Result
		err    error
		want   bool
		fails  bool
	}{
		"Done":     {reason: "A successful pass processes the edit.", res: reconcile.Result{RequeueAfter: later * 100}, want: true},
		"Failed":   {reason: "A failed pass does not process the edit.", err: errors.New("boom"), fails: true},
		"Requeued": {reason: "A pass that must continue does not process the edit.", res: reconcile.Result{Requeue: true}},
		"Conflict": {reason: "A pass that ends with a conflict does not process the edit.", err: kerrors.NewConflict(schema.GroupResource{}, "k", errors.New("boom"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKyma()
			c := &test.MockClient{
				MockGet: func(_ context.Context, _ client.ObjectKey, o client.Object) error {
					k.DeepCopyInto(o.(*v1alpha1.Kyma))
					return nil
				},
				MockList: test.NewMockListFn(nil),
			}
			key := client.ObjectKeyFromObject(k)
			p := &propagator{
				connector: &connector{store: newStore(c, c), record: newRecorder(), priorities: priority.NewTracker()},
				managed: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					return tc.res, tc.err
				}),
			}
			p.connector.priorities.AddEdit(key, priority.User)
			if _, err := p.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); (err != nil) != tc.fails {
				t.Fatal(err)
			}
			if got := p.connector.priorities.LastEdit(key).Number == 0; got != tc.want {
				t.Errorf("\n%s\nwant carried out %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// poll waits until an asynchronous action of the queue is complete.
func poll(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come about")
		}
	}
}
