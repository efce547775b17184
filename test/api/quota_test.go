// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// quotaPrefix begins the name of a limit for the number of objects of one resource.
const quotaPrefix = "count/"

// TestTenantQuota applies the example that limits what a tenant can create, and checks that the API server refuses one more
// object of each of our kinds.
func TestTenantQuota(t *testing.T) {
	quota := documents(t, filepath.Join(root, "examples", "tenant-quota.yaml"))[0]
	const namespace = "quota"
	namespaces := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	space := object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}")
	if _, err := namespaces.Create(t.Context(), space, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	quotas := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}).Namespace(namespace)
	quota.SetNamespace(namespace)
	created, err := quotas.Create(t.Context(), quota, metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := quotas.Delete(context.Background(), quota.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	hard, _, err := unstructured.NestedStringMap(created.Object, "spec", "hard")
	if err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason, kind, spec string
	}{
		"manifests": {
			reason: "The number of Manifests can be limited, because each one requires a worker.", kind: "Manifest",
			spec: "{forProvider: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}}",
		},
		"kymas": {reason: "A Kyma creates Manifests.", kind: "Kyma", spec: "{forProvider: {modules: []}}"},
		"providerconfigs": {
			reason: "The number of ProviderConfigs can be limited, because each one requires a connection.", kind: "ProviderConfig",
			spec: "{credentials: {source: Secret, secretRef: {name: x, key: kubeconfig}}}",
		},
	}
	for resource, tc := range cases {
		t.Run(tc.kind, func(t *testing.T) {
			name := quotaPrefix + resource + "." + group
			limit := hard[name]
			if limit == "" {
				t.Fatalf("\n%s\nthe example has no limit %s: %v", tc.reason, name, hard)
			}
			r := client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).Namespace(namespace)
			o := object(t, "{apiVersion: "+group+"/"+version+", kind: "+tc.kind+", metadata: {name: x}, spec: "+tc.spec+"}")

			use(t, quotas, created, name, "0")
			if got := createUntil(t, r, o, ""); got != "" {
				t.Errorf("\n%s\nan unused quota refuses it: %s", tc.reason, got)
			}
			use(t, quotas, created, name, limit)
			if got, want := createUntil(t, r, o, "exceeded quota"), "limited: "+name+"="+limit; !strings.Contains(got, want) {
				t.Errorf("\n%s\nwant a refusal that contains %q, got %q", tc.reason, want, got)
			}
		})
	}
}

// use sets the number of objects that count toward a limit of a quota, as the controller manager does, which does not run here.
func use(t *testing.T, quotas dynamic.ResourceInterface, quota *unstructured.Unstructured, name, used string) {
	t.Helper()
	hard, _, err := unstructured.NestedMap(quota.Object, "spec", "hard")
	if err != nil {
		t.Fatal(err)
	}
	now, err := quotas.Get(t.Context(), quota.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set(t, now, fields{"status": map[string]any{"hard": hard, "used": map[string]any{name: used}}})
	if _, err := quotas.UpdateStatus(t.Context(), now, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// createUntil creates an object in a dry run until the error contains a text, or until there is none if the text is empty,
// because an API server takes a moment to enforce a quota. It returns the last error as text.
func createUntil(t *testing.T, r dynamic.ResourceInterface, o *unstructured.Unstructured, refusal string) string {
	t.Helper()
	text := ""
	_ = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		_, err := r.Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if text = ""; err != nil {
			text = err.Error()
		}
		return refusal == "" && text == "" || refusal != "" && strings.Contains(text, refusal), nil
	})
	return text
}
