// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/kymaset"
)

// A world simulates the control plane: an API server, and a cache of it that can miss objects. It counts the writes.
type world struct {
	*testing.T

	sets    map[string]*v1alpha1.KymaSet
	kymas   map[types.NamespacedName]*v1alpha1.Kyma
	configs map[types.NamespacedName]*v1alpha1.ProviderConfig
	// clusters contains the Clusters of Cluster API.
	clusters map[types.NamespacedName]*metav1.PartialObjectMetadata
	// hidden contains the ProviderConfigs that the cache misses.
	hidden map[types.NamespacedName]bool
	// outdated contains the KymaSets and Kymas of which the cache has an older version.
	outdated map[types.NamespacedName]client.Object
	// refuses contains the errors of writes to clusters.
	refuses map[types.NamespacedName]error
	// page replaces the response of the API server to reads of ProviderConfigs.
	page error
	// deletable allows deletions.
	deletable bool

	writes   map[string]int
	statuses int
	events   []event.Event
	version  int

	reconciler *reconciler
	queue      workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func newWorld(t *testing.T, sets ...*v1alpha1.KymaSet) *world {
	t.Helper()
	w := &world{
		T: t, sets: map[string]*v1alpha1.KymaSet{}, kymas: map[types.NamespacedName]*v1alpha1.Kyma{}, configs: map[types.NamespacedName]*v1alpha1.ProviderConfig{},
		clusters: map[types.NamespacedName]*metav1.PartialObjectMetadata{}, hidden: map[types.NamespacedName]bool{}, refuses: map[types.NamespacedName]error{},
		writes: map[string]int{}, deletable: true,
	}
	for _, s := range sets {
		w.sets[s.Name] = s
	}
	w.start()
	return w
}

// start starts the controller, as after a restart.
func (w *world) start() {
	w.reconciler = newReconciler(w.client(true), w.client(false), settings.Options{Options: controller.Options{PollInterval: time.Hour}, Timeout: time.Minute})
	w.reconciler.sets.record = w
	w.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	w.reconciler.sets.enqueue.start(w.queue)
}

func (w *world) Event(_ runtime.Object, e event.Event)      { w.events = append(w.events, e) }
func (w *world) WithAnnotations(_ ...string) event.Recorder { return w }

// run reconciles all KymaSets, and what they queue, and then their status.
func (w *world) run() {
	w.Helper()
	for range 3 {
		for _, name := range slices.Sorted(maps.Keys(w.sets)) {
			w.reconcile(setRequest(name))
		}
		w.runClusters()
	}
}

// runClusters reconciles the clusters in the queue.
func (w *world) runClusters() {
	w.Helper()
	for w.queue.Len() > 0 {
		r, _ := w.queue.Get()
		w.queue.Done(r)
		if !isSet(r) {
			w.reconcile(r)
		}
	}
}

func (w *world) reconcile(r reconcile.Request) {
	w.Helper()
	if _, err := w.reconciler.Reconcile(w.Context(), r); err != nil && len(w.refuses) == 0 && w.page == nil {
		w.Errorf("Reconcile(%s): %v", r, err)
	}
}

// cluster reconciles a cluster, as after an event about it.
func (w *world) cluster(key types.NamespacedName) {
	w.Helper()
	w.queue.Add(reconcile.Request{NamespacedName: key})
	w.runClusters()
	for _, name := range slices.Sorted(maps.Keys(w.sets)) {
		w.reconcile(setRequest(name))
	}
}

// reset forgets the writes.
func (w *world) reset() { w.writes, w.statuses = map[string]int{}, 0 }

// expect checks the writes since the last reset.
func (w *world) expect(reason string, want map[string]int) {
	w.Helper()
	if !maps.Equal(w.writes, want) {
		w.Errorf("%s: want writes %v, got %v", reason, want, w.writes)
	}
	w.reset()
}

func (w *world) status(name string) v1alpha1.KymaSetStatus { return w.sets[name].Status }

func clusterKey(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: fmt.Sprintf("team-%d", i%7), Name: fmt.Sprintf("c-%04d", i)}
}

// addCluster adds a ProviderConfig.
func (w *world) addCluster(key types.NamespacedName, labels map[string]string) {
	w.configs[key] = &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID(key.String()), Labels: labels}}
}

// useClusterAPI replaces the ProviderConfigs with Clusters of Cluster API, which the KymaSets select instead.
func (w *world) useClusterAPI() {
	w.reconciler.access.watched[clusterKind] = watched{kind: clusterKind.WithVersion("v1beta2"), informer: controllertest.NewFakeInformer(controllertest.Synced)}
	for _, s := range w.sets {
		s.Spec.ClusterAPI, s.Spec.ProviderConfigs = &v1alpha1.ClusterAPISelection{Selector: s.Spec.ProviderConfigs.Selector}, nil
	}
	for key, c := range w.configs {
		w.clusters[key] = &metav1.PartialObjectMetadata{ObjectMeta: c.ObjectMeta}
	}
	clear(w.configs)
}

// ready makes all Kymas Ready.
func (w *world) ready() {
	for _, k := range w.kymas {
		c := xpv2.Available()
		c.ObservedGeneration = k.Generation
		k.Status.Conditions = []xpv2.Condition{c}
		k.Status.AtProvider.State = v1alpha1.StateReady
	}
}

func (w *world) client(isCache bool) client.Client {
	return &test.MockClient{
		MockGet: func(_ context.Context, key client.ObjectKey, o client.Object) error { return w.get(isCache, key, o) },
		MockList: func(_ context.Context, l client.ObjectList, o ...client.ListOption) error {
			return w.list(isCache, l, o)
		},
		MockApply: func(_ context.Context, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			return w.apply(o)
		},
		MockDelete: func(_ context.Context, o client.Object, _ ...client.DeleteOption) error { return w.remove(o) },
		MockPatch: func(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
			return w.patch(o)
		},
		MockCreate: func(_ context.Context, o client.Object, _ ...client.CreateOption) error {
			if r, ok := o.(*authorizationv1.SelfSubjectAccessReview); ok {
				r.Status.Allowed = w.deletable && r.Spec.ResourceAttributes.Verb == "delete"
			}
			return nil
		},
		MockStatusUpdate: func(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
			w.statuses++
			set, _ := o.(*v1alpha1.KymaSet)
			w.sets[set.Name].Status = set.Status
			return nil
		},
	}
}

func (w *world) get(isCache bool, key client.ObjectKey, o client.Object) error {
	missing := func(resource string) error {
		return kerrors.NewNotFound(schema.GroupResource{Group: v1alpha1.Group, Resource: resource}, key.Name)
	}
	if old := w.outdated[key]; isCache && reflect.TypeOf(old) == reflect.TypeOf(o) {
		reflect.ValueOf(o).Elem().Set(reflect.ValueOf(old.DeepCopyObject()).Elem())
		return nil
	}
	switch o := o.(type) {
	case *v1alpha1.KymaSet:
		if s, ok := w.sets[key.Name]; ok {
			s.DeepCopyInto(o)
			return nil
		}
		return missing("kymasets")
	case *v1alpha1.Kyma:
		if k, ok := w.kymas[key]; ok {
			k.DeepCopyInto(o)
			return nil
		}
		return missing("kymas")
	case *v1alpha1.ProviderConfig:
		if c, ok := w.configs[key]; ok && (!isCache || !w.hidden[key]) {
			c.DeepCopyInto(o)
			return nil
		}
	case *metav1.PartialObjectMetadata:
		if w.page != nil {
			return w.page
		}
		if c, ok := w.configs[key]; ok && o.Kind == v1alpha1.ProviderConfigKind {
			c.ObjectMeta.DeepCopyInto(&o.ObjectMeta)
			return nil
		}
		if c, ok := w.clusters[key]; ok && o.Kind == clusterKind.Kind {
			c.ObjectMeta.DeepCopyInto(&o.ObjectMeta)
			return nil
		}
		return missing(strings.ToLower(o.Kind) + "s")
	}
	return missing("providerconfigs")
}

func (w *world) list(isCache bool, l client.ObjectList, opts []client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(opts)
	matches := func(m client.Object) bool {
		if o.FieldSelector != nil {
			name, _ := o.FieldSelector.RequiresExactMatch(indexSet)
			return kymaset.SetOf(m) == name
		}
		return o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(m.GetLabels()))
	}
	switch l := l.(type) {
	case *v1alpha1.KymaSetList:
		for _, s := range w.sets {
			if old, ok := w.outdated[types.NamespacedName{Name: s.Name}].(*v1alpha1.KymaSet); ok && isCache {
				s = old
			}
			l.Items = append(l.Items, *s)
		}
	case *v1alpha1.KymaList:
		for _, k := range w.kymas {
			if matches(k) {
				l.Items = append(l.Items, *k)
			}
		}
	case *v1alpha1.ProviderConfigList:
		for key, c := range w.configs {
			if matches(c) && (!isCache || !w.hidden[key]) {
				l.Items = append(l.Items, *c)
			}
		}
	case *metav1.PartialObjectMetadataList:
		for _, c := range w.clusters {
			if matches(c) {
				l.Items = append(l.Items, *c)
			}
		}
	}
	return nil
}

// apply applies a Kyma or a ProviderConfig. As in the API server, what the owner added stays. The event of this queues its cluster.
func (w *world) apply(o runtime.ApplyConfiguration) error {
	b, err := json.Marshal(o)
	if err != nil {
		return errors.Wrap(err, "cannot encode")
	}
	k, c := &v1alpha1.Kyma{}, &v1alpha1.ProviderConfig{}
	if err := errors.Join(json.Unmarshal(b, k), json.Unmarshal(b, c)); err != nil {
		return errors.Wrap(err, "cannot decode")
	}
	key := client.ObjectKeyFromObject(k)
	if k.Kind == v1alpha1.ProviderConfigKind {
		w.writes["apply config"]++
		w.configs[key] = c
		return nil
	}
	if err := w.refuses[key]; err != nil {
		return err
	}
	live, exists := w.kymas[key]
	if exists && k.ResourceVersion == createOnly {
		return kerrors.NewInvalid(schema.GroupKind{}, k.Name, nil)
	}
	w.version++
	w.writes["apply"]++
	w.queue.Add(reconcile.Request{NamespacedName: key})
	k.UID, k.Generation = types.UID("kyma-of-"+key.String()), 1
	if exists {
		k.UID, k.Generation, k.Status = live.UID, live.Generation+1, live.Status
	}
	k.ResourceVersion = strconv.Itoa(w.version)
	w.kymas[key] = k
	return nil
}

// remove deletes an object. The event of this queues its cluster.
func (w *world) remove(o client.Object) error {
	key := client.ObjectKeyFromObject(o)
	w.queue.Add(reconcile.Request{NamespacedName: key})
	if _, ok := o.(*v1alpha1.ProviderConfig); ok {
		w.writes["delete config"]++
		delete(w.configs, key)
		return nil
	}
	w.writes["delete"]++
	delete(w.kymas, key)
	return nil
}

// patch changes an object. The event of this queues its cluster.
func (w *world) patch(o client.Object) error {
	key := client.ObjectKeyFromObject(o)
	w.queue.Add(reconcile.Request{NamespacedName: key})
	switch o := o.(type) {
	case *v1alpha1.KymaSet:
		w.writes["finalizer"]++
		w.sets[o.Name] = o.DeepCopy()
		if o.DeletionTimestamp != nil && len(o.Finalizers) == 0 {
			delete(w.sets, o.Name)
		}
	case *v1alpha1.Kyma:
		verb := "orphan"
		if o.Annotations[v1alpha1.AnnotationReleasedBy] != "" {
			verb = "release"
		}
		w.writes[verb]++
		w.kymas[key] = o.DeepCopy()
	case *v1alpha1.ProviderConfig:
		w.writes["orphan config"]++
		w.configs[key] = o.DeepCopy()
	}
	return nil
}

// newSet returns a KymaSet.
func newSet(name string, edit ...func(*v1alpha1.KymaSet)) *v1alpha1.KymaSet {
	s := &v1alpha1.KymaSet{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 1}}
	s.Spec.ProviderConfigs = &v1alpha1.ProviderConfigSelection{}
	s.Spec.Template.Spec.ForProvider.Channel = "regular"
	s.Status.ObservedGeneration = -1
	for _, e := range edit {
		e(s)
	}
	return s
}

// selecting makes a KymaSet select clusters by a label.
func selecting(v string) func(*v1alpha1.KymaSet) {
	return func(s *v1alpha1.KymaSet) {
		s.Spec.ProviderConfigs.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"ring": v}}
	}
}

func withPolicy(p v1alpha1.ClusterRemovalPolicy) func(*v1alpha1.KymaSet) {
	return func(s *v1alpha1.KymaSet) { s.Spec.ClusterRemovalPolicy = p }
}

// change changes the spec of a KymaSet.
func (w *world) change(name string, edit func(*v1alpha1.KymaSet)) {
	s := w.sets[name].DeepCopy()
	s.Generation++
	edit(s)
	w.sets[name] = s
}

// isReadySet reports whether the condition Ready has a status and a reason.
func (w *world) isReadySet(name string, status corev1.ConditionStatus, reason xpv2.ConditionReason) bool {
	s := w.status(name)
	c := s.GetCondition(xpv2.TypeReady)
	return c.Status == status && c.Reason == reason
}
