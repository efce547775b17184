// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// kinds returns the kinds that the chart can contain, except ClusterProviderConfigs, which are never deleted, and Deployments, which
// always exist.
func kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"),
		rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
		rbacv1.SchemeGroupVersion.WithKind("ClusterRole"),
		rbacv1.SchemeGroupVersion.WithKind("Role"),
		{Group: "monitoring.coreos.com", Version: "v1", Kind: "PodMonitor"},
		policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
		networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"),
		corev1.SchemeGroupVersion.WithKind("Service"),
		corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		corev1.SchemeGroupVersion.WithKind("ServiceAccount"),
	}
}

// prune deletes the objects of an earlier installation that are not part of this one, such as those of a value that was switched off.
func (i *installation) prune(ctx context.Context, a *apply.Applier) error {
	for _, kind := range kinds() {
		left, err := i.leftovers(ctx, a.Plane, kind)
		if err != nil {
			return err
		}
		for n := range left {
			if err := remove(ctx, a, &left[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

func remove(ctx context.Context, a *apply.Applier, u *unstructured.Unstructured) error {
	uid := u.GetUID()
	options := []client.DeleteOption{client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground)}
	if a.DryRun {
		options = append(options, client.DryRunAll)
	}
	err := a.Plane.Client.Delete(ctx, u, options...)
	if err != nil && !notfound.Is(err) {
		return errors.Wrapf(notfound.Explain(err), "cannot delete %s", apply.ObjectOf(u).Words())
	}
	return a.Report.Add(apply.ObjectOf(u), apply.Deleted)
}
