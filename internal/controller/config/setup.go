// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/sharding"
)

// A kind is one of the kinds of configs.
type kind struct {
	name, group string
	gvk         schema.GroupVersionKind
	list        client.ObjectList
	// fresh returns an empty config and its status.
	fresh func() (resource.ProviderConfig, *v1alpha1.ProviderConfigStatus)
}

func kinds() []kind {
	return []kind{{
		name: v1alpha1.ProviderConfigKind, group: v1alpha1.ProviderConfigGroupKind,
		gvk: v1alpha1.ProviderConfigGroupVersionKind, list: &v1alpha1.ProviderConfigList{},
		fresh: func() (resource.ProviderConfig, *v1alpha1.ProviderConfigStatus) {
			c := &v1alpha1.ProviderConfig{}
			return c, &c.Status
		},
	}, {
		name: v1alpha1.ClusterProviderConfigKind, group: v1alpha1.ClusterProviderConfigGroupKind,
		gvk: v1alpha1.ClusterProviderConfigGroupVersionKind, list: &v1alpha1.ClusterProviderConfigList{},
		fresh: func() (resource.ProviderConfig, *v1alpha1.ProviderConfigStatus) {
			c := &v1alpha1.ClusterProviderConfig{}
			return c, &c.Status
		},
	}}
}

// Setup adds the controllers that keep a ProviderConfig or ClusterProviderConfig from being deleted while it is used, and
// that report whether its cluster is reachable. shards decides which of them this replica reconciles.
func Setup(ctx context.Context, mgr ctrl.Manager, o controller.Options, attempts *Attempts, shards *sharding.Shards) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.ProviderConfigUsage{}, indexUsages, nameOfConfig); err != nil {
		return errors.Wrap(err, "cannot index ProviderConfigUsages")
	}
	for _, k := range kinds() {
		if err := setup(mgr, o, k, shards); err != nil {
			return err
		}
		if err := setupReachable(mgr, o, k, shards, &reachable{attempts: attempts, kind: k.name, fresh: k.fresh}); err != nil {
			return err
		}
	}
	return nil
}

func setup(mgr ctrl.Manager, o controller.Options, k kind, shards *sharding.Shards) error {
	name := providerconfig.ControllerName(k.group)
	r := providerconfig.NewReconciler(usageManager{mgr}, resource.ProviderConfigKinds{
		Config:    k.gvk,
		Usage:     v1alpha1.ProviderConfigUsageGroupVersionKind,
		UsageList: v1alpha1.ProviderConfigUsageListGroupVersionKind,
	},
		providerconfig.WithLogger(o.Logger.WithValues("controller", name)),
		providerconfig.WithRecorder(settings.ForCrossplane(settings.Recorder(mgr, name))))
	object, _ := k.fresh()
	err := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		For(object).
		Watches(&v1alpha1.ProviderConfigUsage{}, &resource.EnqueueRequestForProviderConfig{Kind: k.name}).
		WatchesRawSource(shards.Queue(k.list)).
		Complete(shards.Limit(r, object, nil))
	return errors.Wrapf(err, "cannot set up controller %s", name)
}
