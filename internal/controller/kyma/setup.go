// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/cached"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/timeout"
)

// Options contains the options of the controller.
type Options struct {
	settings.Options

	// ControlPlane is the name of the ClusterProviderConfig for modules whose target is the control plane.
	ControlPlane string
}

// Setup adds the controller of Kymas. Call it after the Setup of the controller of Manifests, whose index it reads.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	name := managed.ControllerName(v1alpha1.KymaGroupKind)
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	kymas := cached.Of(mgr.GetCache(), &v1alpha1.Kyma{})
	if err := kymas.Index(ctx, IndexModules, moduleNames); err != nil {
		return err
	}
	client := mgr.GetClient()
	c := &connector{
		store:        newStore(client, mgr.GetAPIReader()),
		usage:        resource.NewProviderConfigUsageTracker(client, &v1alpha1.ProviderConfigUsage{}),
		record:       settings.Recorder(mgr, name),
		priorities:   o.Priorities,
		controlPlane: o.ControlPlane,
		policies:     o.Features.Enabled(feature.EnableBetaManagementPolicies),
		// A change log distinguishes creations from updates.
		firstUpdate: o.ChangeLogOptions == nil,
	}
	p := &propagator{connector: c, Finalizer: resource.NewAPIFinalizer(client, managed.FinalizerName), poll: o.PollInterval}
	p.managed = managed.NewReconciler(mgr, resource.ManagedKind(v1alpha1.KymaGroupVersionKind), append(o.Reconciler(name, c.record),
		managed.WithTypedExternalConnector(timeout.Limited[*v1alpha1.Kyma](c, o.Timeout)),
		managed.WithFinalizer(p),
		// A Kyma that is not Ready needs no shorter interval, because every change causes an event.
		managed.WithPollIntervalHook(func(_ resource.Managed, poll time.Duration) time.Duration {
			return settings.Spread(poll, o.PollJitter)
		}))...)
	w := &watches{client: client, fleet: kymas, priorities: o.Priorities}
	configs, configChanged := priority.RolloutHandler(w.usersOfConfig), builder.WithPredicates(o.Shards.ConfigChanged())
	err := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(o.Controller()).
		Watches(&v1alpha1.Kyma{}, w.kymas(), builder.WithPredicates(predicate.Not(firstWrite()), predicate.Or(resource.DesiredStateChanged(), finalizerRemoved()))).
		Watches(&v1alpha1.Manifest{}, w.manifests()).
		Watches(&v1alpha1.ModuleTemplate{}, priority.RolloutHandler(w.usersOfTemplate), builder.WithPredicates(templateUpdates())).
		Watches(&v1alpha1.ModuleReleaseMeta{}, w.releases(), builder.WithPredicates(afterStart())).
		Watches(&v1alpha1.RolloutPolicy{}, priority.RolloutHandler(w.usersOfPolicy), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.ProviderConfig{}, configs, configChanged).
		Watches(&v1alpha1.ClusterProviderConfig{}, configs, configChanged).
		WatchesRawSource(o.Shards.Queue(&v1alpha1.KymaList{})).
		Complete(o.Shards.Limit(priority.ResyncPolls(p, later), &v1alpha1.Kyma{}, func(nn types.NamespacedName) {
			o.Priorities.RemoveEdit(nn, o.Priorities.LastEdit(nn).Number)
		}))
	return errors.Wrapf(err, "cannot set up controller %s", name)
}
