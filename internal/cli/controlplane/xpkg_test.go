// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// crossplaneKind installs the CRD of a kind of Crossplane, without a controller.
func crossplaneKind(t testing.TB, kind schema.GroupVersionKind, plural string) {
	t.Helper()
	d := &unstructured.Unstructured{}
	err := yaml.Unmarshal(fmt.Appendf(nil, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  scope: Cluster
  names: {kind: %[3]s, plural: %[1]s}
  versions:
  - name: %[4]s
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, plural, kind.Group, kind.Kind, kind.Version), &d.Object)
	if err != nil {
		t.Fatal(err)
	}
	if err := plane.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	err = apply.Await(t.Context(), &command.Environment{}, kind.Kind, func(context.Context) (bool, string, error) {
		_, err := plane.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		return err == nil, "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Delete(context.Background(), d); err != nil {
			t.Error(err)
		}
	})
}

// TestPackage checks deploy and undeploy with a Crossplane package, in a control plane that has only the CRDs of Crossplane.
func TestPackage(t *testing.T) {
	wipe(t)
	const image = "registry.example.org/platform/provider-kyma:v1"
	args := []string{"-n", "package", "--in-cluster", "--package", image}
	policy := apply.Object{GroupVersionKind: policyKind(), Name: providerName}

	r := run(t, NewDeploy, args...)
	if command.CodeOf(r.err) != command.ExitNotFound || !strings.Contains(r.err.Error(), "the control plane does not run Crossplane 2") {
		t.Errorf("deploy --package without Crossplane: want exit code %d and why, got %v", command.ExitNotFound, r.err)
	}
	crossplaneKind(t, providerKind(), "providers")
	crossplaneKind(t, policyKind(), "managedresourceactivationpolicies")

	r = succeed(t, newDeploy, append(args, "--dry-run")...)
	if n := len(lines(r.out)["created (server dry run)"]); n != 5 || get(t, providerObject()) != nil {
		t.Errorf("deploy --package --dry-run: want 5 objects and nothing done, got\n%s", r.out)
	}

	timeOut(t, NewDeploy, "Provider provider-kyma: Crossplane has not reported a status yet", args...)
	if active, _, _ := unstructured.NestedStringSlice(mustGet(t, policy).Object, "spec", "activate"); len(active) != 6 {
		t.Errorf("deploy --package: want 6 kinds activated, got %v", active)
	}

	// Crossplane has installed the CRDs, but the package is not Healthy yet.
	defined(t)
	for _, o := range crdObjects(t) {
		patch(t, o, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null},"ownerReferences":[
			{"apiVersion":"pkg.crossplane.io/v1","kind":"ProviderRevision","name":"provider-kyma-1","uid":"1","controller":true},
			{"apiVersion":"pkg.crossplane.io/v1","kind":"Provider","name":"provider-kyma","uid":"2"}]}}`)
	}
	setCondition(t, providerObject(), "Installed", "False", "cannot unpack package: 404")
	timeOut(t, NewDeploy, "Provider provider-kyma to become Healthy: Installed: cannot unpack package: 404", args...)

	provider := mustGet(t, providerObject())
	provider.Object["status"] = map[string]any{"currentIdentifier": image, "conditions": []any{
		map[string]any{"type": "Installed", "status": "True"}, map[string]any{"type": "Healthy", "status": "True"},
	}}
	if err := plane.Status().Update(t.Context(), provider); err != nil {
		t.Fatal(err)
	}
	succeed(t, newDeploy, args...)
	objects := append(crdObjects(t), providerObject(), policy)
	before := state(t, objects...)

	r = succeed(t, newDeploy, "-n", "package")
	if !strings.Contains(r.said, "The CRDs belong to a package (ProviderRevision provider-kyma-1)") {
		t.Errorf("deploy besides a package: it does not say that it keeps the CRDs: %q", r.said)
	}
	succeed(t, newDeploy, args...)
	if diff := cmp.Diff(before, state(t, objects...)); diff != "" {
		t.Errorf("deploy besides a package: -before, +after:\n%s", diff)
	}

	for _, o := range crdObjects(t) {
		patch(t, o, `{"metadata":{"ownerReferences":[{"apiVersion":"pkg.crossplane.io/v1","kind":"Provider","name":"other","uid":"2"}]}}`)
	}
	r = run(t, NewDeploy, args...)
	if command.CodeOf(r.err) != command.ExitExists || !strings.Contains(r.err.Error(), "belongs to Provider other") {
		t.Errorf("deploy of a second package: want exit code %d and why, got %v", command.ExitExists, r.err)
	}

	got := actions(t, succeed(t, NewUndeploy, "-n", "package", "--crds", "-o", "json"))
	if got["CustomResourceDefinition kymas.kyma.m.crossplane.io"] != apply.Kept || got["Kyma package/default"] != apply.Deleted || got["ClusterProviderConfig control-plane"] != apply.Deleted {
		t.Errorf("undeploy --crds besides a package: want the CRDs kept, got %v", got)
	}
	got = actions(t, succeed(t, NewUndeploy, "-n", "package", "--package", "-o", "json"))
	if got["Provider provider-kyma"] != apply.Deleted || got["ManagedResourceActivationPolicy provider-kyma"] != apply.Deleted {
		t.Errorf("undeploy --package: want the package deleted, got %v", got)
	}
	got = actions(t, succeed(t, NewUndeploy, "-n", "package", "--package", "-o", "json"))
	if got["Provider provider-kyma"] != apply.Unchanged {
		t.Errorf("undeploy --package again: want it unchanged, got %v", got)
	}
}
