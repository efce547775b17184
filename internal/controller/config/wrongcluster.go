// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
)

// checkCluster returns the condition of a config whose cluster has the UID: WrongCluster if a Manifest that uses the config is installed in
// another cluster, and otherwise the given one. The Manifests record the UID of their cluster, regardless of the config.
func (r *reachable) checkCluster(ctx context.Context, o client.Object, uid string, c xpv2.Condition) (xpv2.Condition, error) {
	if uid == "" {
		return c, nil
	}
	l := &v1alpha1.ManifestList{}
	if err := r.client.List(ctx, l, UsersOf(o), client.UnsafeDisableDeepCopy); err != nil {
		return c, errors.Wrapf(err, "cannot list the Manifests of %s", r.kind)
	}
	name, is := "", ""
	for i := range l.Items {
		m := &l.Items[i]
		if key := client.ObjectKeyFromObject(m).String(); isInOtherCluster(m, uid) && (name == "" || key < name) {
			name, is = key, m.Status.AtProvider.ClusterUID
		}
	}
	if name == "" {
		return c, nil
	}
	c.Status, c.Reason = corev1.ConditionFalse, v1alpha1.ReasonWrongCluster
	c.Message = conditions.Truncate(fmt.Sprintf("the credentials are for the cluster with UID %s, but Manifest %s is installed in the cluster with UID %s: "+
		"restore the credentials, or, to continue in the other cluster, set the annotation %s of the Manifest to %s",
		uid, name, is, v1alpha1.AnnotationClusterChanged, uid), conditions.MaxMessage)
	return c, nil
}

// isInOtherCluster reports whether a Manifest is installed in a different cluster than the one with a UID, and must not move there.
func isInOtherCluster(m *v1alpha1.Manifest, uid string) bool {
	is := m.Status.AtProvider.ClusterUID
	return is != "" && is != uid && m.Annotations[v1alpha1.AnnotationClusterChanged] != uid
}
