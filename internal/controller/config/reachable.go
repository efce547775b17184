// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/sharding"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target"
	"github.com/crossplane-contrib/provider-kyma/internal/target/connection"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

const (
	// soon is the time that the cache needs to receive the write of another client.
	soon = 250 * time.Millisecond
	// minInterval is the minimum time between two changes of Reachable, so that an unstable connection does not cause a write each time.
	minInterval = 5 * time.Second
)

// writers is the maximum number of configs whose status is written at the same time. When thousands of clusters become unreachable at once, the
// users of the others share the API server with these writes.
const writers = 4

// maxEndpoint is the maximum length of an endpoint in the API.
const maxEndpoint = 512

// recheckAfter is the time after which the Manifests of a config that leads to a different cluster are read again, and after which the
// connection is asked again if it was closed, or if the last known cluster was a different one and the request for the UID failed.
const recheckAfter = 10 * time.Second

// version matches a valid version of a cluster, because a cluster can answer with any text.
var version = regexp.MustCompile(`^[0-9A-Za-z.+~_-]{1,64}$`)

// A reachable reports in the status of the configs of one kind whether their clusters can be reached. It sends no requests to a cluster:
// the connection requests what is unknown, and queues the configs afterwards. Otherwise, many clusters that answer only probes would
// occupy all workers.
type reachable struct {
	client   client.Client
	attempts *Attempts
	kind     string
	fresh    func() (resource.ProviderConfig, *v1alpha1.ProviderConfigStatus)
	record   event.Recorder
	log      logging.Logger
	now      func() time.Time
}

func setupReachable(mgr ctrl.Manager, o controller.Options, k kind, shards *sharding.Shards, r *reachable) error {
	name := "reachable/" + strings.ToLower(r.kind) + "." + v1alpha1.Group
	r.client, r.record, r.now = mgr.GetClient(), settings.Recorder(mgr, name), time.Now
	r.log = o.Logger.WithValues("controller", name)
	object, _ := r.fresh()
	err := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(ctrlcontroller.Options{MaxConcurrentReconciles: min(writers, o.MaxConcurrentReconciles), RateLimiter: ratelimiter.NewController()}).
		For(object).
		WatchesRawSource(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			r.attempts.listen(r.kind, func(n types.NamespacedName) { q.Add(reconcile.Request{NamespacedName: n}) })
			return nil
		})).
		WatchesRawSource(shards.Queue(k.list)).
		Complete(shards.Limit(r, object, nil))
	return errors.Wrapf(err, "cannot set up controller %s", name)
}

// Reconcile updates the status of a config.
func (r *reachable) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	o, s := r.fresh()
	if err := r.client.Get(ctx, req.NamespacedName, o); err != nil {
		return reconcile.Result{}, errors.Wrapf(notfound.Ignore(err), "cannot get %s", r.kind)
	}
	before := s.DeepCopy()
	at, used := r.attempts.of(key{kind: r.kind, name: req.NamespacedName})
	switch {
	case used:
		wait, err := r.report(ctx, o, s, at)
		if wait > 0 || err != nil {
			return reconcile.Result{RequeueAfter: wait}, err
		}
	case s.Users == 0:
		clearReachable(s)
	}
	again := reconcile.Result{}
	if s.GetCondition(v1alpha1.TypeReachable).Reason == v1alpha1.ReasonWrongCluster {
		// No event of the connection follows when the Manifests have moved.
		again.RequeueAfter = recheckAfter
	}
	if equality.Semantic.DeepEqual(before, s) {
		return again, nil
	}
	err := r.client.Status().Update(ctx, o)
	if kerrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	if err != nil {
		return reconcile.Result{}, errors.Wrapf(notfound.Ignore(err), "cannot update the status of %s", r.kind)
	}
	if reachableChanged(before, s) {
		r.logChange(o, before, s)
		if e, ok := eventOf(before, s); ok {
			r.record.Event(o, e)
		}
	}
	return again, nil
}

// logChange writes a line to the log for a change of Reachable. The duration is that of the previous state. The field cluster has the same value in
// the lines about changes of modules.
func (r *reachable) logChange(o client.Object, before, after *v1alpha1.ProviderConfigStatus) {
	was, is := before.GetCondition(v1alpha1.TypeReachable), after.GetCondition(v1alpha1.TypeReachable)
	fields := []any{
		"kind", r.kind, "namespace", o.GetNamespace(), "name", o.GetName(),
		"cluster", r.kind + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"), "uid", after.ClusterUID, "endpoint", after.Endpoint,
		"from", string(was.Reason), "to", string(is.Reason),
	}
	if !was.LastTransitionTime.IsZero() {
		fields = append(fields, "duration", r.now().Sub(was.LastTransitionTime.Time).Round(time.Second).String())
	}
	r.log.Info("Connection changed", fields...)
}

// report sets the result of an attempt in the status. If the status changed a moment ago, report changes nothing and returns
// how long to wait. It reports nothing about a connection that has not been used, or whose cluster is not known yet.
func (r *reachable) report(ctx context.Context, o client.Object, s *v1alpha1.ProviderConfigStatus, at attempt) (time.Duration, error) {
	answer, ok := conditionOf(at)
	if !ok {
		return 0, nil
	}
	uid, answer, ok, wait := identify(s, at, answer)
	if !ok {
		return wait, nil
	}
	c, err := r.checkCluster(ctx, o, uid, answer)
	if err != nil {
		return 0, err
	}
	before := s.GetCondition(v1alpha1.TypeReachable)
	if age := r.now().Sub(before.LastTransitionTime.Time); before.Status != corev1.ConditionUnknown && before.Status != c.Status && age < minInterval {
		return minInterval - age, nil
	}
	describe(s, at, answer, uid)
	ready := readyOf(c)
	c.LastTransitionTime, ready.LastTransitionTime = metav1.NewTime(r.now()), metav1.NewTime(r.now())
	conditions.Mark(&s.ConditionedStatus, at.generation, c)
	conditions.MarkReady(&s.ConditionedStatus, at.generation, ready, isStalled(at, c))
	return 0, nil
}

// describe sets the endpoint, the UID and the version of the cluster of an attempt in the status, as far as they are known.
func describe(s *v1alpha1.ProviderConfigStatus, at attempt, answer xpv2.Condition, uid string) {
	endpoint := endpointOf(at)
	if endpoint != s.Endpoint {
		s.Endpoint, s.KubernetesVersion, s.ClusterUID = endpoint, "", ""
	}
	if uid != "" {
		s.ClusterUID = uid
	}
	if v := versionOf(at.connection, answer); v != "" {
		s.KubernetesVersion = v
	}
}

// readyOf returns the condition Ready for a condition Reachable.
func readyOf(c xpv2.Condition) xpv2.Condition {
	ready := xpv2.Available().WithMessage(c.Message)
	if c.Status != corev1.ConditionTrue {
		ready.Status, ready.Reason = c.Status, c.Reason
	}
	return ready
}

// endpointOf returns the host of a connection, or an empty string without one.
func endpointOf(at attempt) string {
	if at.connection == nil {
		return ""
	}
	_, host, _ := strings.Cut(at.connection.Host(), "://")
	return conditions.Truncate(host, maxEndpoint)
}

// isStalled reports whether a cluster stays unreachable until someone changes the config or its credentials. This is not the
// case if the cluster does not respond, because it can respond later, or if a Secret does not exist, because it can be created
// after the config.
func isStalled(at attempt, c xpv2.Condition) bool {
	if c.Reason == v1alpha1.ReasonInvalidCredentials {
		missing := (*target.MissingSecretError)(nil)
		return !errors.As(at.err, &missing)
	}
	return c.Reason == v1alpha1.ReasonUnauthorized || c.Reason == v1alpha1.ReasonWrongCluster
}

// versionOf returns the version of a reachable cluster, or an empty string if it is unknown.
func versionOf(connection Connection, c xpv2.Condition) string {
	if c.Status != corev1.ConditionTrue {
		return ""
	}
	if v := connection.LastVersion(); version.MatchString(v) {
		return v
	}
	return ""
}

// identify returns the UID of the cluster of an attempt, or an empty string if it is unknown, and the condition. It returns false if there
// is nothing to report, and after which time to try again, or 0 if the connection queues the config. This is the case while the UID is
// being requested, after the connection was closed, because its last outcome says nothing about the one that replaces it, and if the last
// known cluster was the wrong one, and the request for the UID failed.
func identify(s *v1alpha1.ProviderConfigStatus, at attempt, c xpv2.Condition) (string, xpv2.Condition, bool, time.Duration) {
	if c.Status != corev1.ConditionTrue {
		return "", c, true, 0
	}
	uid, known, err := at.connection.LastUID()
	replaced := (*connection.ReplacedError)(nil)
	switch {
	case !known:
		return "", c, false, 0
	case errors.As(err, &replaced):
		// The next pass over a Manifest opens another connection.
		c.Status, c.Reason = corev1.ConditionFalse, v1alpha1.ReasonUnreachable
		c.Message = conditions.Truncate(replaced.Error(), conditions.MaxMessage)
		return "", c, true, 0
	case errors.Is(err, transport.ErrClosed), err != nil && s.GetCondition(v1alpha1.TypeReachable).Reason == v1alpha1.ReasonWrongCluster:
		return "", c, false, recheckAfter
	}
	return uid, c, true, 0
}

// conditionOf returns the condition for an attempt, and whether there is anything to report.
func conditionOf(at attempt) (xpv2.Condition, bool) {
	c := xpv2.Condition{Type: v1alpha1.TypeReachable, Status: corev1.ConditionFalse}
	if at.err != nil {
		c.Reason, c.Message = v1alpha1.ReasonInvalidCredentials, conditions.Truncate(at.err.Error(), conditions.MaxMessage)
		return c, true
	}
	o := at.connection.Outcome()
	c.Message = conditions.Truncate(o.Message, conditions.MaxMessage)
	switch o.State {
	case transport.Connected:
		c.Status, c.Reason = corev1.ConditionTrue, v1alpha1.ReasonConnected
	case transport.Unauthorized:
		c.Reason = v1alpha1.ReasonUnauthorized
	case transport.Unreachable:
		c.Reason = v1alpha1.ReasonUnreachable
	case transport.Unknown, transport.WrongCluster, transport.Parked:
		return c, false
	}
	return c, true
}

// clearReachable removes from the status the fields that are known only while a config is used. GitOps tools treat a config
// without conditions as healthy; if a condition were Unknown, they would wait for a resource that uses the config.
func clearReachable(s *v1alpha1.ProviderConfigStatus) {
	s.Endpoint, s.KubernetesVersion, s.ClusterUID = "", "", ""
	conditions.ClearStalled(&s.ConditionedStatus)
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c xpv2.Condition) bool {
		return c.Type == v1alpha1.TypeReachable || c.Type == xpv2.TypeReady
	})
}

// reachableChanged reports whether Reachable has another known value.
func reachableChanged(before, after *v1alpha1.ProviderConfigStatus) bool {
	was, is := before.GetCondition(v1alpha1.TypeReachable), after.GetCondition(v1alpha1.TypeReachable)
	return is.Status != corev1.ConditionUnknown && (was.Status != is.Status || was.Reason != is.Reason)
}

// eventOf returns the event for a change of Reachable, and whether there is one. A cluster that responds the first time causes none: nothing has
// to be done, and a large fleet would create an event for each cluster.
func eventOf(before, after *v1alpha1.ProviderConfigStatus) (event.Event, bool) {
	was, is := before.GetCondition(v1alpha1.TypeReachable), after.GetCondition(v1alpha1.TypeReachable)
	switch {
	case is.Status != corev1.ConditionTrue:
		return event.Warning(event.Reason(is.Reason), errors.New(is.Message)), true
	case was.Status == corev1.ConditionUnknown:
		return event.Event{}, false
	}
	return event.Normal(event.Reason(is.Reason), is.Message), true
}
