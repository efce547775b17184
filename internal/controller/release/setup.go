// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/cached"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/sharding"
)

// Options contains the options of the controller.
type Options struct {
	controller.Options

	// Spread is how long a version without a RolloutPolicy takes to reach all Kymas.
	Spread time.Duration
	// Shards decides which replica reconciles ModuleReleaseMetas. It is nil if this replica does.
	Shards *sharding.Shards
}

// indexModule is the name of the index of ModuleReleaseMetas by module.
const indexModule = "released-module"

// Setup adds the controller of ModuleReleaseMetas. Call it after the Setup of the controller of Kymas, whose index it reads.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	name := "release/" + strings.ToLower(v1alpha1.ModuleReleaseMetaGroupKind)
	err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.ModuleReleaseMeta{}, indexModule, func(o client.Object) []string {
		m, _ := o.(*v1alpha1.ModuleReleaseMeta)
		return []string{m.Spec.ModuleName}
	})
	if err != nil {
		return errors.Wrap(err, "cannot index ModuleReleaseMetas")
	}
	r := &reconciler{
		client: mgr.GetClient(),
		fleet: fleet{
			kymas:          cached.Of(mgr.GetCache(), &v1alpha1.Kyma{}),
			configs:        cached.Of(mgr.GetCache(), &v1alpha1.ProviderConfig{}),
			clusterConfigs: cached.Of(mgr.GetCache(), &v1alpha1.ClusterProviderConfig{}),
		},
		spread: o.Spread, now: time.Now, record: settings.Recorder(mgr, name),
		log: o.Logger.WithValues("controller", name),
	}
	w := &watches{client: mgr.GetClient()}
	err = ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(ctrlcontroller.Options{MaxConcurrentReconciles: o.MaxConcurrentReconciles, RateLimiter: ratelimiter.NewController()}).
		For(&v1alpha1.ModuleReleaseMeta{}, builder.WithPredicates(resource.DesiredStateChanged())).
		Watches(&v1alpha1.ModuleReleaseMeta{}, w.siblings()).
		Watches(&v1alpha1.ModuleTemplate{}, w.templates()).
		Watches(&v1alpha1.RolloutPolicy{}, w.policies(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.Kyma{}, w.kymas()).
		WatchesRawSource(o.Shards.Queue(&v1alpha1.ModuleReleaseMetaList{})).
		Complete(o.Shards.Limit(r, &v1alpha1.ModuleReleaseMeta{}, nil))
	return errors.Wrapf(err, "cannot set up controller %s", name)
}
