// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"math/rand/v2"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/sharding"
)

// Options contains the options of the controller of a kind of managed resource.
type Options struct {
	controller.Options

	// Timeout is the timeout of one pass.
	Timeout time.Duration
	// MinPollInterval is the shortest interval that an annotation can request.
	MinPollInterval time.Duration
	// Priorities decides which reconciles wait for others.
	Priorities *priority.Tracker
	// Running receives the priorities of the objects that are being reconciled. It is nil if no one needs to know.
	Running *priority.Running
	// Gate decides which objects that leave the queue are reconciled now. It is nil if all are.
	Gate priority.Gate
	// Shards decides which objects this replica reconciles. It is nil if it reconciles all.
	Shards *sharding.Shards
	// PollJitter is the maximum share of the poll interval, from 0 to 1, by which a poll comes sooner or later.
	PollJitter float64
	// Queued is called for each object that leaves the queue of a controller, with the name of its priority and how long it waited
	// since it was due. It is nil if no one needs to know.
	Queued func(controller, priority string, waited time.Duration)
}

// Controller returns the options of a controller.
func (o *Options) Controller() ctrlcontroller.Options {
	out := ctrlcontroller.Options{MaxConcurrentReconciles: o.MaxConcurrentReconciles, RateLimiter: ratelimiter.NewController()}
	if o.Queued != nil {
		out.NewQueue = priority.NewQueue(o.Queued, o.Running, o.Gate)
	}
	return out
}

// Reconciler returns the options of the managed reconciler of a controller. The caller must add its connector and its poll
// interval hook.
func (o *Options) Reconciler(name string, record event.Recorder) []managed.ReconcilerOption {
	out := []managed.ReconcilerOption{
		managed.WithInitializers(), // Observe or Create sets the external name, with what is written anyhow.
		managed.WithDeterministicExternalName(true),
		managed.WithCreationGracePeriod(0),
		managed.WithTimeout(o.Timeout),
		managed.WithPollInterval(o.PollInterval),
		managed.WithMinPollInterval(o.MinPollInterval),
		managed.WithLogger(o.Logger.WithValues("controller", name)),
		managed.WithRecorder(ForCrossplane(record)),
	}
	if o.Features.Enabled(feature.EnableBetaManagementPolicies) {
		out = append(out, managed.WithManagementPolicies())
	}
	if o.ChangeLogOptions != nil {
		out = append(out, managed.WithChangeLogger(o.ChangeLogOptions.ChangeLogger))
	}
	return out
}

// IsFirstUpdate reports whether Update of an external client can perform the first install of a managed resource, instead of Create.
// Observe must then set the external name, and report that the resource exists and is not up to date. Around Create, the managed
// reconciler writes the resource three times, and once more its status. Before Update, it only adds the finalizer, together with
// what Observe has set. It writes nothing if the finalizer exists, so the external name must exist too then. Create remains for
// resources whose policies do not allow both.
func IsFirstUpdate(mr resource.Managed, name string, create, update bool) bool {
	unwritten := meta.FinalizerExists(mr, managed.FinalizerName) && meta.GetExternalName(mr) != name
	return create && update && !unwritten
}

// Recorder returns the event recorder of a controller. It uses the older of two APIs, because the permissions that Crossplane
// grants a provider cover only events of the core group. The message of a warning ends with where its reason is explained.
func Recorder(mgr ctrl.Manager, name string) event.Recorder {
	return &linkingRecorder{Recorder: event.NewAPIRecorder(mgr.GetEventRecorderFor(name))}
}

// Spread makes an interval longer or shorter by a random amount, at most by a share of it from 0 to 1.
func Spread(d time.Duration, share float64) time.Duration {
	return d + time.Duration((rand.Float64()*2-1)*share*float64(d)) //nolint:gosec // Jitter need not be secret.
}
