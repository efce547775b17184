// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// statusless are the kinds whose objects are ready as soon as they exist, so that their metadata is enough to know.
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

// HasStatus says whether more than the metadata of an object is needed to tell whether it is ready.
func HasStatus(gk schema.GroupKind) bool {
	return !statusless[gk]
}

// Summarize an object.
func Summarize(u *unstructured.Unstructured) cluster.ObjectState {
	s := summarize(u, u.GetManagedFields())
	s.Status, s.Message = statusOf(u)
	s.Content = outcomeOf(u)
	if custom(u.GroupVersionKind().Group) {
		s.Content = content(u)
	}
	return s
}

// custom says whether the kinds of a group are custom resources. Those of Kubernetes are in groups without a dot, or
// below k8s.io.
func custom(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

func content(u *unstructured.Unstructured) string {
	rest := make(map[string]any, len(u.Object))
	for k, v := range u.Object {
		if k != "metadata" {
			rest[k] = v
		}
	}
	b, err := json.Marshal(rest)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// SummarizeMetadata of an object whose kind has no status.
func SummarizeMetadata(m *metav1.PartialObjectMetadata) cluster.ObjectState {
	return summarize(m, m.ManagedFields)
}

func summarize(o metav1.Object, managed []metav1.ManagedFieldsEntry) cluster.ObjectState {
	s := cluster.ObjectState{
		UID:             string(o.GetUID()),
		ResourceVersion: o.GetResourceVersion(),
		Set:             o.GetLabels()[LabelPartOf],
		Owned:           owned(managed),
		Keep:            keeps(o.GetAnnotations()),
		Status:          cluster.Current,
	}
	if s.Set == "" {
		s.Set = o.GetLabels()[LabelApplySetID]
	}
	if o.GetDeletionTimestamp() != nil {
		s.Status, s.Message = cluster.Terminating, terminating(o)
	}
	return s
}

// terminating says what an object that is being deleted waits for.
func terminating(o metav1.Object) string {
	if f := o.GetFinalizers(); len(f) > 0 {
		return "is being deleted and waits for finalizer " + strings.Join(f, ", ")
	}
	return "is being deleted"
}

// ownedFields are the fields that were applied by us, nil for none.
func ownedFields(managed []metav1.ManagedFieldsEntry) *metav1.FieldsV1 {
	for i := range managed {
		e := &managed[i]
		if e.Manager == FieldManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			return e.FieldsV1
		}
	}
	return nil
}

// owned hashes our entry of managedFields. The entry is brought into one order first, as servers and decoders write it
// in different ones.
func owned(managed []metav1.ManagedFieldsEntry) string {
	f := ownedFields(managed)
	if f == nil {
		return ""
	}
	var fields any
	if err := json.Unmarshal(f.GetRawBytes(), &fields); err != nil {
		return ""
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// statusOf an object in the terms of kstatus. Messages carry no times, so that equal states compare equal.
func statusOf(u *unstructured.Unstructured) (cluster.Status, string) {
	if u.GetDeletionTimestamp() != nil {
		return cluster.Terminating, terminating(u)
	}
	if !HasStatus(u.GroupVersionKind().GroupKind()) {
		return cluster.Current, ""
	}
	r, err := status.Compute(u)
	if err != nil {
		return cluster.InProgress, "status cannot be read: " + oneLine(err.Error())
	}
	switch r.Status {
	case status.CurrentStatus, status.UnknownStatus, status.NotFoundStatus:
		return cluster.Current, ""
	case status.FailedStatus:
		return cluster.Failed, message(u, r.Message)
	case status.TerminatingStatus:
		return cluster.Terminating, terminating(u)
	case status.InProgressStatus:
		return cluster.InProgress, message(u, r.Message)
	}
	return cluster.InProgress, message(u, r.Message)
}

// message of an object that is not ready; for workloads in the words of kubectl.
func message(u *unstructured.Unstructured, fallback string) string {
	gk := u.GroupVersionKind().GroupKind()
	if gk.Group != "apps" || (gk.Kind != "Deployment" && gk.Kind != "StatefulSet") {
		return oneLine(fallback)
	}
	want := int64(1)
	if n, ok, err := unstructured.NestedInt64(u.Object, "spec", "replicas"); ok && err == nil {
		want = n
	}
	field := map[string]string{"Deployment": "availableReplicas", "StatefulSet": "readyReplicas"}[gk.Kind]
	have, _, err := unstructured.NestedInt64(u.Object, "status", field)
	if err != nil || have >= want {
		return oneLine(fallback)
	}
	m := fmt.Sprintf("%d of %d replicas available", have, want)
	if c := failedCondition(u); c != "" {
		m += ": " + c
	}
	return m
}

// failedCondition is the message of the condition that says why a workload does not get its pods.
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
		if text, ok := m["message"].(string); ok && (failing || stuck) {
			return oneLine(text)
		}
	}
	return ""
}

// oneLine makes a text fit for a condition.
func oneLine(s string) string {
	return strings.Join(strings.Fields(s), " ")
}
