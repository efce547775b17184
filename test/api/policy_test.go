// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// TestPolicyOfUsers applies the example that restricts which users can use which ClusterProviderConfig.
func TestPolicyOfUsers(t *testing.T) {
	resources := map[string]string{
		"ValidatingAdmissionPolicy": "validatingadmissionpolicies", "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
		"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings",
	}
	editor := object(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: policy-editor}
rules: [{apiGroups: [kyma.m.crossplane.io], resources: [kymas, manifests, clusterproviderconfigs], verbs: ["*"]}]
`)
	create := func(namespace string, o *unstructured.Unstructured, resource string) {
		t.Helper()
		gv := o.GroupVersionKind().GroupVersion()
		r := client.Resource(gv.WithResource(resource)).Namespace(namespace)
		if _, err := r.Create(t.Context(), o, metav1.CreateOptions{FieldValidation: "Strict"}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	create("", editor, "clusterroles")
	// All users have all permissions for the provider's kinds in the namespace, because a RoleBinding must not affect the
	// result.
	create(metav1.NamespaceDefault, object(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: policy-editors}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: policy-editor}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:authenticated"}]
`), "rolebindings")
	for _, o := range documents(t, filepath.Join(root, "examples", "rbac", "use-clusterproviderconfigs.yaml")) {
		create("", o, resources[o.GetKind()])
	}

	const denied = "may not use ClusterProviderConfig"
	cases := map[string]struct {
		reason       string
		groups       []string
		config, kind string
		want         string
	}{
		"Allowed":        {reason: "The team may use the config that its role names.", groups: []string{"team-a"}, config: "shared-cluster", kind: "ClusterProviderConfig"},
		"OtherConfig":    {reason: "A team cannot use another ClusterProviderConfig.", groups: []string{"team-a"}, config: "control-plane", kind: "ClusterProviderConfig", want: denied + " control-plane"},
		"OtherTeam":      {reason: "Another team cannot use the ClusterProviderConfig.", groups: []string{"team-b"}, config: "shared-cluster", kind: "ClusterProviderConfig", want: denied + " shared-cluster"},
		"Default":        {reason: "A reference that is left out is the default one.", groups: []string{"team-b"}, want: denied + " default"},
		"ProviderConfig": {reason: "A ProviderConfig is that of the namespace.", groups: []string{"team-b"}, config: "own", kind: "ProviderConfig"},
		"Crossplane":     {reason: "Crossplane and the provider act for others.", groups: []string{"system:serviceaccounts:crossplane-system"}, config: "control-plane", kind: "ClusterProviderConfig"},
	}
	for _, kind := range []string{"Kyma", "Manifest"} {
		for name, tc := range cases {
			t.Run(kind+name, func(t *testing.T) {
				o := object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, metadata: {name: x}, spec: {forProvider: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}}}`)
				if kind == "Kyma" {
					o = object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, metadata: {name: x}, spec: {forProvider: {modules: []}}}`)
				}
				o.SetKind(kind)
				if tc.config != "" {
					set(t, o, fields{"spec.providerConfigRef": map[string]any{"kind": tc.kind, "name": tc.config}})
				}
				got := createAs(t, o, tc.groups, tc.want)
				if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
					t.Errorf("\n%s\nwant %q, got %q", tc.reason, tc.want, got)
				}
			})
		}
	}
}

// createAs is createUntil for a user with groups. An API server takes a moment to enforce a new policy, too.
func createAs(t *testing.T, o *unstructured.Unstructured, groups []string, refusal string) string {
	t.Helper()
	cfg := rest.CopyConfig(server.Config())
	cfg.Impersonate = rest.ImpersonationConfig{UserName: "user", Groups: append(groups, "system:authenticated")}
	c, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	plural := map[string]string{"Kyma": "kymas", "Manifest": "manifests"}[o.GetKind()]
	r := c.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural}).Namespace(metav1.NamespaceDefault)
	return createUntil(t, r, o, refusal)
}
