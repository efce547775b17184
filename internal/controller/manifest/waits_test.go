// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/target/connection"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// An unready cluster cannot be used at the moment.
type unready struct {
	cluster.Cluster

	err error
}

// Identity returns an empty string.
func (*unready) Identity() string { return "" }

// Ready returns the error.
func (u *unready) Ready() error { return u.err }

// TestUnreachableIsQuiet checks that a pass over a Manifest whose cluster cannot be used sends no requests to registries or
// clusters, reads no values, and reports the reason only once.
func TestUnreachableIsQuiet(t *testing.T) {
	away := &transport.NotConnectedError{State: transport.Unreachable, Message: "API server x: connection refused"}
	said := func(m *v1alpha1.Manifest) {
		report := &reporter{recorder: &recorded{}}
		mark(m, xpv2.ReconcileError(report.failure(m, away)))
	}
	type want struct {
		quiet   bool
		message string
	}
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		err    error
		want   want
	}{
		"Connecting": {
			reason: "While the first probe is in progress, nothing is reported.", mr: named("n", "m", uses("there")), err: &transport.NotConnectedError{Message: "connecting"}, want: want{quiet: true},
		},
		"Busy": {
			reason: "If the API server throttles requests, nothing is reported.", mr: named("n", "m", uses("there")), err: &transport.ThrottledError{After: time.Second}, want: want{quiet: true},
		},
		"Unreachable": {
			reason: "The message reports why the cluster cannot be reached.", mr: named("n", "m", uses("there")), err: away, want: want{message: away.Message},
		},
		"Said": {
			reason: "The same reason is not reported again.", mr: named("n", "m", uses("there"), said), err: away, want: want{quiet: true, message: away.Message},
		},
		"Otherwise": {
			reason: "A different reason is reported again.", mr: named("n", "m", uses("there"), said),
			err: &transport.NotConnectedError{State: transport.Unauthorized, Message: "401"}, want: want{message: "401"},
		},
		"Removed": {
			reason: "A removal waits for the cluster in the same way.", mr: named("n", "m", uses("there"), deleted),
			err: &transport.NotConnectedError{Message: "connecting"}, want: want{quiet: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pc, asked := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "there"}}, 0
			pc.Spec.Verification = asks(v1alpha1.VerificationEnforce)
			c := &connector{
				client:   fake.NewClientBuilder().WithScheme(schemeOf(t)).WithObjects(pc).Build(),
				usage:    tracker(func() error { return nil }),
				verifier: verifierFn(func() error { asked++; return nil }),
				clusters: &mockClusters{
					get:  func() (cluster.Cluster, error) { return &unready{err: tc.err}, nil },
					last: func() (cluster.Cluster, bool) { return nil, false },
				},
				engine: &mockEngine{}, record: &recorded{}, requeuer: requeue.New(t.Context().Done()), memory: &checkpoint.Memory{},
			}
			e, err := c.Connect(t.Context(), tc.mr)
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Observe(t.Context(), tc.mr)
			if err == nil || !errors.Is(err, tc.err) && !tc.want.quiet && err.Error() != tc.err.Error() {
				t.Errorf("\n%s\nObserve(...): want %v, got %v", tc.reason, tc.err, err)
			}
			if asked > 0 {
				t.Errorf("\n%s\nConnect(...): want no request to a registry, got %d", tc.reason, asked)
			}
			got := want{quiet: kerrors.IsConflict(err), message: tc.mr.Status.AtProvider.Message}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

var _ prioritized = &connection.Cluster{}

// recordedConnection records what prioritize does.
type recordedConnection struct {
	cluster.Cluster

	priority int
	kept     bool
}

func (c *recordedConnection) SetPriority(priority int) { c.priority = priority }
func (c *recordedConnection) Keep()                    { c.kept = true }

// TestPrioritize checks which reconciles keep the watches of a cluster.
func TestPrioritize(t *testing.T) {
	cases := map[string]struct {
		reason   string
		priority int
		want     bool
	}{
		"User":    {reason: "A user has changed something.", priority: priority.User, want: true},
		"Install": {reason: "Something is new.", priority: priority.Install, want: true},
		"Rollout": {reason: "A new version is installed.", priority: priority.Rollout, want: true},
		"State":   {reason: "An event can have any reason. A change by another client keeps the watches itself.", priority: priority.State},
		"Resync":  {reason: "A poll changes nothing.", priority: priority.Resync},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := &recordedConnection{}
			c := &connector{priorityOf: func(types.NamespacedName) int { return tc.priority }}
			c.prioritize(got, types.NamespacedName{Namespace: "n", Name: "m"})
			if got.priority != tc.priority || got.kept != tc.want {
				t.Errorf("\n%s\nprioritize(...): want %t, got %t with priority %d", tc.reason, tc.want, got.kept, got.priority)
			}
		})
	}
}
