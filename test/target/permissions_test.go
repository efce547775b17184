// SPDX-License-Identifier: Apache-2.0

package target

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

const (
	installer = "installer"
	operators = "template-operator-system"
)

// TestPermissions installs, repairs, changes and removes a real module and an additional chart, as a user with only the
// permissions in examples/rbac. No request must be denied, including watches.
func TestPermissions(t *testing.T) {
	clients, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	grantExamples(t, clients)
	as, err := server.User(installer)
	if err != nil {
		t.Fatal(err)
	}
	c, e := connect(t, as), manifest.New()

	s := templateOperator(t)
	reconcile(t, e, c, s)
	accounts := clients.CoreV1().ServiceAccounts(operators)
	const account = "template-operator-controller-manager"
	if err := accounts.Delete(t.Context(), account, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what was deleted is restored", func() bool {
		reconcile(t, e, c, s)
		_, err := accounts.Get(t.Context(), account, metav1.GetOptions{})
		return err == nil
	})
	s = templateOperator(t)
	// A change that only affects labels creates no revision.
	s.Labels, s.Installs[1].Values = map[string]string{"changed": "yes"}, map[string]any{"changed": "yes"}
	reconcile(t, e, c, s)
	takeAway(t, e, c, s, clients)

	requests := map[string]int{}
	for _, r := range c.asked() {
		requests[r]++
	}
	for _, r := range slices.Sorted(maps.Keys(requests)) {
		if strings.HasSuffix(r, " 403") || strings.HasSuffix(r, " 401") {
			t.Errorf("%d requests were refused: %s", requests[r], r)
		}
	}
	for _, verb := range []string{"PATCH 201", "PATCH 200", "POST 201", "PUT 200", "DELETE 200", "WATCH 200"} {
		if requests[verb] == 0 {
			t.Errorf("no request was %s, so that its right was not tested: %v", verb, requests)
		}
	}
}

// grantExamples grants the roles in the examples to the installer: the base permissions, and the permissions of this module. No
// controller aggregates roles here, so each of them is bound.
func grantExamples(t *testing.T, clients kubernetes.Interface) {
	t.Helper()
	rbac := clients.RbacV1()
	for _, file := range []string{"target-cluster.yaml", "template-operator.yaml"} {
		for _, o := range objectsIn(t, "examples", "rbac", file) {
			role := &rbacv1.ClusterRole{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, role); err != nil {
				t.Fatal(err)
			}
			if role.AggregationRule != nil {
				continue
			}
			if role.Labels[module.LabelAggregateToTarget] != "true" {
				t.Errorf("ClusterRole %s is not aggregated: it has no label %s", role.Name, module.LabelAggregateToTarget)
			}
			binding := &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: role.Name},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
				Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: installer}},
			}
			if _, err := rbac.ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := rbac.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// objectsIn returns the objects in a file of the repository.
func objectsIn(t *testing.T, path ...string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := yamldoc.Objects(contentOf(t, path...))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func contentOf(t *testing.T, path ...string) []byte {
	t.Helper()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// templateOperator returns the module of the demo, with an additional chart that has its own release and namespace.
func templateOperator(t *testing.T) *manifest.Bundle {
	t.Helper()
	dir := []string{"cluster", "local", "modules", "template-operator"}
	install := func(name string, form manifest.Form, files ...source.File) manifest.Install {
		return manifest.Install{
			Name: name, Form: form, Namespace: name + "-installed",
			Layer: source.Layer{Digest: name, Fetch: func(context.Context) (source.Content, error) {
				return source.Content{Digest: name, Files: func() ([]source.File, error) { return files, nil }}, nil
			}},
		}
	}
	s := &manifest.Bundle{
		Name: "permissions", Owner: "test",
		Installs: []manifest.Install{
			install("operator", manifest.FormPlain, source.File{Name: "all.yaml", Data: contentOf(t, append(dir, "template-operator.yaml")...)}),
			install("web", manifest.FormChart,
				source.File{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")},
				source.File{Name: "templates/service.yaml", Data: []byte("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n")}),
		},
		Resource: objectsIn(t, append(dir, "default-sample-cr.yaml")...)[0],
	}
	s.Resource.SetNamespace(metav1.NamespaceDefault)
	return s
}

// waits reports whether a controller would try again without a report: an API server returned 429, as it briefly does when it
// starts to serve a new kind, or kinds are being listed.
func waits(err error) bool {
	e, l := (*transport.ThrottledError)(nil), (*cluster.ListingError)(nil)
	return errors.As(err, &e) || errors.As(err, &l)
}

// reconcile performs steps until there is nothing left to do.
func reconcile(t *testing.T, e *manifest.Engine, c *connected, s *manifest.Bundle) {
	t.Helper()
	eventually(t, "the module is applied", func() bool {
		r, err := e.Apply(t.Context(), c, s)
		if err != nil && !waits(err) {
			t.Fatal(err)
		}
		o, observed := e.Observe(t.Context(), c, s)
		if observed != nil && !waits(observed) {
			t.Fatal(observed)
		}
		if err != nil || observed != nil {
			return false
		}
		return r.Waiting == "" && o.UpToDate && o.State != manifest.Error
	})
}

// takeAway performs steps until nothing is left. It finalizes namespaces, because no controller does.
func takeAway(t *testing.T, e *manifest.Engine, c *connected, s *manifest.Bundle, clients kubernetes.Interface) {
	t.Helper()
	eventually(t, "the module is removed", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		r, err := e.Remove(ctx, c, s)
		if apierrors.IsForbidden(err) {
			t.Fatal(err)
		}
		if err != nil {
			// For a moment after a CRD is deleted, discovery still lists its version, but the server responds with 404.
			// Controllers retry.
			t.Log(err)
			return false
		}
		if n, err := clients.CoreV1().Namespaces().Get(ctx, operators, metav1.GetOptions{}); err == nil && n.DeletionTimestamp != nil {
			n.Spec.Finalizers = nil
			if _, err := clients.CoreV1().Namespaces().Finalize(ctx, n, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		return r.Gone
	})
}
