// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"math/rand/v2"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
)

// Options of the controller of a kind of managed resource.
type Options struct {
	controller.Options

	// Timeout of one pass.
	Timeout time.Duration
	// MinPollInterval is the shortest that an annotation may ask for.
	MinPollInterval time.Duration
	// Priorities say which reconciles wait for others.
	Priorities *priority.Tracker
	// PollJitter is the share of the poll interval, from 0 to 1, by which each poll comes sooner or later.
	PollJitter float64
}

// Reconciler returns the options of the managed reconciler of a controller, to which its connector and its poll interval
// hook have to be added.
func (o *Options) Reconciler(name string, record event.Recorder) []managed.ReconcilerOption {
	out := []managed.ReconcilerOption{
		managed.WithInitializers(), // Create sets the external name, with the annotations that it writes anyhow.
		managed.WithDeterministicExternalName(true),
		managed.WithCreationGracePeriod(0),
		managed.WithTimeout(o.Timeout),
		managed.WithPollInterval(o.PollInterval),
		managed.WithMinPollInterval(o.MinPollInterval),
		managed.WithLogger(o.Logger.WithValues("controller", name)),
		managed.WithRecorder(record),
	}
	if o.Features.Enabled(feature.EnableBetaManagementPolicies) {
		out = append(out, managed.WithManagementPolicies())
	}
	if o.MetricOptions != nil {
		out = append(out, managed.WithMetricRecorder(o.MetricOptions.MRMetrics))
	}
	if o.ChangeLogOptions != nil {
		out = append(out, managed.WithChangeLogger(o.ChangeLogOptions.ChangeLogger))
	}
	return out
}

// Recorder of events for a controller. It is the older one of two: the rights that Crossplane grants a provider are for
// events of the core group only.
func Recorder(mgr ctrl.Manager, name string) event.Recorder {
	return event.NewAPIRecorder(mgr.GetEventRecorderFor(name))
}

// Spread an interval: it gets longer or shorter, by at most a share of it from 0 to 1.
func Spread(d time.Duration, share float64) time.Duration {
	return d + time.Duration((rand.Float64()*2-1)*share*float64(d)) //nolint:gosec // Jitter need not be secret.
}
