// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestPages checks that a 404 that is not from an API server never means that an object does not exist: nothing is reported as
// missing, and nothing is removed from the inventory.
func TestPages(t *testing.T) {
	which := map[string]func(r *http.Request) bool{
		"All":         all,
		"Inventory":   resources("secrets/team-a-web"),
		"Secrets":     resources("secrets"),
		"Deployments": resources("deployments"),
		"Deletions":   func(r *http.Request) bool { return r.Method == http.MethodDelete },
	}
	for form, p := range pages {
		for name, which := range which {
			t.Run(form+name, func(t *testing.T) {
				b := newBench(t)
				s := bundleOf(install("web", webTemplates...))
				b.reconcile(s)
				want := b.s.keys()
				b.s.page = p.to(which)
				var errs []error
				for i := range 4 {
					if i == 2 {
						// With an empty memory, and if nothing can be watched.
						b.restart()
						for _, k := range []string{"Secret", "Deployment", "ConfigMap", "Service", "ServiceAccount", "ClusterRole"} {
							b.c.blind[k] = true
						}
					}
					exists, err := b.Exists(t.Context(), b.c, s)
					if err == nil && !exists {
						t.Error("the inventory is said to be gone")
					}
					errs = append(errs, err)
					o, err := b.Observe(t.Context(), b.c, s)
					if err == nil && !o.Exists {
						t.Error("the bundle is said not to exist")
					}
					errs = append(errs, err)
				}
				r, err := b.Remove(t.Context(), b.c, s)
				if r.Gone || err == nil {
					t.Errorf("the removal continued: %+v, %v", r, err)
				}
				for _, err := range append(errs, err) {
					e := (*notfound.Error)(nil)
					if err == nil {
						continue
					}
					if !errors.As(err, &e) || e.Host != "http://fake" || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "\n") {
						t.Errorf("want a line that names the host, and nothing of the page, got %v", err)
					}
				}
				b.s.page = nil
				// The removal may have deleted objects before it received a page.
				if name != "Deployments" && name != "Secrets" {
					if diff := cmp.Diff(want, b.s.keys()); diff != "" {
						t.Errorf("what is in the cluster: -want, +got:\n%s", diff)
					}
				}
				b.takeAll(s)
				if left := b.s.keys(); len(left) > 1 {
					t.Errorf("something was forgotten: %v", left)
				}
			})
		}
	}
}

// TestKindGone checks that a kind whose CRD was deleted blocks nothing: the discovery documents show that it is gone.
func TestKindGone(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplCRD, strings.ReplaceAll(tmplWidget, "%s", "main")))
	b.reconcile(s)
	b.s.remove(cluster.ObjectRef{Group: object.CRDKind.Group, Kind: object.CRDKind.Kind, Name: "widgets.example.org"})
	b.c.blind["Widget"] = true
	b.takeAll(s)
	if left := b.s.keys(); len(left) > 1 {
		t.Errorf("left: %v", left)
	}
}

// takeAll removes until nothing is left.
func (b *bench) takeAll(s *Bundle, o ...CallOption) {
	b.t.Helper()
	last := Removal{}
	for range 20 {
		if last = b.take(s, o...); last.Gone {
			return
		}
	}
	b.t.Fatalf("the bundle is not gone: %+v", last)
}
