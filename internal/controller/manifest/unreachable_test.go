// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	runtimefake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/share"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func TestUnreachable(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Refused":      {"The cluster does not respond.", &transport.UnreachableError{Reason: "connection refused"}, true},
		"Page":         {"A different server responds.", &notfound.Error{}, true},
		"Interrupted":  {"Nothing was sent, because each connection was closed.", engine.InterruptedError{}, true},
		"Unauthorized": {"The credentials are rejected.", kerrors.NewUnauthorized("no"), true},
		"Late":         {"A request did not end in time.", context.DeadlineExceeded, true},
		"Wrong":        {"A different cluster responds.", &engine.WrongClusterError{}, true},
		"Conflict":     {"The cluster responds.", kerrors.NewConflict(schema.GroupResource{}, "name", nil), false},
		"Other":        {"Any other error has nothing to do with the connection.", errors.New("boom"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := unreachable(errors.Wrap(tc.err, "cannot apply")); got != tc.want {
				t.Errorf("%s unreachable(%v) = %t, want %t", tc.reason, tc.err, got, tc.want)
			}
		})
	}
}

// reconcilerOf returns the reconciler of Manifests with a client, a cluster that returns an error from Ready, and a poll interval.
func reconcilerOf(tb testing.TB, c client.Client, ready func() error, poll time.Duration) reconcile.Reconciler {
	tb.Helper()
	conn := &connector{
		client: c,
		usage:  tracker(func() error { return nil }),
		clusters: &mockClusters{
			get:  func() (cluster.Cluster, error) { return &unready{err: ready()}, nil },
			last: func() (cluster.Cluster, bool) { return nil, false },
		},
		engine: &mockEngine{}, record: &recorded{}, requeuer: requeue.New(tb.Context().Done()), memory: &checkpoint.Memory{},
	}
	o := Options{Options: settings.Options{Timeout: time.Minute}}
	o.PollInterval, o.Logger, o.Features = poll, logging.NewNopLogger(), &feature.Flags{}
	shares := share.New(1, func(nn client.ObjectKey) { tb.Errorf("%s waits for a worker", nn) }, func(client.ObjectKey) time.Duration { return 0 })
	m := &runtimefake.Manager{Client: c, Scheme: c.Scheme()}
	r := managed.NewReconciler(m, resource.ManagedKind(v1alpha1.ManifestGroupVersionKind), reconcilerOptions(o, conn, shares, conn.record, "test")...)
	return pacing(o, r)
}

// runFor processes a queue for some time, as a controller does, and returns the number of passes.
func runFor(d time.Duration, r reconcile.Reconciler, nn client.ObjectKey) int {
	q := workqueue.NewTypedRateLimitingQueue(ratelimiter.NewController())
	q.Add(reconcile.Request{NamespacedName: nn})
	time.AfterFunc(d, q.ShutDown)
	for n := 0; ; n++ {
		req, done := q.Get()
		if done {
			return n
		}
		switch res, err := r.Reconcile(context.Background(), req); {
		case err == nil && res.RequeueAfter > 0:
			q.Forget(req)
			q.AddAfter(req, res.RequeueAfter)
		case err != nil || res.Requeue: //nolint:staticcheck // The managed reconciler returns it.
			q.AddRateLimited(req)
		}
		q.Done(req)
	}
}

// unreachableManifest returns a client with a Manifest and its config.
func unreachableManifest(tb testing.TB) (client.Client, client.ObjectKey) {
	tb.Helper()
	mr := named("n", "m", uses("there"))
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "there"}}
	c := fake.NewClientBuilder().WithScheme(schemeOf(tb)).WithObjects(mr, pc).WithStatusSubresource(mr).Build()
	return c, client.ObjectKeyFromObject(mr)
}

// TestUnreachableRests checks that a Manifest whose cluster is not reachable is not retried before the next poll, because the connection
// queues it, and neither is one that waits for the first probe, which says nothing.
func TestUnreachableRests(t *testing.T) {
	const poll, hours, least, most = 10 * time.Minute, 10, 55, 65
	cases := map[string]struct {
		reason string
		err    error
		// silent is true if the Manifest must not report the error.
		silent bool
	}{
		"Unreachable":  {reason: "A Manifest of an unreachable cluster is only polled, because the connection probes the cluster.", err: &transport.NotConnectedError{State: transport.Unreachable, Message: "refused"}},
		"Unauthorized": {reason: "A Manifest of a cluster that rejects the credentials is only polled, because the connection probes the cluster.", err: &transport.NotConnectedError{State: transport.Unauthorized, Message: "401"}},
		"Connecting":   {reason: "The connection queues the Manifest after the first probe, whatever its result.", err: &transport.NotConnectedError{Message: "connecting"}, silent: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, nn := unreachableManifest(t)
				r := reconcilerOf(t, c, func() error { return tc.err }, poll)
				if got := runFor(hours*time.Hour, r, nn); got < least || got > most {
					t.Errorf("\n%s\nwant %d to %d passes in %d hours, got %d", tc.reason, least, most, hours, got)
				}
				mr := &v1alpha1.Manifest{}
				if err := c.Get(t.Context(), nn, mr); err != nil {
					t.Fatal(err)
				}
				said := map[bool]string{false: tc.err.Error()}[tc.silent]
				if diff := cmp.Diff(said, mr.Status.AtProvider.Message); diff != "" {
					t.Errorf("\n%s\nmessage: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// BenchmarkUnreachable measures a whole pass over a Manifest whose cluster is not reachable, with a client that reads from memory.
func BenchmarkUnreachable(b *testing.B) {
	away := &transport.NotConnectedError{State: transport.Unreachable, Message: "API server x: connection refused"}
	c, nn := unreachableManifest(b)
	r := reconcilerOf(b, c, func() error { return away }, time.Hour)
	for b.Loop() {
		if _, err := r.Reconcile(b.Context(), reconcile.Request{NamespacedName: nn}); err != nil {
			b.Fatal(err)
		}
	}
}
