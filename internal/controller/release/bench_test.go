// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/cached"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/kyma"
)

const (
	// istio is the name of the module, and of its ModuleReleaseMeta and RolloutPolicy.
	istio = "istio"
	// config is the name of the ProviderConfig of all Kymas.
	config = "target"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// A bench is a control plane with one reconciler. It records events as type, reason and message, and counts writes.
type bench struct {
	event.NopRecorder

	client client.Client
	r      *reconciler
	events []string
	writes int
	// conflict makes writes fail, as if another client had written before.
	conflict bool
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	b := &bench{}
	b.client = fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.ModuleReleaseMeta{}, &v1alpha1.Kyma{}, &v1alpha1.ProviderConfig{}, &v1alpha1.ClusterProviderConfig{}).
		WithIndex(&v1alpha1.ModuleReleaseMeta{}, indexModule, func(o client.Object) []string {
			m, _ := o.(*v1alpha1.ModuleReleaseMeta)
			return []string{m.Spec.ModuleName}
		}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourceUpdate: func(ctx context.Context, c client.Client, _ string, o client.Object, opts ...client.SubResourceUpdateOption) error {
				if b.conflict {
					return kerrors.NewConflict(v1alpha1.SchemeGroupVersion.WithResource("modulereleasemetas").GroupResource(), o.GetName(), nil)
				}
				b.writes++
				return c.Status().Update(ctx, o, opts...)
			},
		}).Build()
	b.r = &reconciler{client: b.client, fleet: fleetOf(b.client), spread: 5 * time.Minute, now: func() time.Time { return noon }, record: b, log: logging.NewNopLogger()}
	return b
}

// A kind lists the objects of one kind with a client.
type kind[T client.Object] struct {
	client client.Client
	list   client.ObjectList
}

// newIndexer returns an empty indexer of objects, with the index of Kymas by their modules.
func newIndexer() toolscache.Indexer {
	return toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{kyma.IndexModules: func(o any) ([]string, error) {
		if k, ok := o.(*v1alpha1.Kyma); ok {
			return namesOf(k), nil
		}
		return nil, nil
	}})
}

// Objects implements source.
func (k kind[T]) Objects(ctx context.Context) (cached.Objects[T], error) {
	i := newIndexer()
	if err := k.client.List(ctx, k.list); err != nil {
		return cached.Objects[T]{}, err
	}
	return cached.NewObjects[T](i), apimeta.EachListItem(k.list, func(o runtime.Object) error { return i.Add(o.DeepCopyObject()) })
}

// fleetOf returns the fleet that a client can read.
func fleetOf(c client.Client) fleet {
	return fleet{
		kymas:          kind[*v1alpha1.Kyma]{c, &v1alpha1.KymaList{}},
		configs:        kind[*v1alpha1.ProviderConfig]{c, &v1alpha1.ProviderConfigList{}},
		clusterConfigs: kind[*v1alpha1.ClusterProviderConfig]{c, &v1alpha1.ClusterProviderConfigList{}},
	}
}

func (b *bench) Event(_ runtime.Object, e event.Event) {
	b.events = append(b.events, string(e.Type)+" "+string(e.Reason)+" "+e.Message)
}

// reconcile reconciles the release, and returns it with the events and the number of writes of this pass.
func (b *bench) reconcile(t *testing.T) (*v1alpha1.ModuleReleaseMeta, []string, int, reconcile.Result) {
	t.Helper()
	b.events, b.writes = nil, 0
	result, err := b.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: istio}})
	if err != nil {
		t.Fatal(err)
	}
	return b.get(t), b.events, b.writes, result
}

func (b *bench) get(t *testing.T) *v1alpha1.ModuleReleaseMeta {
	t.Helper()
	m := &v1alpha1.ModuleReleaseMeta{}
	if err := b.client.Get(t.Context(), types.NamespacedName{Name: istio}, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// release changes the version of each channel.
func (b *bench) release(t *testing.T, version string) {
	t.Helper()
	m := b.get(t)
	for i := range m.Spec.Channels {
		m.Spec.Channels[i].Version = version
	}
	if err := b.client.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// report sets the version and the state of the module in a Kyma, as its controller does.
func (b *bench) report(t *testing.T, name, version string, state v1alpha1.State) {
	t.Helper()
	b.change(t, name, func(k *v1alpha1.Kyma) {
		k.Status.AtProvider.Modules[0].Version, k.Status.AtProvider.Modules[0].State = version, state
	})
}

// change changes the status of a Kyma.
func (b *bench) change(t *testing.T, name string, f func(k *v1alpha1.Kyma)) {
	t.Helper()
	k := &v1alpha1.Kyma{}
	if err := b.client.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: name}, k); err != nil {
		t.Fatal(err)
	}
	f(k)
	if err := b.client.Status().Update(t.Context(), k); err != nil {
		t.Fatal(err)
	}
}

// newRelease returns a ModuleReleaseMeta with a version in some channels.
func newRelease(version string, channels ...string) *v1alpha1.ModuleReleaseMeta {
	m := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: istio, Generation: 1}}
	m.Spec.ModuleName = istio
	for _, c := range channels {
		m.Spec.Channels = append(m.Spec.Channels, v1alpha1.ChannelRelease{
			Channel: c, Release: v1alpha1.Release{Version: version, RolloutPolicy: istio},
		})
	}
	return m
}

// newTemplate returns a ModuleTemplate that provides a version.
func newTemplate(version string) *v1alpha1.ModuleTemplate {
	t := &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: istio + "-" + version}}
	t.Spec.ModuleName, t.Spec.Version, t.Status.Version = istio, version, version
	t.Status.SetConditions(xpv2.Condition{Type: v1alpha1.TypeResolved, Status: corev1.ConditionTrue})
	return t
}

// newPolicy returns a RolloutPolicy with the wave canary, and another one for all others.
func newPolicy() *v1alpha1.RolloutPolicy {
	one := intstr.FromInt32(1)
	p := &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: istio}}
	p.Spec.Waves = []v1alpha1.RolloutWave{{Name: "canary", Selector: metav1.SetAsLabelSelector(map[string]string{"ring": "canary"})}}
	p.Spec.FailureBudget, p.Spec.ProgressDeadline = &one, &metav1.Duration{Duration: time.Minute}
	return p
}

// newKyma returns a Kyma that has version 1.0.0 of the module from a channel.
func newKyma(name, channel string, change ...func(k *v1alpha1.Kyma)) *v1alpha1.Kyma {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)}}
	k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: config}
	k.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: istio, Channel: channel}}
	k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{{Name: istio, Channel: channel, Version: "1.0.0", State: v1alpha1.StateReady}}
	for _, f := range change {
		f(k)
	}
	return k
}

func canary(k *v1alpha1.Kyma) { k.Labels = map[string]string{"ring": "canary"} }

func newConfig() *v1alpha1.ProviderConfig {
	return &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: config}}
}
