// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/history"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/sharding"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/shard"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

// A counter is a replica that counts Manifests.
type counter struct {
	states    *states
	informers *informertest.FakeInformers
	registry  *prometheus.Registry
	changes   []history.Type
}

// A countedPlane is a control plane with a Manifest and two replicas: the first has the shards 0 and 1, and the second 2 and 3. The
// configs c0 and c2 have labels for the shards 0 and 2. The Manifest uses c0.
type countedPlane struct {
	t        *testing.T
	client   client.Client
	replicas []*counter
	manifest *v1alpha1.Manifest
}

func labelledConfig(name string, shard int) *v1alpha1.ProviderConfig {
	return &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: name, Labels: map[string]string{v1alpha1.LabelShard: strconv.Itoa(shard)},
	}}
}

func newCountedPlane(ctx context.Context, t *testing.T, running *sync.WaitGroup) *countedPlane {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "istio", UID: "1", Finalizers: []string{"test/f"}}}
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "c0"}
	m.Status.AtProvider.Version = "1.0.0"
	m.SetConditions(xpv2.Available(), xpv2.ReconcileSuccess())
	configs := []*v1alpha1.ProviderConfig{labelledConfig("c0", 0), labelledConfig("c2", 2)}
	p := &countedPlane{t: t, client: fakeclient.NewClientBuilder().WithScheme(s).WithObjects(m, configs[0], configs[1]).Build()}
	p.manifest = p.get() //nolint:contextcheck // The context of the test is enough.
	for i := range 2 {
		r := &counter{registry: prometheus.NewRegistry(), informers: &informertest.FakeInformers{Scheme: s}}
		p.replicas = append(p.replicas, r)
		p.start(ctx, r, map[int]bool{2 * i: true, 2*i + 1: true}, running)
	}
	time.Sleep(5 * time.Second)
	synctest.Wait()
	for _, r := range p.replicas {
		for _, c := range configs {
			r.informer(t, c).Add(c) //nolint:contextcheck // The context of the test is enough.
		}
		r.states.OnAdd(p.manifest, true) //nolint:contextcheck // The context of the test is enough.
	}
	synctest.Wait()
	return p
}

// start starts what a replica needs to count.
func (p *countedPlane) start(ctx context.Context, r *counter, shards map[int]bool, running *sync.WaitGroup) {
	p.t.Helper()
	owner, log := shard.NewOwner(), logging.NewNopLogger()
	r.states = &states{
		cache: r.informers, reader: p.client, log: log, kind: &v1alpha1.Manifest{}, shards: sharding.New(owner, p.client, 4, log),
		objects: metrics.New(r.registry, version.Build{}).Objects(v1alpha1.ManifestGroupVersionKind),
		history: history.NewRecorder(log, func(c history.Type, _ time.Duration) { r.changes = append(r.changes, c) }),
	}
	if err := r.states.shards.Watch(ctx, r.informers); err != nil {
		p.t.Fatal(err)
	}
	running.Go(func() { _ = r.states.Start(ctx) })
	// The replicas don't need to know each other, because their shards differ.
	leases := fake.NewClientset().CoordinationV1().Leases("default")
	running.Go(func() {
		_ = shard.NewManager(leases, owner, shard.Options{Count: 4, Shards: shards, Log: log}).Start(ctx)
	})
}

func (p *countedPlane) get() *v1alpha1.Manifest {
	p.t.Helper()
	m := &v1alpha1.Manifest{}
	if err := p.client.Get(p.t.Context(), client.ObjectKey{Namespace: "team", Name: "istio"}, m); err != nil {
		p.t.Fatal(err)
	}
	return m
}

// label sets the label of c0, which both replicas receive.
func (p *countedPlane) label(shard int) {
	p.t.Helper()
	before := &v1alpha1.ProviderConfig{}
	if err := p.client.Get(p.t.Context(), client.ObjectKey{Namespace: "team", Name: "c0"}, before); err != nil {
		p.t.Fatal(err)
	}
	after := before.DeepCopy()
	after.Labels = labelledConfig("c0", shard).Labels
	if err := p.client.Update(p.t.Context(), after); err != nil {
		p.t.Fatal(err)
	}
	for _, r := range p.replicas {
		r.informer(p.t, after).Update(before, after)
	}
	synctest.Wait()
}

// update changes the Manifest, which both replicas receive.
func (p *countedPlane) update(change func(m *v1alpha1.Manifest) error) {
	p.t.Helper()
	m := p.get()
	if err := change(m); err != nil {
		p.t.Fatal(err)
	}
	now := p.get()
	for _, r := range p.replicas {
		r.informer(p.t, now).Update(p.manifest, now)
	}
	p.manifest = now
}

// refer makes the Manifest use another config.
func (p *countedPlane) refer(config string) {
	p.t.Helper()
	p.update(func(m *v1alpha1.Manifest) error {
		m.Spec.ProviderConfigReference.Name = config
		return p.client.Update(p.t.Context(), m)
	})
}

// remove requests the deletion of the Manifest.
func (p *countedPlane) remove() {
	p.t.Helper()
	p.update(func(m *v1alpha1.Manifest) error { return p.client.Delete(p.t.Context(), m) })
}

func (r *counter) informer(t *testing.T, o client.Object) *controllertest.FakeInformer {
	t.Helper()
	i, err := r.informers.FakeInformerFor(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// value returns the value of a gauge of Manifests, or the number of samples of a histogram.
func (r *counter) value(t *testing.T, name string) int {
	t.Helper()
	families, err := r.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "crossplane_managed_resource_"+name {
			m := f.GetMetric()[0]
			return int(m.GetGauge().GetValue()) + int(m.GetHistogram().GetSampleCount())
		}
	}
	return 0
}

// TestStatesOfShards checks that of two replicas, one counts a Manifest and records its changes, also after the Manifest has moved.
func TestStatesOfShards(t *testing.T) {
	// A count is what a replica counts before the Manifest is gone, and what it has recorded afterwards.
	type count struct {
		Exists, Deletions, Readinesses int
		Changes                        []history.Type
	}
	removed := []history.Type{history.Removed}
	cases := map[string]struct {
		reason string
		play   func(p *countedPlane)
		want   [2]count
	}{
		"Stays": {
			reason: "A replica counts what belongs to its shards.",
			play:   func(p *countedPlane) { p.remove() },
			want:   [2]count{{Exists: 1, Deletions: 1, Changes: removed}, {}},
		},
		"Label": {
			reason: "The change of a label moves the Manifest, without an event of its own.",
			play:   func(p *countedPlane) { p.label(2) },
			want:   [2]count{{}, {Exists: 1, Deletions: 1, Changes: removed}},
		},
		"LabelDuringDeletion": {
			reason: "A move is not the end of a deletion.",
			play:   func(p *countedPlane) { p.remove(); p.label(2) },
			want:   [2]count{{}, {Exists: 1, Deletions: 1, Changes: removed}},
		},
		"LabelAndBack": {
			reason: "The first replica counts the Manifest again.",
			play:   func(p *countedPlane) { p.label(2); p.label(1) },
			want:   [2]count{{Exists: 1, Deletions: 1, Changes: removed}, {}},
		},
		"Reference": {
			reason: "The Manifest uses a config of another shard, which does not install it.",
			play:   func(p *countedPlane) { p.refer("c2") },
			want:   [2]count{{}, {Exists: 1, Deletions: 1, Changes: removed}},
		},
		"ReferenceDuringDeletion": {
			reason: "A move is not the end of a deletion.",
			play:   func(p *countedPlane) { p.remove(); p.refer("c2") },
			want:   [2]count{{}, {Exists: 1, Deletions: 1, Changes: removed}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				defer running.Wait()
				defer cancel()
				p := newCountedPlane(ctx, t, &running)
				tc.play(p)
				var got [2]count
				for i, r := range p.replicas {
					got[i].Exists = r.value(t, "exists")
				}
				if p.manifest.DeletionTimestamp == nil {
					p.remove()
				}
				for i, r := range p.replicas {
					r.informer(t, p.manifest).Delete(p.manifest)
					got[i].Deletions, got[i].Readinesses, got[i].Changes = r.value(t, "deletion_seconds"), r.value(t, "first_time_to_readiness_seconds"), r.changes
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}
