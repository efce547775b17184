// SPDX-License-Identifier: Apache-2.0

package gitopstest

import (
	"slices"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// These are the healths of Argo CD.
const (
	healthy     = "Healthy"
	progressing = "Progressing"
	degraded    = "Degraded"
	suspended   = "Suspended"
)

// kstatus returns the status of an object according to kstatus, which Flux, Config Sync and kpt use.
func kstatus(u *unstructured.Unstructured) (string, error) {
	res, err := status.Compute(u)
	if err != nil {
		return "", err
	}
	return string(res.Status), nil
}

// argoCD returns the health of an object according to the rule of Argo CD for all kinds of *.crossplane.io. The rule
// evaluates the conditions in the order of the list, and ignores generations.
func argoCD(u *unstructured.Unstructured) string {
	if u.GetDeletionTimestamp() != nil {
		return progressing
	}
	conditions := conditionsOf(u)
	if len(conditions) == 0 {
		return argoCDWithoutConditions(u)
	}
	for _, c := range conditions {
		kind, value := c["type"], c["status"]
		if value == "False" && (kind == "Synced" || kind == "LastAsyncOperation") {
			return degraded
		}
		decisive := []any{"Ready", "Healthy", "Offered", "Established", "ValidPipeline", "RevisionHealthy"}
		if value == "True" && slices.Contains(decisive, kind) {
			return healthy
		}
	}
	return progressing
}

// argoCDWithoutConditions evaluates the part of the rule for objects without conditions.
func argoCDWithoutConditions(u *unstructured.Unstructured) string {
	config := u.GetKind() == v1alpha1.ProviderConfigKind || u.GetKind() == v1alpha1.ClusterProviderConfigKind
	s, found, _ := unstructured.NestedMap(u.Object, "status")
	_, used := s["users"]
	switch {
	case !found, used && config, len(s) == 0 && (config || u.GetKind() == v1alpha1.ProviderConfigUsageKind):
		return healthy
	}
	return progressing
}

// conditionsOf returns the conditions of an object.
func conditionsOf(u *unstructured.Unstructured) []map[string]any {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	out := make([]map[string]any, 0, len(all))
	for _, c := range all {
		if m, ok := c.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}
