// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
)

// fakeConnections returns a result for each rotation, and records its users.
type fakeConnections struct {
	left      []string
	connected bool
	err       error

	changed int
	users   []string
}

func (f *fakeConnections) Changed() { f.changed++ }

func (f *fakeConnections) Rotate(_ context.Context, _ *Config, users []string) ([]string, bool, error) {
	f.users = users
	return f.left, f.connected, f.err
}

type fieldIndexer struct{ *fake.ClientBuilder }

func (i fieldIndexer) IndexField(_ context.Context, o client.Object, field string, f client.IndexerFunc) error {
	i.WithIndex(o, field, f)
	return nil
}

// indexed returns a client with the indexes of Index.
func indexed(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(s).WithObjects(objects...)
	if err := Index(t.Context(), fieldIndexer{b}); err != nil {
		t.Fatal(err)
	}
	return b.Build()
}

// TestRotationsOfSecret checks which configs a change of a Secret concerns.
func TestRotationsOfSecret(t *testing.T) {
	with := func(ref, pull string) v1alpha1.ProviderConfigSpec {
		s := v1alpha1.ProviderConfigSpec{Credentials: v1alpha1.Credentials{
			Source:              v1alpha1.CredentialsSourceSecret,
			CredentialSelectors: v1alpha1.CredentialSelectors{SecretRef: &v1alpha1.SecretKeySelector{Name: ref}},
		}}
		if pull != "" {
			s.Registries = []v1alpha1.Registry{{Host: "h", PullSecretRef: &v1alpha1.SecretReference{Name: pull}}}
		}
		return s
	}
	of := func(namespace, name string, s v1alpha1.ProviderConfigSpec) client.Object {
		return &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: s}
	}
	cluster := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	cluster.Spec.ProviderConfigSpec = with("kubeconfig", "")
	cluster.Spec.Credentials.SecretRef.Namespace = "n"
	c := indexed(t, of("n", "a", with("kubeconfig", "")), of("n", "b", with("other", "kubeconfig")), of("m", "c", with("kubeconfig", "")), cluster)
	want := map[string][]reconcile.Request{
		v1alpha1.ProviderConfigKind:        {{NamespacedName: types.NamespacedName{Namespace: "n", Name: "a"}}},
		v1alpha1.ClusterProviderConfigKind: {{NamespacedName: types.NamespacedName{Name: "c"}}},
	}
	got := map[string][]reconcile.Request{}
	for _, k := range kinds() {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "kubeconfig"}}
		got[k.name] = (&Rotations{client: c}).ofSecret(k.list)(t.Context(), secret)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configs with this kubeconfig: -want, +got:\n%s", diff)
	}
}

// TestRotations checks which Manifests a rotation queues.
func TestRotations(t *testing.T) {
	cases := map[string]struct {
		reason      string
		connections fakeConnections
		config      string
		stopped     bool
		queued      []string
		users       []string
		changed     int
		again       time.Duration
		err         bool
	}{
		"Replaced": {
			reason: "Only the Manifest whose last pass failed is queued: the token can be the reason.", connections: fakeConnections{connected: true},
			config: "c", users: []string{"n/api", "n/failed", "n/web"}, queued: []string{"failed"}, changed: 1,
		},
		"NotConnected": {
			reason: "The connection queues the Manifests itself.", config: "c", users: []string{"n/api", "n/failed", "n/web"}, changed: 1,
		},
		"Left": {
			reason: "These Manifests connect again.", connections: fakeConnections{left: []string{"n/web", "n/api"}}, config: "c",
			users: []string{"n/api", "n/failed", "n/web"}, queued: []string{"api", "web"}, changed: 1,
		},
		"Error": {
			reason: "The Secret could not be read.", connections: fakeConnections{err: errors.New("boom")}, config: "c",
			users: []string{"n/api", "n/failed", "n/web"}, changed: 1, err: true,
		},
		"Gone":    {reason: "The deletion of the config queues its Manifests.", config: "gone", changed: 1},
		"Stopped": {reason: "The controller of Manifests has not started, so the config is reconciled again later.", config: "c", stopped: true, again: queueTime},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			failed := manifestIn("failed", "")
			failed.SetConditions(xpv2.ReconcileError(errors.New("forbidden")))
			web := manifestIn("web", "")
			web.SetConditions(xpv2.ReconcileSuccess())
			other := manifestIn("other", "")
			other.Spec.ProviderConfigReference.Name = "another"
			c := indexed(t, failed, web, manifestIn("api", ""), other, &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c"}})
			q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer q.ShutDown()
			r := &Rotations{client: c, connections: &tc.connections, kind: v1alpha1.ProviderConfigKind, manifests: &atomic.Pointer[priority.Queue]{}}
			if !tc.stopped {
				r.manifests.Store(&q)
			}
			res, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "n", Name: tc.config}})
			if (err != nil) != tc.err || res.RequeueAfter != tc.again || tc.connections.changed != tc.changed {
				t.Errorf("\n%s\nReconcile(...): got %v, %v, %d changes", tc.reason, res, err, tc.connections.changed)
			}
			var queued []string
			for q.Len() > 0 {
				req, _ := q.Get()
				queued = append(queued, req.Name)
			}
			slices.Sort(queued)
			if diff := cmp.Diff(tc.queued, queued); diff != "" {
				t.Errorf("\n%s\nqueued: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.users, tc.connections.users); diff != "" {
				t.Errorf("\n%s\nusers: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
