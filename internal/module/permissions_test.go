// SPDX-License-Identifier: Apache-2.0

package module

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

func TestPermissions(t *testing.T) {
	all := []string{"get", "list", "watch", "create", "patch", "delete"}
	rule := func(group string, verbs []string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Verbs: verbs, Resources: resources}
	}
	named := func(verb, resource string, names ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{groupRBAC}, Verbs: []string{verb}, Resources: []string{resource}, ResourceNames: names}
	}
	object := func(apiVersion, kind, name string, more map[string]any) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		maps.Copy(o.Object, more)
		o.SetAPIVersion(apiVersion)
		o.SetKind(kind)
		o.SetName(name)
		return o
	}
	crd := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "geese.farm.example.org", map[string]any{
		"spec": map[string]any{"group": "farm.example.org", "names": map[string]any{"kind": "Goose", "plural": "geese"}},
	})
	crds := rule("apiextensions.k8s.io", all, "customresourcedefinitions")
	binding := func(kind, name, refKind, ref string) *unstructured.Unstructured {
		return object("rbac.authorization.k8s.io/v1", kind, name, map[string]any{"roleRef": map[string]any{"kind": refKind, "name": ref}})
	}
	cases := map[string]struct {
		reason  string
		objects []*unstructured.Unstructured
		want    []rbacv1.PolicyRule
		err     error
	}{
		"Nothing": {reason: "Without objects, no permissions are required.", want: []rbacv1.PolicyRule{}},
		"Kinds": {
			reason: "Resources of a group share a rule, however many objects there are and in whatever order.",
			objects: []*unstructured.Unstructured{
				object("v1", "Service", "a", nil), object("apps/v1", "Deployment", "a", nil), object("v1", "ConfigMap", "a", nil),
				object("v1", "Service", "b", nil), object("networking.k8s.io/v1", "Ingress", "a", nil),
				object("networking.k8s.io/v1", "NetworkPolicy", "a", nil),
			},
			want: []rbacv1.PolicyRule{
				rule("", all, "configmaps", "services"), rule("apps", all, "deployments"),
				rule("networking.k8s.io", all, "ingresses", "networkpolicies"),
			},
		},
		"Defined": {
			reason:  "A kind that the module defines uses the plural of its CRD.",
			objects: []*unstructured.Unstructured{crd},
			want:    []rbacv1.PolicyRule{crds, rule("farm.example.org", []string{"list"}, "geese")},
		},
		"CustomResource": {
			reason:  "The module's own custom resource is installed like everything else.",
			objects: []*unstructured.Unstructured{object("farm.example.org/v1", "Goose", "martin", nil), crd},
			want:    []rbacv1.PolicyRule{crds, rule("farm.example.org", all, "geese")},
		},
		"NotDefined": {
			reason:  "If the CRD is not part of the module, the plural is guessed.",
			objects: []*unstructured.Unstructured{object("monitoring.example.org/v1", "Policy", "a", nil)},
			want:    []rbacv1.PolicyRule{rule("monitoring.example.org", all, "policies")},
		},
		"RBAC": {
			reason: "The verbs escalate and bind are granted only for named roles.",
			objects: []*unstructured.Unstructured{
				object("rbac.authorization.k8s.io/v1", "ClusterRole", "b", nil), object("rbac.authorization.k8s.io/v1", "ClusterRole", "a", nil),
				object("rbac.authorization.k8s.io/v1", "Role", "r", nil),
				binding("ClusterRoleBinding", "x", "ClusterRole", "a"), binding("RoleBinding", "y", "ClusterRole", "view"),
				binding("RoleBinding", "z", "Role", "r"),
			},
			want: []rbacv1.PolicyRule{
				rule(groupRBAC, all, "clusterrolebindings", "clusterroles", "rolebindings", "roles"),
				named("bind", "clusterroles", "a", "view"), named("escalate", "clusterroles", "a", "b"),
				named("bind", "roles", "r"), named("escalate", "roles", "r"),
			},
		},
		"NoKind": {
			reason:  "An object must have a kind.",
			objects: []*unstructured.Unstructured{object("v1", "", "a", nil)}, err: cmpopts.AnyError,
		},
		"NoRole": {
			reason:  "A binding must have a valid role reference.",
			objects: []*unstructured.Unstructured{binding("RoleBinding", "x", "", "")}, err: cmpopts.AnyError,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Permissions(tc.objects)
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("%s\nPermissions(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nPermissions(...): -want, +got:\n%s", tc.reason, diff)
			}
			turned := slices.Clone(tc.objects)
			slices.Reverse(turned)
			if again, _ := Permissions(turned); !cmp.Equal(got, again) {
				t.Errorf("%s\nPermissions(...) depends on the order: %s", tc.reason, cmp.Diff(got, again))
			}
		})
	}
}

// exampleHeader is the header of the example file.
const exampleHeader = `# SPDX-License-Identifier: Apache-2.0
# Permissions that the module template-operator needs in a target cluster, in addition to target-cluster.yaml. The
# file is generated from the objects of the module: go test ./internal/module -run TestExampleRole -update. See
# docs/permissions.md for why each verb is needed.
`

func TestExampleRole(t *testing.T) {
	root := filepath.Join("..", "..")
	var objects []*unstructured.Unstructured
	for _, name := range []string{"template-operator.yaml", "default-sample-cr.yaml"} {
		data, err := os.ReadFile(filepath.Join(root, "cluster", "local", "modules", "template-operator", name))
		if err != nil {
			t.Fatal(err)
		}
		read, err := yamldoc.Objects(data)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, read...)
	}
	role, err := Role("provider-kyma-template-operator", objects)
	if err != nil {
		t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(role)
	if err != nil {
		t.Fatal(err)
	}
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	want, err := yaml.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	want = append([]byte(exampleHeader), want...)
	file := filepath.Join(root, "examples", "rbac", "template-operator.yaml")
	if *update {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s is out of date, run this test with -update: -want, +got:\n%s", file, cmp.Diff(string(want), string(got)))
	}
}
