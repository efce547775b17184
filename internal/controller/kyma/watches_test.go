// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
)

func TestMatters(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(m *v1alpha1.Manifest)
		want   bool
	}{
		"Nothing":    {"A resync without a change does not affect the Kyma.", func(*v1alpha1.Manifest) {}, false},
		"Annotation": {"Annotations of other clients do not affect the Kyma.", func(m *v1alpha1.Manifest) { m.Annotations = map[string]string{"a": "b"} }, false},
		"Finalizer":  {"Finalizers of a Manifest do not affect the Kyma.", func(m *v1alpha1.Manifest) { m.Finalizers = []string{"x"} }, false},
		"Counts":     {"A status field that the Kyma does not show does not affect it.", func(m *v1alpha1.Manifest) { m.Status.AtProvider.Resources = &v1alpha1.ResourceCounts{Total: 3} }, false},
		"Spec":       {"A change of the spec of a Manifest affects the Kyma.", func(m *v1alpha1.Manifest) { m.Generation++ }, true},
		"State":      {"A change of the state of a Manifest affects the Kyma.", in(v1alpha1.StateWarning, ""), true},
		"Message":    {"A change of the message of a Manifest affects the Kyma.", in(v1alpha1.StateReady, "x"), true},
		"Deletion":   {"The deletion of a Manifest affects the Kyma.", deleted, true},
		"Seen":       {"A new observed generation of the condition Synced affects the Kyma.", func(m *v1alpha1.Manifest) { m.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(2)) }, true},
		"Generation": {"A new observed generation of the condition Ready affects the Kyma.", func(m *v1alpha1.Manifest) { m.Status.Conditions[0].ObservedGeneration = 2 }, true},
		"Synced": {"A failed observation of a Manifest affects the Kyma.", func(m *v1alpha1.Manifest) {
			m.SetConditions(xpv2.ReconcileError(errors.New("no")).WithObservedGeneration(1))
		}, true},
		"Stalled": {"A new condition Stalled affects the Kyma, even if the message is the same.", func(m *v1alpha1.Manifest) {
			conditions.MarkStalled(&m.Status.ConditionedStatus, 1, v1alpha1.ReasonModuleFailed, "x")
		}, true},
		"Verified": {"A change of the verified signatures affects the Kyma.", func(m *v1alpha1.Manifest) {
			m.SetConditions(verifiedCondition(corev1.ConditionFalse, v1alpha1.ReasonNotVerified, "x"))
		}, true},
		"Label": {"A removed label affects the Kyma, because the Kyma restores it.", func(m *v1alpha1.Manifest) { delete(m.Labels, v1alpha1.LabelChannel) }, true},
		"Owner": {"A removed owner reference affects the Kyma.", func(m *v1alpha1.Manifest) { m.OwnerReferences = nil }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			was := installed(newKyma(), newTemplate("a", "regular", "1.0.0"))
			is := was.DeepCopy()
			tc.change(is)
			if got := affectsKyma(was, is); got != tc.want {
				t.Errorf("\n%s\naffectsKyma(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestNameOfKyma(t *testing.T) {
	m := installed(newKyma(), newTemplate("a", "regular", "1.0.0"))
	if got := ownerName(m); got != "k" {
		t.Errorf("ownerName(...): %q", got)
	}
	m.OwnerReferences = []metav1.OwnerReference{{Kind: "Other", Name: "o"}}
	if got := ownerName(m); got != "" {
		t.Errorf("ownerName(...): of another owner: %q", got)
	}
}

// A line is a queue that records its items.
type line struct {
	queue

	names []string
}

func (l *line) Add(r reconcile.Request)                       { l.names = append(l.names, r.Name) }
func (l *line) AddAfter(r reconcile.Request, _ time.Duration) { l.Add(r) }

func TestWatches(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"}, v1alpha1.Module{Name: "b-c"})
	w := &watches{fleet: kymas{*k}, client: &test.MockClient{
		MockGet: func(_ context.Context, key client.ObjectKey, o client.Object) error {
			if key.Name != k.Name || key.Namespace != k.Namespace {
				return kerrors.NewNotFound(schema.GroupResource{}, key.Name)
			}
			k.DeepCopyInto(o.(*v1alpha1.Kyma))
			return nil
		},
		MockList: func(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
			if l, ok := l.(*v1alpha1.ManifestList); ok {
				l.Items = []v1alpha1.Manifest{*installed(k, newTemplate("a", "regular", "1.0.0")), {}}
			}
			return nil
		},
	}}
	own, regular, fast := installed(k, newTemplate("a", "regular", "1.0.0")), newTemplate("a", "regular", "1.0.0"), newTemplate("a", "fast", "1.0.0")
	going, moved := own.DeepCopy(), own.DeepCopy()
	deleted(going)
	moved.OwnerReferences = nil
	config := &v1alpha1.ProviderConfig{ObjectMeta: metaOf("cluster")}
	named := func(name string) *v1alpha1.Manifest { return &v1alpha1.Manifest{ObjectMeta: metaOf(name)} }
	templates, configs := filtered(w.usersOfTemplate, templateUpdates()), filtered(w.usersOfConfig)
	cases := map[string]struct {
		reason  string
		handler handler.EventHandler
		event   any
		want    []string
	}{
		"ManifestMade":    {"A Kyma is not queued for a Manifest that it created itself.", w.manifests(), ctrlevent.CreateEvent{Object: own}, nil},
		"ManifestGone":    {"A Kyma is queued to create a deleted Manifest again.", w.manifests(), ctrlevent.DeleteEvent{Object: own}, []string{"k", "k"}},
		"ManifestGoes":    {"A Kyma is queued to report that a Manifest is being deleted.", w.manifests(), ctrlevent.UpdateEvent{ObjectOld: own, ObjectNew: going}, []string{"k"}},
		"ManifestMoves":   {"A Kyma is queued if its Manifest gets another owner.", w.manifests(), ctrlevent.UpdateEvent{ObjectOld: own, ObjectNew: moved}, []string{"k"}},
		"ManifestResync":  {"A resync of a Manifest queues no Kyma.", w.manifests(), ctrlevent.UpdateEvent{ObjectOld: own, ObjectNew: own}, nil},
		"NameFree":        {"A Kyma is queued if a Manifest of another owner no longer occupies a name that it needs.", w.manifests(), ctrlevent.DeleteEvent{Object: named("k-b-c")}, []string{"k"}},
		"UnusedName":      {"A deleted Manifest whose name no Kyma needs queues no Kyma.", w.manifests(), ctrlevent.DeleteEvent{Object: named("k-x")}, nil},
		"TemplateMade":    {"A new ModuleTemplate queues the Kymas that use its channel.", templates, ctrlevent.CreateEvent{Object: &regular}, []string{"k"}},
		"TemplateThere":   {"A ModuleTemplate of the initial list queues no Kyma.", templates, ctrlevent.CreateEvent{Object: &regular, IsInInitialList: true}, nil},
		"TemplateGone":    {"A deleted ModuleTemplate queues the Kymas that use its channel.", templates, ctrlevent.DeleteEvent{Object: &regular}, []string{"k"}},
		"TemplateMoves":   {"A ModuleTemplate that leaves a channel queues the Kymas that use this channel.", templates, ctrlevent.UpdateEvent{ObjectOld: &regular, ObjectNew: changedTo(fast)}, []string{"k"}},
		"TemplateResync":  {"A resync of a ModuleTemplate queues no Kyma.", templates, ctrlevent.UpdateEvent{ObjectOld: &regular, ObjectNew: &regular}, nil},
		"TemplateOther":   {"A ModuleTemplate whose channel no Kyma uses queues no Kyma.", templates, ctrlevent.CreateEvent{Object: &fast}, nil},
		"ConfigMade":      {"A new ProviderConfig queues the Kymas that use it.", configs, ctrlevent.CreateEvent{Object: config}, []string{"k"}},
		"ConfigThere":     {"A ProviderConfig of the initial list queues no Kyma.", configs, ctrlevent.CreateEvent{Object: config, IsInInitialList: true}, nil},
		"ConfigChanged":   {"A changed ProviderConfig queues the Kymas that use it.", configs, ctrlevent.UpdateEvent{ObjectOld: config, ObjectNew: config}, []string{"k"}},
		"ClusterConfigIs": {"A changed ClusterProviderConfig queues the Kymas that use it.", configs, ctrlevent.UpdateEvent{ObjectOld: config, ObjectNew: &v1alpha1.ClusterProviderConfig{}}, []string{"k"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q := &line{}
			switch e := tc.event.(type) {
			case ctrlevent.CreateEvent:
				tc.handler.Create(t.Context(), e, q)
			case ctrlevent.UpdateEvent:
				tc.handler.Update(t.Context(), e, q)
			case ctrlevent.DeleteEvent:
				tc.handler.Delete(t.Context(), e, q)
			}
			if diff := cmp.Diff(tc.want, q.names); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIsFollowed checks when the status of a Kyma waits for other Manifests.
func TestIsFollowed(t *testing.T) {
	k := newKyma()
	cases := map[string]struct {
		reason string
		state  v1alpha1.State
		others []v1alpha1.State
		want   bool
	}{
		"Last":   {reason: "The Kyma is Ready.", state: v1alpha1.StateReady, others: []v1alpha1.State{v1alpha1.StateReady, v1alpha1.StateError}},
		"First":  {reason: "Another Manifest is in progress.", state: v1alpha1.StateReady, others: []v1alpha1.State{v1alpha1.StateReady, v1alpha1.StateProcessing}, want: true},
		"New":    {reason: "Another Manifest has not begun.", state: v1alpha1.StateReady, others: []v1alpha1.State{""}, want: true},
		"Failed": {reason: "A failure is reported soon.", state: v1alpha1.StateError, others: []v1alpha1.State{v1alpha1.StateProcessing}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			is := installed(k, newTemplate("a", "regular", "1.0.0"))
			is.UID, is.Status.AtProvider.State = "1", tc.state
			w := &watches{client: &test.MockClient{MockList: func(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
				items := []v1alpha1.Manifest{*is}
				for _, s := range tc.others {
					m := v1alpha1.Manifest{}
					m.Status.AtProvider.State = s
					items = append(items, m)
				}
				l.(*v1alpha1.ManifestList).Items = items
				return nil
			}}}
			if got := w.isFollowed(t.Context(), is); got != tc.want {
				t.Errorf("\n%s\nisFollowed(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// filtered returns a handler for the events that pass predicates.
func filtered(of handler.MapFunc, p ...predicate.Predicate) handler.EventHandler {
	h, pass := priority.RolloutHandler(of), predicate.And(p...)
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e ctrlevent.CreateEvent, q queue) {
			if pass.Create(e) {
				h.Create(ctx, e, q)
			}
		},
		UpdateFunc: func(ctx context.Context, e ctrlevent.UpdateEvent, q queue) {
			if pass.Update(e) {
				h.Update(ctx, e, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e ctrlevent.DeleteEvent, q queue) {
			if pass.Delete(e) {
				h.Delete(ctx, e, q)
			}
		},
	}
}

// changedTo returns a template with a different generation.
func changedTo(t v1alpha1.ModuleTemplate) *v1alpha1.ModuleTemplate {
	t.Generation++
	return &t
}

func TestFinalizerRemoved(t *testing.T) {
	kyma := func(finalizers ...string) *v1alpha1.Kyma {
		k := newKyma()
		k.DeletionTimestamp, k.Finalizers = &metav1.Time{Time: time.Now()}, finalizers
		return k
	}
	alive := newKyma()
	cases := map[string]struct {
		reason  string
		was, is *v1alpha1.Kyma
		want    bool
	}{
		"Removed": {"The garbage collector has removed its finalizer from a Kyma that is deleted in the foreground.", kyma("a", "b"), kyma("a"), true},
		"Same":    {"A change of the status alone queues no Kyma.", kyma("a"), kyma("a"), false},
		"Alive":   {"The Kyma is not being deleted.", kyma("a"), alive, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := finalizerRemoved().Update(ctrlevent.UpdateEvent{ObjectOld: tc.was, ObjectNew: tc.is}); got != tc.want {
				t.Errorf("\n%s\nUpdate(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
	if p := finalizerRemoved(); p.Create(ctrlevent.CreateEvent{}) || p.Delete(ctrlevent.DeleteEvent{}) || p.Generic(ctrlevent.GenericEvent{}) {
		t.Error("finalizerRemoved(): other events are for others")
	}
}
