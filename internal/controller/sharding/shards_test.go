// SPDX-License-Identifier: Apache-2.0

package sharding

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/shard"
)

// count is the number of shards in these tests.
const count = 4

func labels(s string) map[string]string {
	if s == "" {
		return nil
	}
	return map[string]string{v1alpha1.LabelShard: s}
}

func config(name, label string) *v1alpha1.ProviderConfig {
	return &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Labels: labels(label)}}
}

func clusterConfig(name, label string) *v1alpha1.ClusterProviderConfig {
	return &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels(label)}}
}

func manifest(name, kind, config string) *v1alpha1.Manifest {
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: kind, Name: config}
	return m
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

func reader(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	return fakeclient.NewClientBuilder().WithScheme(scheme(t)).WithObjects(objects...).Build()
}

// watch makes Shards watch ProviderConfigs, and returns their informer.
func watch(t *testing.T, s *Shards) *controllertest.FakeInformer {
	t.Helper()
	informers := &informertest.FakeInformers{Scheme: scheme(t)}
	if err := s.Watch(t.Context(), informers); err != nil {
		t.Fatal(err)
	}
	i, err := informers.FakeInformerFor(t.Context(), &v1alpha1.ProviderConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestOf checks the shards of objects.
func TestOf(t *testing.T) {
	hashed := func(key string) int { return shard.Of(key, count) }
	kyma := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "kyma"}}
	kyma.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "pinned"}
	cases := map[string]struct {
		reason  string
		configs []client.Object
		object  client.Object
		want    int
	}{
		"Config":         {reason: "A config belongs to the shard of its name.", object: config("a", ""), want: hashed("ProviderConfig/team/a")},
		"ClusterConfig":  {reason: "Both kinds of configs have shards.", object: clusterConfig("a", ""), want: hashed("ClusterProviderConfig//a")},
		"Manifest":       {reason: "A Manifest belongs to the shard of its config.", object: manifest("m", "ProviderConfig", "a"), want: hashed("ProviderConfig/team/a")},
		"Missing":        {reason: "The shard of a missing config is that of its name.", object: manifest("m", "ClusterProviderConfig", "b"), want: hashed("ClusterProviderConfig//b")},
		"Labelled":       {reason: "A label selects the shard.", configs: []client.Object{clusterConfig("pinned", "3")}, object: kyma, want: 3},
		"TooLarge":       {reason: "A shard that does not exist is ignored.", configs: []client.Object{config("a", "4")}, object: manifest("m", "ProviderConfig", "a"), want: hashed("ProviderConfig/team/a")},
		"NotANumber":     {reason: "A label that is not a number is ignored.", configs: []client.Object{config("a", "x")}, object: manifest("m", "ProviderConfig", "a"), want: hashed("ProviderConfig/team/a")},
		"ModuleTemplate": {reason: "Objects without a config belong to shard 0.", object: &v1alpha1.ModuleTemplate{}, want: 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := New(nil, reader(t, tc.configs...), count, logging.NewNopLogger()).of(t.Context(), tc.object)
			if err != nil || got != tc.want {
				t.Errorf("\n%s\nof(...): want %d, got %d, %v", tc.reason, tc.want, got, err)
			}
		})
	}
}

// hold makes an Owner hold some shards, until the caller calls the returned function.
func hold(t *testing.T, owner *shard.Owner, shards ...int) func() {
	t.Helper()
	o := shard.Options{Count: count, Shards: map[int]bool{}, Name: "replica", Log: logging.NewNopLogger()}
	for _, s := range shards {
		o.Shards[s] = true
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = shard.NewManager(fake.NewClientset().CoordinationV1().Leases("default"), owner, o).Start(ctx)
	}()
	time.Sleep(5 * time.Second)
	if diff := cmp.Diff(shards, owner.Held()); diff != "" {
		t.Errorf("shards that the replica holds: -want, +got:\n%s", diff)
	}
	return func() {
		cancel()
		<-done
	}
}

// TestLimit checks which objects a replica with the shards 1 and 2 reconciles, and what their reconciles may write.
func TestLimit(t *testing.T) {
	pinned := []client.Object{config("c1", "1"), config("c2", "2"), config("c3", "3"), manifest("other", "Other", "c1")}
	for i := range 4 {
		pinned = append(pinned, manifest("m"+strconv.Itoa(i), "ProviderConfig", "c"+strconv.Itoa(i)))
	}
	synctest.Test(t, func(t *testing.T) {
		owner := shard.NewOwner()
		end := hold(t, owner, 1, 2)
		s := New(owner, reader(t, pinned...), count, logging.NewNopLogger())
		configs := watch(t, s)
		for _, c := range pinned[:3] {
			configs.Add(c)
		}
		time.Sleep(moveTime)
		type outcome struct{ Ran, Dropped, Writes, WritesOther bool }
		reconcileOf := func(name string) outcome {
			out := outcome{}
			r := s.Limit(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				out.Ran, out.Writes = true, owner.CheckWork(ctx) == nil
				out.WritesOther = s.CheckConfig(ctx, "ProviderConfig", "team", "c2") == nil
				return reconcile.Result{}, nil
			}), &v1alpha1.Manifest{}, func(types.NamespacedName) { out.Dropped = true })
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team", Name: name}}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return out
		}
		for name, tc := range map[string]struct {
			reason string
			want   outcome
		}{
			"m1":    {reason: "It belongs to a shard of the replica, but not to that of c2.", want: outcome{Ran: true, Writes: true}},
			"m2":    {reason: "The Manifest is in the shard of c2.", want: outcome{Ran: true, Writes: true, WritesOther: true}},
			"other": {reason: "The kind of its config is unknown, which the replica must report.", want: outcome{Ran: true, Writes: true}},
			"m3":    {reason: "Another replica reconciles it.", want: outcome{Dropped: true}},
			"gone":  {reason: "An object that does not exist is only forgotten.", want: outcome{Ran: true}},
		} {
			if diff := cmp.Diff(tc.want, reconcileOf(name)); diff != "" {
				t.Errorf("%s: %s: -want, +got:\n%s", name, tc.reason, diff)
			}
		}
		if !s.Owns(t.Context(), config("c1", "1")) || s.Owns(t.Context(), config("c3", "3")) {
			t.Error("want c1 to belong to this replica, and c3 to another one")
		}
		var lost []string
		s.OnLoss(&v1alpha1.ManifestList{}, func(o client.Object) { lost = append(lost, o.GetName()) })
		end()
		if !slices.Contains(lost, "m1") || !slices.Contains(lost, "m2") || slices.Contains(lost, "m3") {
			t.Errorf("want the objects of the shards 1 and 2 to be lost at the end, got %v", lost)
		}
	})
}
