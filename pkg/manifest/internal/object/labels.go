// SPDX-License-Identifier: Apache-2.0

package object

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// AnnotationResourcePolicy with the value PolicyKeep prevents Helm from deleting an object. Charts set it.
const (
	AnnotationResourcePolicy = "helm.sh/resource-policy"
	PolicyKeep               = "keep"
)

// AnnotationKeptBy marks an object that stayed in the cluster when its bundle no longer contained it. Its value is the ID of the
// ApplySet, which may adopt the object again.
const AnnotationKeptBy = "kyma.m.crossplane.io/kept-by"

// AnnotationAdopted marks an object that stayed in the cluster because it existed before its bundle adopted it. Its value is the ID of
// the ApplySet. If the ApplySet adopts the object again, the object still counts as adopted.
const AnnotationAdopted = "kyma.m.crossplane.io/adopted"

// Keeps reports whether the annotations of an object contain the keep policy. It parses them as Helm does.
func Keeps(annotations map[string]string) bool {
	return strings.ToLower(strings.TrimSpace(annotations[AnnotationResourcePolicy])) == PolicyKeep
}

// These are the labels and annotations of the ApplySet specification, KEP-3659.
const (
	LabelApplySetID                = "applyset.kubernetes.io/id"
	LabelPartOf                    = "applyset.kubernetes.io/part-of"
	AnnotationTooling              = "applyset.kubernetes.io/tooling"
	AnnotationContainsGroupKinds   = "applyset.kubernetes.io/contains-group-kinds"
	AnnotationAdditionalNamespaces = "applyset.kubernetes.io/additional-namespaces"
)

// AnnotationOwner names the owner of a bundle in its inventory.
const AnnotationOwner = "kyma.m.crossplane.io/owner"

// Annotations of an inventory. AnnotationOwnerUID contains the UID of the owner of the bundle. AnnotationControlPlane contains
// UIDs of the control plane of the owner, separated by commas.
const (
	AnnotationOwnerUID     = "kyma.m.crossplane.io/owner-uid"
	AnnotationControlPlane = "kyma.m.crossplane.io/control-plane"
)

// LabelManagedBy is set on the inventory and on each object that the engine installs. Its value is Identity.ManagedBy.
const LabelManagedBy = "operator.kyma-project.io/managed-by"

// AnnotationRecreate with the value "true" on an installed object allows the engine to delete and recreate the object to change
// an immutable field.
const AnnotationRecreate = "kyma.m.crossplane.io/recreate"

// AnnotationHookRun is set on each hook that the engine creates. It identifies the hook within one run, so that the engine
// recognizes the hook even if it could not record the creation.
const AnnotationHookRun = "kyma.m.crossplane.io/hook-run"

// AddLabels adds labels to an object. It overwrites existing values.
func AddLabels(u *unstructured.Unstructured, labels map[string]string) {
	l := u.GetLabels()
	if l == nil {
		l = make(map[string]string, len(labels))
	}
	maps.Copy(l, labels)
	u.SetLabels(l)
}

// These are the annotations and the label by which Helm recognizes the objects of a release.
const (
	AnnotationReleaseName      = "meta.helm.sh/release-name"
	AnnotationReleaseNamespace = "meta.helm.sh/release-namespace"
	LabelHelmManagedBy         = "app.kubernetes.io/managed-by"
)

// AddRelease marks an object as part of a Helm release, as `helm install` does.
func AddRelease(u *unstructured.Unstructured, name, namespace string) {
	a := u.GetAnnotations()
	if a == nil {
		a = make(map[string]string, 2)
	}
	a[AnnotationReleaseName], a[AnnotationReleaseNamespace] = name, namespace
	u.SetAnnotations(a)
	AddLabels(u, map[string]string{LabelHelmManagedBy: "Helm"})
}
