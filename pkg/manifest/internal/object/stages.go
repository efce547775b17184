// SPDX-License-Identifier: Apache-2.0

package object

import "k8s.io/apimachinery/pkg/runtime/schema"

// A Stage is a group of objects. The engine applies stages in order and deletes them in reverse order.
type Stage int

// These are the stages in the order in which they are applied. The engine waits only after StageCRDs, until the CRDs are
// established.
const (
	StageNamespaces Stage = iota
	StageCRDs
	StageConfiguration
	StageWorkloads
	StageWebhooks
	StageResource
)

// Stages lists all stages in the order in which they are applied.
var Stages = []Stage{StageNamespaces, StageCRDs, StageConfiguration, StageWorkloads, StageWebhooks, StageResource} //nolint:gochecknoglobals // Constant.

// stageOfKind maps kinds to stages. All other kinds are in StageWorkloads.
var stageOfKind = map[schema.GroupKind]Stage{ //nolint:gochecknoglobals // A constant table.
	{Kind: "Namespace"}: StageNamespaces,
	CRDKind:             StageCRDs,

	{Kind: "ConfigMap"}:             StageConfiguration,
	{Kind: "Secret"}:                StageConfiguration,
	{Kind: "ServiceAccount"}:        StageConfiguration,
	{Kind: "Service"}:               StageConfiguration,
	{Kind: "PersistentVolume"}:      StageConfiguration,
	{Kind: "PersistentVolumeClaim"}: StageConfiguration,
	{Kind: "LimitRange"}:            StageConfiguration,
	{Kind: "ResourceQuota"}:         StageConfiguration,

	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:               StageConfiguration,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        StageConfiguration,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:        StageConfiguration,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: StageConfiguration,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:              StageConfiguration,
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:              StageConfiguration,
	{Group: "storage.k8s.io", Kind: "StorageClass"}:                  StageConfiguration,

	// The API server calls these, so they follow the workloads that serve them.
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: StageWebhooks,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   StageWebhooks,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                           StageWebhooks,
}

// CRDKind is the kind of CRDs.
var CRDKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"} //nolint:gochecknoglobals // Constant.

// StageOf returns the stage of a kind.
func StageOf(gk schema.GroupKind) Stage {
	if s, ok := stageOfKind[gk]; ok {
		return s
	}
	return StageWorkloads
}
