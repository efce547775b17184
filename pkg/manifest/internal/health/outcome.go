// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// outcomeOf returns the outcome of an object, and the reason if it failed.
func outcomeOf(u *unstructured.Unstructured) (cluster.Outcome, string) {
	switch u.GroupVersionKind().GroupKind() {
	case JobKind:
		return outcomeOfJob(u)
	case PodKind:
		phase, _, err := unstructured.NestedString(u.Object, "status", "phase")
		if err != nil {
			return cluster.OutcomeNone, "" // Ignore a malformed status.
		}
		switch corev1.PodPhase(phase) {
		case corev1.PodSucceeded:
			return cluster.OutcomeSucceeded, ""
		case corev1.PodFailed:
			return cluster.OutcomeFailed, "failed"
		case corev1.PodPending, corev1.PodRunning, corev1.PodUnknown:
		}
	}
	return cluster.OutcomeNone, ""
}

// outcomeOfJob returns the outcome of a Job according to its conditions, and the reason if it failed.
func outcomeOfJob(u *unstructured.Unstructured) (cluster.Outcome, string) {
	conditions, _, err := unstructured.NestedSlice(u.Object, "status", "conditions")
	if err != nil {
		return cluster.OutcomeNone, "" // Ignore a malformed status.
	}
	for _, c := range conditions {
		m, ok := c.(map[string]any)
		if !ok || m["status"] != "True" {
			continue
		}
		switch m["type"] {
		case string(batchv1.JobComplete):
			return cluster.OutcomeSucceeded, ""
		case string(batchv1.JobFailed):
			reason, _ := m["reason"].(string)
			message, _ := m["message"].(string)
			return cluster.OutcomeFailed, strings.TrimSuffix(text.Excerpt("failed: "+strings.TrimSuffix(reason+": "+message, ": ")), ":")
		}
	}
	return cluster.OutcomeNone, ""
}

// Kinds that hooks wait for. A hook of any other kind is complete as soon as it exists.
var (
	JobKind = schema.GroupKind{Group: "batch", Kind: "Job"} //nolint:gochecknoglobals // Constant.
	PodKind = schema.GroupKind{Kind: "Pod"}                 //nolint:gochecknoglobals // Constant.
)
