// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/lane"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
)

// Options of the controller.
type Options struct {
	settings.Options

	// ControlPlane is the name of the ClusterProviderConfig for modules whose target is the control plane.
	ControlPlane string
}

// Setup adds the controller of Kymas. The one of Manifests must have been set up before, as its index is used.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	name := managed.ControllerName(v1alpha1.KymaGroupKind)
	record := settings.Recorder(mgr, name)
	if err := index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	c := mgr.GetClient()
	f := &family{cache: c, server: mgr.GetAPIReader()}
	r := managed.NewReconciler(pinningManager{Manager: mgr}, resource.ManagedKind(v1alpha1.KymaGroupVersionKind), reconcilerOptions(o, &connector{
		client:       c,
		family:       f,
		usage:        resource.NewProviderConfigUsageTracker(c, &v1alpha1.ProviderConfigUsage{}),
		remover:      newRemover(c),
		record:       record,
		lanes:        o.Lanes,
		controlPlane: o.ControlPlane,
	}, record, name)...)
	w := &watches{client: c, lanes: o.Lanes}
	err := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(ctrlcontroller.Options{
			MaxConcurrentReconciles: o.MaxConcurrentReconciles,
			RateLimiter:             ratelimiter.NewController(),
		}).
		Watches(&v1alpha1.Kyma{}, w.kymas(), builder.WithPredicates(predicate.Or(resource.DesiredStateChanged(), letGo()))).
		Watches(&v1alpha1.Manifest{}, w.manifests()).
		Watches(&v1alpha1.ModuleTemplate{}, lane.Behind(w.templates())).
		Watches(&v1alpha1.ProviderConfig{}, lane.Behind(w.configs()), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.ClusterProviderConfig{}, lane.Behind(w.configs()), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(lane.Polls(&handOn{
			Reconciler: r, client: c, family: f, record: record, lanes: o.Lanes,
			policies: o.Features.Enabled(feature.EnableBetaManagementPolicies), poll: o.PollInterval,
		}, later))
	return errors.Wrapf(err, "cannot set up controller %s", name)
}

func reconcilerOptions(o Options, c *connector, record event.Recorder, name string) []managed.ReconcilerOption {
	return append(o.Reconciler(name, record),
		managed.WithTypedExternalConnector(settings.Limited[*v1alpha1.Kyma](c, o.Timeout)),
		managed.WithPollIntervalHook(spread(o.PollJitter)))
}

// spread the polls. Events tell of every change, so that a Kyma that is not ready needs no shorter interval.
func spread(jitter float64) managed.PollIntervalHook {
	return func(_ resource.Managed, poll time.Duration) time.Duration {
		return settings.Spread(poll, jitter)
	}
}
