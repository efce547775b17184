// SPDX-License-Identifier: Apache-2.0

package config

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
)

// Setup adds the controllers that keep a ProviderConfig or ClusterProviderConfig from being deleted while it is used, and
// that report whether its cluster is reachable.
func Setup(mgr ctrl.Manager, o controller.Options, attempts *Attempts) error {
	if err := setup(mgr, o, &v1alpha1.ProviderConfig{}, v1alpha1.ProviderConfigGroupKind, resource.ProviderConfigKinds{
		Config:    v1alpha1.ProviderConfigGroupVersionKind,
		Usage:     v1alpha1.ProviderConfigUsageGroupVersionKind,
		UsageList: v1alpha1.ProviderConfigUsageListGroupVersionKind,
	}); err != nil {
		return err
	}
	if err := setup(mgr, o, &v1alpha1.ClusterProviderConfig{}, v1alpha1.ClusterProviderConfigGroupKind, resource.ProviderConfigKinds{
		Config:    v1alpha1.ClusterProviderConfigGroupVersionKind,
		Usage:     v1alpha1.ProviderConfigUsageGroupVersionKind,
		UsageList: v1alpha1.ProviderConfigUsageListGroupVersionKind,
	}); err != nil {
		return err
	}
	for kind, fresh := range map[string]func() (client.Object, *v1alpha1.ProviderConfigStatus){
		v1alpha1.ProviderConfigKind: func() (client.Object, *v1alpha1.ProviderConfigStatus) {
			c := &v1alpha1.ProviderConfig{}
			return c, &c.Status
		},
		v1alpha1.ClusterProviderConfigKind: func() (client.Object, *v1alpha1.ProviderConfigStatus) {
			c := &v1alpha1.ClusterProviderConfig{}
			return c, &c.Status
		},
	} {
		if err := setupReachable(mgr, o, &reachable{attempts: attempts, kind: kind, fresh: fresh}); err != nil {
			return err
		}
	}
	return nil
}

func setup(mgr ctrl.Manager, o controller.Options, pc resource.ProviderConfig, groupKind string, kinds resource.ProviderConfigKinds) error {
	name := providerconfig.ControllerName(groupKind)
	r := providerconfig.NewReconciler(mgr, kinds,
		providerconfig.WithLogger(o.Logger.WithValues("controller", name)),
		providerconfig.WithRecorder(settings.ForCrossplane(settings.Recorder(mgr, name))))
	err := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		For(pc).
		Watches(&v1alpha1.ProviderConfigUsage{}, &resource.EnqueueRequestForProviderConfig{Kind: kinds.Config.Kind}).
		Complete(r)
	return errors.Wrapf(err, "cannot set up controller %s", name)
}
