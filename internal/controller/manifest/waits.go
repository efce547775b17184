// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// checkReady returns an error if a cluster cannot be used now. It blocks a worker for at most a second, while a cluster that has been quiet can
// still respond to a ping.
func checkReady(c cluster.Cluster) error {
	if r, ok := c.(interface{ Ready() error }); ok {
		return r.Ready()
	}
	return nil
}

// prioritized is implemented by the connections of target.Pool.
type prioritized interface {
	SetPriority(priority int)
	Keep()
}

// prioritize gives the connection to a cluster the priority of a Manifest, in case that it has to be opened first. A Manifest that is not
// only polled keeps the watches of the cluster. What has changed in the cluster does so without it.
func (c *connector) prioritize(cluster cluster.Cluster, nn types.NamespacedName) {
	connection, ok := cluster.(prioritized)
	if !ok || c.priorityOf == nil {
		return
	}
	p := c.priorityOf(nn)
	connection.SetPriority(p)
	if p != priority.State && p > priority.Resync {
		connection.Keep()
	}
}

// A waitError reports that a connection failed because the cluster cannot be used at the moment.
type waitError struct{ error }

// waiting is the external client of a Manifest whose cluster cannot be used at the moment.
type waiting struct {
	managed.TypedExternalClient[*v1alpha1.Manifest]

	report *reporter
	after  func(time.Duration)
	err    error
}

// Observe reports why the Manifest waits. The connection queues the Manifest after the first probe, and when an unreachable cluster
// responds again.
func (w *waiting) Observe(ctx context.Context, mr *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	if n := (*transport.NotConnectedError)(nil); errors.As(w.err, &n) {
		requeue.StopRetries(ctx)
	}
	return managed.ExternalObservation{}, w.report.wait(ctx, mr, w.after, w.err)
}

// Disconnect does nothing.
func (*waiting) Disconnect(context.Context) error { return nil }

// wait is like failure, but reports nothing if the error only means that the Manifest waits, or if the status already contains
// the error about an unreachable cluster. The connection queues the Manifest when the cluster is reachable again.
func (r *reporter) wait(ctx context.Context, mr *v1alpha1.Manifest, after func(time.Duration), err error) error {
	if q := quietly(after, err); q != nil {
		requeue.StopRetries(ctx)
		return q
	}
	if n := (*transport.NotConnectedError)(nil); errors.As(err, &n) && r.says(mr, n) {
		return &requeue.QuietError{Err: n}
	}
	return r.failure(mr, transport.Explain(err))
}

// says reports whether the conditions of a Manifest already contain an error.
func (r *reporter) says(mr *v1alpha1.Manifest, err error) bool {
	is := mr.GetCondition(xpv2.TypeReady)
	return is.Status == corev1.ConditionFalse && is.Message == r.text(err.Error()) && is.ObservedGeneration == mr.Generation &&
		mr.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionFalse
}

// quietly returns nil unless an error only means that a Manifest waits. It queues the Manifest for the end of the wait, if that is known.
func quietly(after func(time.Duration), err error) error {
	if l := (*cluster.ListingError)(nil); errors.As(err, &l) {
		l.Notify(func() { after(0) })
		return &requeue.QuietError{Err: err}
	}
	if t := (*transport.ThrottledError)(nil); errors.As(err, &t) {
		after(t.After)
		return &requeue.QuietError{Err: err}
	}
	if n := (*transport.NotConnectedError)(nil); errors.As(err, &n) && n.State == transport.Unknown {
		return &requeue.QuietError{Err: err}
	}
	return nil
}

// isBusy reports whether an error only means that a rendering waits for others. Nothing is wrong with the Manifest, so it is not in state
// Error. Otherwise, a rollout would count a busy provider as a failure of the version.
func isBusy(err error) bool {
	e := (*sandbox.Error)(nil)
	return errors.As(err, &e) && e.Reason == sandbox.ReasonBusy
}
