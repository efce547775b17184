// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"context"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/sharding"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// Options contains the options of the controller.
type Options struct {
	controller.Options

	// Resolver reads component descriptors.
	Resolver Resolver
	// Keys lists the keys that verify signatures. Without keys, nothing is reported about signatures.
	Keys []ocm.Key
	// RegistryConfig is the name of the ClusterProviderConfig whose registries components may come from. Without it, they may
	// come from any registry, anonymously or with the docker configuration of the process.
	RegistryConfig string
	// Secrets reads the Secrets that the RegistryConfig names.
	Secrets config.Secrets
	// Access contains the permissions for registries that flags grant.
	Access config.Access
	// Shards decides which replica reconciles ModuleTemplates. It is nil if this replica does.
	Shards *sharding.Shards
	// Timeout is the timeout of one pass.
	Timeout time.Duration
}

// Setup adds the controller of ModuleTemplates.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	name := "moduletemplate/" + strings.ToLower(v1alpha1.ModuleTemplateGroupKind)
	if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.ModuleTemplate{}, indexRelease, releaseKeys); err != nil {
		return errors.Wrap(err, "cannot index ModuleTemplates")
	}
	record := settings.Recorder(mgr, name)
	regs := &registries{client: mgr.GetClient(), secrets: o.Secrets, clouds: o.Access, name: o.RegistryConfig}
	r := &reconciler{
		client:     mgr.GetClient(),
		resolver:   o.Resolver,
		registries: regs.load,
		keys:       newKeys(o.Keys),
		timeout:    o.Timeout,
		log:        o.Logger.WithValues("controller", name),
		record:     record,
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(ctrlcontroller.Options{
			MaxConcurrentReconciles: o.MaxConcurrentReconciles,
			RateLimiter:             ratelimiter.NewController(),
		}).
		For(&v1alpha1.ModuleTemplate{}, builder.WithPredicates(predicate.Or(resource.DesiredStateChanged(), resolutionLost()))).
		Watches(&v1alpha1.ModuleTemplate{}, (&siblings{client: mgr.GetClient()}).handler()).
		WatchesRawSource(o.Shards.Queue(&v1alpha1.ModuleTemplateList{})).
		Complete(o.Shards.Limit(r, &v1alpha1.ModuleTemplate{}, nil))
	return errors.Wrapf(err, "cannot set up controller %s", name)
}

// resolutionLost passes updates that removed the resolution from the status.
func resolutionLost() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(ctrlevent.CreateEvent) bool { return false },
		DeleteFunc:  func(ctrlevent.DeleteEvent) bool { return false },
		GenericFunc: func(ctrlevent.GenericEvent) bool { return false },
		UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*v1alpha1.ModuleTemplate)
			after, ok2 := e.ObjectNew.(*v1alpha1.ModuleTemplate)
			if !ok || !ok2 {
				return false
			}
			return before.Status.ResolvedGeneration != 0 && after.Status.ResolvedGeneration == 0 ||
				hasCondition(before, v1alpha1.TypeResolved) && !hasCondition(after, v1alpha1.TypeResolved)
		},
	}
}
