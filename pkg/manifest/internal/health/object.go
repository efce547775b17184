// SPDX-License-Identifier: Apache-2.0

package health

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// statusless contains the kinds whose objects are ready as soon as they exist, so their metadata is enough.
var statusless = map[schema.GroupKind]bool{ //nolint:gochecknoglobals // A constant table.
	{Kind: "ConfigMap"}:      true,
	{Kind: "Secret"}:         true,
	{Kind: "ServiceAccount"}: true,
	{Kind: "LimitRange"}:     true,
	{Kind: "ResourceQuota"}:  true,
	{Kind: "Endpoints"}:      true,
	{Kind: "PodTemplate"}:    true,

	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:               true,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:        true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: true,

	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}: true,
	{Group: "networking.k8s.io", Kind: "IngressClass"}:  true,
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}: true,
	{Group: "storage.k8s.io", Kind: "StorageClass"}:     true,
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:        true,
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:        true,
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:  true,
	{Group: "coordination.k8s.io", Kind: "Lease"}:       true,

	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}:   true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:     true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   true,
}

// NeedsStatus reports whether the readiness of an object of a kind depends on more than its metadata.
func NeedsStatus(gk schema.GroupKind) bool {
	return !statusless[gk]
}

// StateOf returns the state of an object. The manager is the field manager of the engine.
func StateOf(manager string, u *unstructured.Unstructured) cluster.ObjectState {
	s := metadataState(manager, u, u.GetManagedFields())
	s.Status, s.Message = statusOf(u)
	s.Outcome, s.Reason = outcomeOf(u)
	s.Message, s.Reason = text.Excerpt(s.Message), text.Excerpt(s.Reason)
	if u.GroupVersionKind().GroupKind() == object.CRDKind {
		s.Content = Content(u)
	}
	return s
}

// Content returns a hash of an object without its metadata. That of a CRD does not depend on its status either.
func Content(u *unstructured.Unstructured) (hash [6]byte) {
	without := []string{"metadata"}
	if u.GroupVersionKind().GroupKind() == object.CRDKind {
		without = append(without, "status")
	}
	rest := make(map[string]any, len(u.Object))
	for k, v := range u.Object {
		if !slices.Contains(without, k) {
			rest[k] = v
		}
	}
	b, err := json.Marshal(rest)
	if err != nil {
		return hash
	}
	sum := sha256.Sum256(b)
	return [6]byte(sum[:])
}

// MetadataStateOf returns the state of an object of a kind for which NeedsStatus is false.
func MetadataStateOf(manager string, m *metav1.PartialObjectMetadata) cluster.ObjectState {
	return metadataState(manager, m, m.ManagedFields)
}

func metadataState(manager string, o metav1.Object, managed []metav1.ManagedFieldsEntry) cluster.ObjectState {
	s := cluster.ObjectState{
		UID:             string(o.GetUID()),
		ResourceVersion: o.GetResourceVersion(),
		Set:             o.GetLabels()[object.LabelPartOf],
		Owned:           fieldset.Hash(fieldset.AppliedBy(manager, managed)),
		Keep:            object.Keeps(o.GetAnnotations()),
		Status:          cluster.Current,
	}
	if s.Set == "" {
		s.Set = o.GetLabels()[object.LabelApplySetID]
	}
	if o.GetDeletionTimestamp() != nil {
		s.Status, s.Message = cluster.Terminating, text.Excerpt(Terminating(o))
	}
	return s
}

// Terminating returns the message for an object that is being deleted, with the finalizers that it waits for.
func Terminating(o metav1.Object) string {
	if f := o.GetFinalizers(); len(f) > 0 {
		return "is being deleted, waiting for finalizer " + strings.Join(f, ", ")
	}
	return "is being deleted"
}

// statusOf returns the kstatus of an object, and a message. Messages contain no times, so that equal states are equal.
func statusOf(u *unstructured.Unstructured) (cluster.Status, string) {
	if u.GetDeletionTimestamp() != nil {
		return cluster.Terminating, Terminating(u)
	}
	if !NeedsStatus(u.GroupVersionKind().GroupKind()) {
		return cluster.Current, ""
	}
	if u.GroupVersionKind().GroupKind() == apiServiceKind {
		return apiServiceStatus(u)
	}
	r, err := status.Compute(u)
	if err != nil {
		return cluster.InProgress, "cannot evaluate the status: " + text.OneLine(err.Error())
	}
	switch r.Status {
	case status.CurrentStatus, status.UnknownStatus, status.NotFoundStatus:
		return cluster.Current, ""
	case status.FailedStatus:
		return cluster.Failed, message(u, r.Message)
	case status.TerminatingStatus:
		return cluster.Terminating, Terminating(u)
	case status.InProgressStatus:
		return cluster.InProgress, message(u, r.Message)
	}
	return cluster.InProgress, message(u, r.Message)
}

var apiServiceKind = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"} //nolint:gochecknoglobals // Constant.

// apiServiceStatus returns the status of an APIService, which is ready once its server responds. kstatus does not evaluate its
// condition.
func apiServiceStatus(u *unstructured.Unstructured) (cluster.Status, string) {
	conditions, _, err := unstructured.NestedSlice(u.Object, "status", "conditions")
	if err != nil {
		return cluster.InProgress, "cannot evaluate the status: " + text.OneLine(err.Error())
	}
	for _, c := range conditions {
		m, ok := c.(map[string]any)
		if !ok || m["type"] != "Available" {
			continue
		}
		if m["status"] == "True" {
			return cluster.Current, ""
		}
		return cluster.InProgress, text.OneLine(fmt.Sprintf("not available: %v: %v", m["reason"], m["message"]))
	}
	return cluster.InProgress, "not available yet"
}

// message returns the reason why an object is not ready. For Deployments and StatefulSets, it contains the replicas in the same
// form as kubectl.
func message(u *unstructured.Unstructured, fallback string) string {
	gk := u.GroupVersionKind().GroupKind()
	if gk.Group != "apps" || (gk.Kind != "Deployment" && gk.Kind != "StatefulSet") {
		return text.OneLine(fallback)
	}
	want := int64(1)
	if n, ok, err := unstructured.NestedInt64(u.Object, "spec", "replicas"); ok && err == nil {
		want = n
	}
	field := map[string]string{"Deployment": "availableReplicas", "StatefulSet": "readyReplicas"}[gk.Kind]
	have, _, err := unstructured.NestedInt64(u.Object, "status", field)
	if err != nil || have >= want {
		return text.OneLine(fallback)
	}
	m := fmt.Sprintf("%d of %d replicas available", have, want)
	if c := failedCondition(u); c != "" {
		m += ": " + c
	}
	return m
}

// failedCondition returns the message of the condition that explains why a workload has too few pods, or an empty string if there
// is none.
func failedCondition(u *unstructured.Unstructured) string {
	conditions, _, err := unstructured.NestedSlice(u.Object, "status", "conditions")
	if err != nil {
		return ""
	}
	for _, c := range conditions {
		m, ok := c.(map[string]any)
		if !ok {
			continue
		}
		failing := m["type"] == "ReplicaFailure" && m["status"] == "True"
		stuck := m["type"] == "Progressing" && m["status"] == "False"
		if why, ok := m["message"].(string); ok && (failing || stuck) {
			return text.OneLine(why)
		}
	}
	return ""
}
