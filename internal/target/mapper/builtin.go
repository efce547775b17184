// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// builtin contains the kinds that Kubernetes has served in these versions since 1.25. It excludes newer kinds and those
// that can be disabled, which require discovery.
var builtin = []struct { //nolint:gochecknoglobals // A constant table.
	gv         schema.GroupVersion
	namespaced string
	cluster    string
}{
	{
		gv: schema.GroupVersion{Version: "v1"},
		namespaced: "ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController " +
			"ResourceQuota Secret Service ServiceAccount",
		cluster: "Namespace Node PersistentVolume",
	},
	{
		gv: schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"},

		cluster: "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
	},
	{gv: schema.GroupVersion{Group: "apiextensions.k8s.io", Version: "v1"}, cluster: "CustomResourceDefinition"},
	{gv: schema.GroupVersion{Group: "apiregistration.k8s.io", Version: "v1"}, cluster: "APIService"},
	{
		gv:         schema.GroupVersion{Group: "apps", Version: "v1"},
		namespaced: "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
	},
	{gv: schema.GroupVersion{Group: "autoscaling", Version: "v1"}, namespaced: "HorizontalPodAutoscaler"},
	{gv: schema.GroupVersion{Group: "autoscaling", Version: "v2"}, namespaced: "HorizontalPodAutoscaler"},
	{gv: schema.GroupVersion{Group: "batch", Version: "v1"}, namespaced: "CronJob Job"},
	{gv: schema.GroupVersion{Group: "certificates.k8s.io", Version: "v1"}, cluster: "CertificateSigningRequest"},
	{gv: schema.GroupVersion{Group: "coordination.k8s.io", Version: "v1"}, namespaced: "Lease"},
	{gv: schema.GroupVersion{Group: "discovery.k8s.io", Version: "v1"}, namespaced: "EndpointSlice"},
	{
		gv:         schema.GroupVersion{Group: "networking.k8s.io", Version: "v1"},
		namespaced: "Ingress NetworkPolicy",
		cluster:    "IngressClass",
	},
	{gv: schema.GroupVersion{Group: "node.k8s.io", Version: "v1"}, cluster: "RuntimeClass"},
	{gv: schema.GroupVersion{Group: "policy", Version: "v1"}, namespaced: "PodDisruptionBudget"},
	{
		gv:         schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"},
		namespaced: "Role RoleBinding",
		cluster:    "ClusterRole ClusterRoleBinding",
	},
	{gv: schema.GroupVersion{Group: "scheduling.k8s.io", Version: "v1"}, cluster: "PriorityClass"},
	{
		gv:         schema.GroupVersion{Group: "storage.k8s.io", Version: "v1"},
		namespaced: "CSIStorageCapacity",
		cluster:    "CSIDriver CSINode StorageClass VolumeAttachment",
	},
}

// Builtin returns the mappings of the kinds that all clusters serve.
func Builtin() Table {
	all := Table{}
	add := func(gv schema.GroupVersion, kinds string, namespaced bool) {
		for kind := range strings.FieldsSeq(kinds) {
			gvk := gv.WithKind(kind)
			plural, _ := meta.UnsafeGuessKindToResource(gvk)
			all[gvk] = cluster.Mapping{Resource: plural.Resource, Namespaced: namespaced}
		}
	}
	for _, b := range builtin {
		add(b.gv, b.namespaced, true)
		add(b.gv, b.cluster, false)
	}
	return all
}
