// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReplaced checks that another cluster responds during the fault, that objects in it are noticed, and that the original cluster is back
// afterwards.
func TestReplaced(t *testing.T) {
	s := startServer(t, "a")
	status := func(method, path, body string) int {
		t.Helper()
		code, _, err := userOf(t, s.Config("a")).send(t.Context(), method, path, body)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	const kubeSystem = "/api/v1/namespaces/kube-system"
	identity := func() string {
		t.Helper()
		_, body, err := userOf(t, s.Config("a")).send(t.Context(), http.MethodGet, kubeSystem, "")
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	if got := status(http.MethodPost, configMaps, `{"metadata": {"name": "x"}}`); got != http.StatusCreated {
		t.Fatalf("want 201, got %d", got)
	}
	original := identity()
	setFault(t, s, "a", Fault{Mode: Replaced})
	if got := s.Count("a").OpenConnections; got != 0 {
		t.Errorf("%d connections to the original cluster are open", got)
	}
	if identity() == original {
		t.Error("the cluster that responds is the same")
	}
	steps := []struct {
		reason, method, path, body string
		want                       int
		created                    []string
	}{
		{reason: "It does not have the objects.", method: http.MethodGet, path: configMaps + "/x", want: http.StatusNotFound},
		{
			reason: "An object that is refused is not created.", method: http.MethodPost, path: "/api/v1/namespaces/other/configmaps",
			body: `{"metadata": {"name": "y"}}`, want: http.StatusNotFound,
		},
		{
			reason: "An object is created.", method: http.MethodPost, path: configMaps, body: `{"metadata": {"name": "y"}}`, want: http.StatusCreated,
			created: []string{"configmaps default/y"},
		},
		{
			reason: "An object that was deleted was there.", method: http.MethodDelete, path: configMaps + "/y", want: http.StatusOK,
			created: []string{"configmaps default/y"},
		},
	}
	for _, step := range steps {
		if got := status(step.method, step.path, step.body); got != step.want {
			t.Errorf("%s\nwant %d, got %d", step.reason, step.want, got)
		}
		if diff := cmp.Diff(step.created, s.CreatedInReplacement("a")); diff != "" {
			t.Errorf("%s\n-want, +got:\n%s", step.reason, diff)
		}
	}
	setFault(t, s, "a", Fault{})
	if got := s.Count("a").OpenConnections; got != 0 {
		t.Errorf("%d connections to the other cluster are open", got)
	}
	if diff := cmp.Diff(original, identity()); diff != "" {
		t.Errorf("the original cluster is not back: -want, +got:\n%s", diff)
	}
	if got := status(http.MethodGet, configMaps+"/x", ""); got != http.StatusOK {
		t.Errorf("want the object of the original cluster, got %d", got)
	}
	setFault(t, s, "a", Fault{Mode: Replaced})
	if got := s.CreatedInReplacement("a"); len(got) > 0 {
		t.Errorf("a new replacement has objects: %v", got)
	}
}
