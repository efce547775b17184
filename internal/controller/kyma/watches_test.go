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
)

func TestMatters(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(m *v1alpha1.Manifest)
		want   bool
	}{
		"Nothing":    {"A resync changes nothing.", func(*v1alpha1.Manifest) {}, false},
		"Annotation": {"Annotations of others do not matter.", func(m *v1alpha1.Manifest) { m.Annotations = map[string]string{"a": "b"} }, false},
		"Finalizer":  {"Nor do finalizers.", func(m *v1alpha1.Manifest) { m.Finalizers = []string{"x"} }, false},
		"Counts":     {"Nor does what the Kyma does not show.", func(m *v1alpha1.Manifest) { m.Status.AtProvider.Resources = &v1alpha1.ResourceCounts{Total: 3} }, false},
		"Spec":       {"The spec does.", func(m *v1alpha1.Manifest) { m.Generation++ }, true},
		"State":      {"The state does.", in(v1alpha1.StateWarning, ""), true},
		"Message":    {"The message does.", in(v1alpha1.StateReady, "x"), true},
		"Deletion":   {"Deletion does.", deleted, true},
		"Seen":       {"So does that the spec was seen.", func(m *v1alpha1.Manifest) { m.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(2)) }, true},
		"Generation": {"So does that Ready is of another generation.", func(m *v1alpha1.Manifest) { m.Status.Conditions[0].ObservedGeneration = 2 }, true},
		"Synced": {"So does a failed observation.", func(m *v1alpha1.Manifest) {
			m.SetConditions(xpv2.ReconcileError(errors.New("no")).WithObservedGeneration(1))
		}, true},
		"Stalled": {"So does that only a change can help, even if the message is the same.", func(m *v1alpha1.Manifest) {
			conditions.MarkStalled(&m.Status.ConditionedStatus, 1, v1alpha1.ReasonModuleFailed, "x")
		}, true},
		"Verified": {"So do signatures.", func(m *v1alpha1.Manifest) {
			m.SetConditions(verifiedCondition(corev1.ConditionFalse, v1alpha1.ReasonNotVerified, "x"))
		}, true},
		"Label": {"So do labels, which are restored.", func(m *v1alpha1.Manifest) { delete(m.Labels, v1alpha1.LabelChannel) }, true},
		"Owner": {"So does the owner.", func(m *v1alpha1.Manifest) { m.OwnerReferences = nil }, true},
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

func TestChanged(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(t *v1alpha1.ModuleTemplate)
		want   bool
	}{
		"Nothing":   {"A resync changes nothing.", func(*v1alpha1.ModuleTemplate) {}, false},
		"Label":     {"Labels of others do not matter.", func(t *v1alpha1.ModuleTemplate) { t.Labels = map[string]string{"a": "b"} }, false},
		"Handled":   {"Nor does that a request was handled.", func(t *v1alpha1.ModuleTemplate) { t.Status.LastHandledReconcileAt = "x" }, false},
		"Module":    {"The label with the name of the module does.", func(t *v1alpha1.ModuleTemplate) { t.Labels = map[string]string{v1alpha1.LabelModuleName: "b"} }, true},
		"Spec":      {"The spec does.", func(t *v1alpha1.ModuleTemplate) { t.Generation++ }, true},
		"Digest":    {"Another content does.", func(t *v1alpha1.ModuleTemplate) { t.Status.Digest = "x" }, true},
		"Resources": {"So does what it means to us.", func(t *v1alpha1.ModuleTemplate) { t.Status.Resources = nil }, true},
		"Condition": {"So does that it cannot be resolved.", func(t *v1alpha1.ModuleTemplate) { t.Status.Conditions[0].Status = corev1.ConditionFalse }, true},
		"Downgrade": {"So does leave to go back.", func(t *v1alpha1.ModuleTemplate) {
			t.Annotations = map[string]string{v1alpha1.AnnotationAllowDowngrade: "1"}
		}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			was := newTemplate("a", "regular", "1.0.0")
			is := was.DeepCopy()
			tc.change(is)
			if got := templateChanged(&was, is); got != tc.want {
				t.Errorf("\n%s\ntemplateChanged(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestConcerns(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"}, v1alpha1.Module{Name: "b", Channel: "fast"}, v1alpha1.Module{Name: "c"})
	k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{{Name: "c", State: v1alpha1.StateError}}
	cases := map[string]struct {
		reason, module, channel string
		want                    bool
	}{
		"Channel":      {"A module of the channel of the Kyma.", "a", "regular", true},
		"OtherChannel": {"Not of another one.", "a", "fast", false},
		"OwnChannel":   {"A module of its own channel.", "b", "fast", true},
		"Listed":       {"A module in error lists the channels that there are.", "c", "beta", true},
		"Unknown":      {"A module that is not wanted.", "d", "regular", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := hasModule(k, tc.module, tc.channel); got != tc.want {
				t.Errorf("\n%s\nhasModule(...): want %t, got %t", tc.reason, tc.want, got)
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

func TestManifestName(t *testing.T) {
	long := make([]byte, maxName)
	for i := range long {
		long[i] = 'x'
	}
	a, b := manifestName(string(long), "a"), manifestName(string(long), "b")
	if manifestName("k", "a") != "k-a" || len(a) > maxName || a == b {
		t.Errorf("manifestName(...): %q, %q", a, b)
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
	w := &watches{client: &test.MockClient{
		MockGet: func(_ context.Context, key client.ObjectKey, o client.Object) error {
			if key.Name != k.Name || key.Namespace != k.Namespace {
				return kerrors.NewNotFound(schema.GroupResource{}, key.Name)
			}
			k.DeepCopyInto(o.(*v1alpha1.Kyma))
			return nil
		},
		MockList: func(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
			switch l := l.(type) {
			case *v1alpha1.KymaList:
				l.Items = []v1alpha1.Kyma{*k}
			case *v1alpha1.ManifestList:
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
	templates, configs := filtered(w.usersOfTemplate, afterStart(), templateUpdates()), filtered(w.usersOfConfig, afterStart())
	cases := map[string]struct {
		reason  string
		handler handler.EventHandler
		event   any
		want    []string
	}{
		"ManifestMade":    {"A Kyma knows what it makes.", w.manifests(), ctrlevent.CreateEvent{Object: own}, nil},
		"ManifestGone":    {"A Manifest that is gone is made again.", w.manifests(), ctrlevent.DeleteEvent{Object: own}, []string{"k", "k"}},
		"ManifestGoes":    {"One that goes is shown.", w.manifests(), ctrlevent.UpdateEvent{ObjectOld: own, ObjectNew: going}, []string{"k"}},
		"ManifestMoves":   {"One that is taken away is missed.", w.manifests(), ctrlevent.UpdateEvent{ObjectOld: own, ObjectNew: moved}, []string{"k"}},
		"ManifestResync":  {"A resync is nothing.", w.manifests(), ctrlevent.UpdateEvent{ObjectOld: own, ObjectNew: own}, nil},
		"NameFree":        {"A name that another owner had is free.", w.manifests(), ctrlevent.DeleteEvent{Object: named("k-b-c")}, []string{"k"}},
		"UnusedName":      {"No Kyma needs this name.", w.manifests(), ctrlevent.DeleteEvent{Object: named("k-x")}, nil},
		"TemplateMade":    {"A template appears.", templates, ctrlevent.CreateEvent{Object: &regular}, []string{"k"}},
		"TemplateThere":   {"It was there all the time.", templates, ctrlevent.CreateEvent{Object: &regular, IsInInitialList: true}, nil},
		"TemplateGone":    {"A template goes.", templates, ctrlevent.DeleteEvent{Object: &regular}, []string{"k"}},
		"TemplateMoves":   {"A template leaves a channel.", templates, ctrlevent.UpdateEvent{ObjectOld: &regular, ObjectNew: changedTo(fast)}, []string{"k"}},
		"TemplateResync":  {"A resync of a template is nothing.", templates, ctrlevent.UpdateEvent{ObjectOld: &regular, ObjectNew: &regular}, nil},
		"TemplateOther":   {"No Kyma uses its channel.", templates, ctrlevent.CreateEvent{Object: &fast}, nil},
		"ConfigMade":      {"A config appears.", configs, ctrlevent.CreateEvent{Object: config}, []string{"k"}},
		"ConfigThere":     {"It was there all the time.", configs, ctrlevent.CreateEvent{Object: config, IsInInitialList: true}, nil},
		"ConfigChanged":   {"A config changes.", configs, ctrlevent.UpdateEvent{ObjectOld: config, ObjectNew: config}, []string{"k"}},
		"ClusterConfigIs": {"So does one of the cluster.", configs, ctrlevent.UpdateEvent{ObjectOld: config, ObjectNew: &v1alpha1.ClusterProviderConfig{}}, []string{"k"}},
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
		"First":  {reason: "Another one is in progress.", state: v1alpha1.StateReady, others: []v1alpha1.State{v1alpha1.StateReady, v1alpha1.StateProcessing}, want: true},
		"New":    {reason: "Another one has not begun.", state: v1alpha1.StateReady, others: []v1alpha1.State{""}, want: true},
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
	h, pass := handler.EnqueueRequestsFromMapFunc(of), predicate.And(p...)
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
		"Removed": {"The garbage collector is done with what is in the foreground.", kyma("a", "b"), kyma("a"), true},
		"Same":    {"A status is nothing.", kyma("a"), kyma("a"), false},
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
