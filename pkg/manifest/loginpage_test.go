// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestLoginPage checks that a 200 which does not come from an API server, for example the login page of a proxy, never counts as a
// success: nothing is said to be gone or deleted, and a removal that ran into it leaves nothing behind.
func TestLoginPage(t *testing.T) {
	which := map[string]func(r *http.Request) bool{
		"All":       all,
		"Reads":     func(r *http.Request) bool { return r.Method == http.MethodGet },
		"Patches":   func(r *http.Request) bool { return r.Method == http.MethodPatch },
		"Deletions": func(r *http.Request) bool { return r.Method == http.MethodDelete },
		"Records":   func(r *http.Request) bool { return r.Method == http.MethodDelete && r.URL.Query().Has("labelSelector") },
	}
	forms := map[string]page{
		"HTML":  {contentType: "text/html", body: "<html>log in</html>"},
		"Empty": {contentType: "text/plain"},
		"None":  {contentType: "application/json", body: "{}"},
		"JSON":  {contentType: "application/json", body: `{"status":"ok","kind":7}`},
		"List":  {contentType: "application/json", body: "[]"},
	}
	kept := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}\n"
	for form, p := range forms {
		for name, which := range which {
			t.Run(form+name, func(t *testing.T) {
				b := newBench(t)
				s := bundleOf(install("web", tmplConfig, tmplDeploy, kept))
				b.reconcile(s)
				b.s.page = func(w http.ResponseWriter, r *http.Request) bool {
					if !which(r) {
						return false
					}
					w.Header().Set("Content-Type", p.contentType)
					_, _ = io.WriteString(w, p.body)
					return true
				}
				for _, blind := range []bool{false, true} {
					for _, k := range []string{"Secret", "Deployment", "ConfigMap"} {
						b.c.blind[k] = blind
					}
					if exists, err := b.Exists(t.Context(), b.c, s); err == nil && !exists {
						t.Error("the inventory is said to be gone")
					}
					if o, err := b.Observe(t.Context(), b.c, s); err == nil && (!o.Exists || o.State != Ready) {
						t.Errorf("want Ready or an error, got %+v", o)
					}
				}
				if name != "Reads" {
					clear(b.c.blind)
				}
				for range 3 {
					if r, err := b.Remove(t.Context(), b.c, s); r.Gone || len(r.LeftBehind) > 0 {
						t.Errorf("the removal continued: %+v, %v", r, err)
					}
				}
				b.s.page = nil
				clear(b.c.blind)
				b.takeAll(s)
				if diff := cmp.Diff([]string{"ConfigMap apps/kept", "Namespace apps"}, b.s.keys()); diff != "" {
					t.Errorf("what is left: -want, +got:\n%s", diff)
				}
				if by := b.s.objects[key("ConfigMap", "apps", "kept")].u().GetLabels()[object.LabelPartOf]; by != "" {
					t.Errorf("want that the kept object is released, its label is %q", by)
				}
			})
		}
	}
}
