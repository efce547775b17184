// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
)

// TestMetricsPermissions checks that the roles of the example are what --metrics-secure needs, and no more than that: without them the
// provider cannot ask, and a user without the role for the metrics does not get them.
func TestMetricsPermissions(t *testing.T) {
	clients, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	provider := account(t, clients, "crossplane-system", "provider-kyma")
	prometheus, other := account(t, clients, "monitoring", "prometheus"), account(t, clients, "monitoring", "other")
	// Each answer is cached by its filter.
	if got := getMetrics(t, provider, prometheus); got != http.StatusInternalServerError {
		t.Errorf("without the permission to ask, got %d, want %d", got, http.StatusInternalServerError)
	}
	for _, o := range documents(t, filepath.Join(root, "examples", "rbac", "metrics.yaml")) {
		grant(t, clients, o)
	}
	status := 0
	_ = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		status = getMetrics(t, provider, prometheus)
		return status == http.StatusOK, nil
	})
	if status != http.StatusOK {
		t.Errorf("with the roles, got %d, want %d", status, http.StatusOK)
	}
	if got := getMetrics(t, provider, other); got != http.StatusForbidden {
		t.Errorf("another user got %d, want %d", got, http.StatusForbidden)
	}
}

// account creates a ServiceAccount with its namespace, and returns a token.
func account(t *testing.T, clients kubernetes.Interface, namespace, name string) string {
	t.Helper()
	// Other tests may have created the namespace, and nothing deletes one here.
	_, _ = clients.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	accounts := clients.CoreV1().ServiceAccounts(namespace)
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = accounts.Delete(context.Background(), name, metav1.DeleteOptions{}) })
	token, err := accounts.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return token.Status.Token
}

// grant creates a role or a binding.
func grant(t *testing.T, clients kubernetes.Interface, o *unstructured.Unstructured) {
	t.Helper()
	rbac, convert := clients.RbacV1(), runtime.DefaultUnstructuredConverter.FromUnstructured
	var err error
	switch o.GetKind() {
	case "ClusterRole":
		role := &rbacv1.ClusterRole{}
		if err = convert(o.Object, role); err == nil {
			_, err = rbac.ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
		}
		t.Cleanup(func() { _ = rbac.ClusterRoles().Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}) })
	case "ClusterRoleBinding":
		binding := &rbacv1.ClusterRoleBinding{}
		if err = convert(o.Object, binding); err == nil {
			_, err = rbac.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{})
		}
		t.Cleanup(func() {
			_ = rbac.ClusterRoleBindings().Delete(context.Background(), o.GetName(), metav1.DeleteOptions{})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// getMetrics returns what a client with a token gets from an endpoint of a provider with another one.
func getMetrics(t *testing.T, provider, token string) int {
	t.Helper()
	cfg := rest.AnonymousClientConfig(server.Config())
	cfg.BearerToken = provider
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	filter, err := filters.WithAuthenticationAndAuthorization(cfg, client)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := filter(logr.Discard(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, req)
	return w.Code
}
