// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestAPIService checks that an APIService is ready once its server responds. kstatus does not support this.
func TestAPIService(t *testing.T) {
	type want struct {
		Status  cluster.Status
		Message string
	}
	condition := func(status string) map[string]any {
		return map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": status, "reason": "MissingEndpoints", "message": "no endpoints"}}}
	}
	cases := map[string]struct {
		reason string
		status map[string]any
		want   want
	}{
		"Available":   {reason: "The server answers.", status: condition("True"), want: want{Status: cluster.Current}},
		"Unavailable": {reason: "The server does not answer.", status: condition("False"), want: want{Status: cluster.InProgress, Message: "not available: MissingEndpoints: no endpoints"}},
		"Unknown":     {reason: "It is not known whether the server answers.", status: condition("Unknown"), want: want{Status: cluster.InProgress, Message: "not available: MissingEndpoints: no endpoints"}},
		"New":         {reason: "The API server has not tried yet.", want: want{Status: cluster.InProgress, Message: "not available yet"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.example.org"},
			}}
			if tc.status != nil {
				u.Object["status"] = tc.status
			}
			s := StateOf("manager", u)
			if diff := cmp.Diff(tc.want, want{Status: s.Status, Message: s.Message}); diff != "" {
				t.Errorf("\n%s\nStateOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
