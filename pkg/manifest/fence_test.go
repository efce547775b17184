// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// isChanged reports whether a call ended with an error about a change of the inventory by another client.
func isChanged(err error) bool {
	const want = "Secret kyma-system/team-a-web was changed by another client at the same time; the next attempt reads the new content"
	e := (*ChangedError)(nil)
	return errors.As(err, &e) && e.Inventory == parentSecret && err.Error() == want
}

// another returns a bench for another process with its own engine and memory on the same server.
func (b *bench) another() *bench {
	b.t.Helper()
	out := &bench{t: b.t, s: b.s, c: newFakeCluster(b.t, b.s)}
	out.restart()
	return out
}

// interrupt runs do, as another process, before the first request to a path with some method.
func (b *bench) interrupt(method, path string, do func()) {
	var done atomic.Bool
	b.c.before = func(r *http.Request) {
		if r.Method == method && strings.HasSuffix(r.URL.Path, path) && done.CompareAndSwap(false, true) {
			do()
		}
	}
}

// unlisted returns the members of a bundle that its inventory does not list, without its hooks.
func (b *bench) unlisted(s *Bundle) []string {
	b.t.Helper()
	inv := b.inventory(s)
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	var out []string
	for k, o := range b.s.objects {
		if o.u().GetLabels()[object.LabelPartOf] != b.ID(s) || o.u().GetAnnotations()[object.AnnotationHookRun] != "" {
			continue
		}
		if inv == nil || inv.Find(k) == nil {
			out = append(out, k.String())
		}
	}
	return out
}

// TestFence checks that a process with an outdated inventory stops, and neither overwrites nor deletes what another process has
// saved. The next call continues from the new inventory.
func TestFence(t *testing.T) {
	old, wanted := bundleOf(install("web", tmplConfig, tmplRole)), bundleOf(install("web", tmplConfig, tmplAccount, tmplDeploy))
	theirs := bundleOf(install("web", tmplConfig, tmplService))
	hooked := bundleOf(install("web", tmplConfig, hookJob("first", "pre-upgrade"), hookJob("last", "post-upgrade")))
	apply := func(s *Bundle) func(b *bench) error {
		return func(b *bench) error { _, err := b.Apply(b.t.Context(), b.c, s); return err }
	}
	remove := func(b *bench) error { _, err := b.Remove(b.t.Context(), b.c, old); return err }
	cases := map[string]struct {
		reason string
		// method and path identify the request of this process before which the other one acts.
		method, path string
		other        func(b *bench)
		act          func(b *bench) error
		// lacks are writes that this process must not send after that.
		lacks []string
		want  *Bundle // nil for none.
	}{
		"LastSave": {
			reason: "What the other process saved while objects were applied is not overwritten.",
			method: http.MethodPatch, path: "/deployments/web",
			other: func(b *bench) { b.reconcile(theirs) }, act: apply(wanted), want: wanted,
		},
		"FirstSave": {
			reason: "Nothing is applied if the inventory changed after it was read.",
			method: http.MethodPatch, path: "/secrets/team-a-web",
			other: func(b *bench) { b.reconcile(theirs) }, act: apply(wanted), want: wanted,
			lacks: []string{"patch ConfigMap", "patch ServiceAccount", "patch Deployment"},
		},
		"Hook": {
			reason: "A hook that another process may run, too, is not started, and nothing is pruned.",
			method: http.MethodGet, path: "/secrets/sh.helm.release.v1.web.v1",
			other: func(b *bench) { b.reconcile(theirs) }, act: apply(hooked), want: hooked,
			lacks: []string{"patch Job", "patch ConfigMap", "delete "},
		},
		"Removed": {
			reason: "A step that began earlier does not recreate the inventory of a bundle that is gone.",
			method: http.MethodPatch, path: "/secrets/team-a-web",
			other: func(b *bench) { b.takeAll(old) }, act: apply(wanted),
		},
		"Remove": {
			reason: "A removal does not delete the inventory of objects that it never saw.",
			method: http.MethodDelete, path: "/secrets/team-a-web",
			other: func(b *bench) { b.reconcile(theirs) }, act: remove, want: theirs,
		},
		"Adopted": {
			reason: "A former owner in the middle of a step does not reclaim what was adopted.",
			method: http.MethodPatch, path: "/deployments/web",
			other: func(b *bench) {
				adopting := copyOf(wanted)
				adopting.Adopt = true
				b.reconcile(adopting)
			}, act: apply(wanted), want: copyOf(wanted),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(old)
			other := b.another()
			var after int
			b.interrupt(tc.method, tc.path, func() {
				tc.other(other)
				after = len(b.s.log)
			})
			b.s.took()
			if err := tc.act(b); !isChanged(err) {
				t.Errorf("\n%s\nwant a ChangedError, got %v", tc.reason, err)
			}
			if after == 0 {
				t.Fatal("the other process did nothing")
			}
			for _, r := range b.s.took()[after:] {
				for _, l := range tc.lacks {
					if strings.HasPrefix(r, l) {
						t.Errorf("\n%s\nrequest: %s", tc.reason, r)
					}
				}
			}
			if tc.want == nil {
				if b.inventory(old) != nil {
					t.Errorf("\n%s\nthe inventory is back", tc.reason)
				}
				return
			}
			b.reconcile(tc.want)
			if diff := cmp.Diff([]string(nil), b.unlisted(tc.want)); diff != "" {
				t.Errorf("\n%s\nunknown objects: %s", tc.reason, diff)
			}
			b.takeAll(tc.want)
		})
	}
}

// TestFenceBehind checks that an outdated watch costs at most one refused call, regardless of what it shows and for how long.
func TestFenceBehind(t *testing.T) {
	old, theirs, wanted := bundleOf(install("web", tmplConfig)), bundleOf(install("web", tmplConfig, tmplRole)), bundleOf(install("web", tmplConfig, tmplService))
	cases := map[string]struct {
		reason string
		shown  bool
		want   []bool
	}{
		"Old":  {reason: "The second call reads the inventory, although the watch still shows the old one.", shown: true, want: []bool{true, false, false}},
		"None": {reason: "If the watch shows no inventory, creating one fails, and the engine reads it.", want: []bool{false, false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(old)
			b.c.behind = map[cluster.ObjectRef]*cluster.ObjectState{parentSecret: nil}
			if s, ok := b.another().c.Get(parentSecret); ok && tc.shown {
				b.c.behind[parentSecret] = &s
			}
			b.another().reconcile(theirs)
			for i, want := range tc.want {
				if _, err := b.Apply(t.Context(), b.c, wanted); isChanged(err) != want || !want && err != nil {
					t.Errorf("\n%s\ncall %d: %v", tc.reason, i, err)
				}
			}
			if diff := cmp.Diff([]string(nil), b.unlisted(wanted)); diff != "" {
				t.Errorf("\n%s\nunknown objects: %s", tc.reason, diff)
			}
			b.c.behind = nil
			if o := b.observe(wanted); !o.UpToDate || o.State != Ready {
				t.Errorf("\n%s\nafter that: %+v", tc.reason, o)
			}
		})
	}
}

// TestFenceEverywhere runs a whole step of another process at each request of this one. Regardless of what that step does, in
// the end the cluster has the desired state of this process, every object is in the inventory, and a removal leaves nothing.
func TestFenceEverywhere(t *testing.T) {
	hooked := func(templates ...string) *Bundle {
		return bundleOf(install("web", append([]string{
			tmplConfig, hookJob("first", "pre-install,pre-upgrade"), hookJob("last", "post-install,post-upgrade"), hookJob("bye", "pre-delete"),
		}, templates...)...), install("extra", configMap("one")))
	}
	old, wanted, theirs := hooked(tmplRole), hooked(tmplAccount, tmplDeploy), hooked(tmplService)
	others := map[string]func(b *bench){
		"Upgrades": func(b *bench) { b.reconcile(theirs) },
		"Steps":    func(b *bench) { _, _ = b.Apply(b.t.Context(), b.c, theirs) },
		"Removes":  func(b *bench) { b.takeAll(old) },
	}
	for name, do := range others {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, met := 0, true; met; n++ {
				b := newBench(t)
				b.reconcile(old)
				other := b.another()
				met = false
				b.c.before = atRequest(n, func() { met = true; do(other) })
				if _, err := b.Apply(t.Context(), b.c, wanted); err != nil && !isChanged(err) {
					t.Logf("request %d: %v", n, err)
				}
				b.c.before = nil
				b.reconcile(wanted)
				if diff := cmp.Diff([]string(nil), b.unlisted(wanted)); diff != "" {
					t.Errorf("request %d: unknown objects: %s", n, diff)
				}
				if o := b.observe(wanted); !o.UpToDate || o.State != Ready || o.Total != 4 {
					t.Errorf("request %d: %+v", n, o)
				}
				b.takeAll(wanted)
				if diff := cmp.Diff([]string(nil), b.unlisted(wanted)); diff != "" {
					t.Errorf("request %d: objects that are left: %s", n, diff)
				}
			}
		})
	}
}

// atRequest returns a function for fakeCluster.before that calls another one once, at the request with the number n, which counts from 0.
// Requests are sent at the same time, and those of the other function count, too.
func atRequest(n int, do func()) func(*http.Request) {
	var count atomic.Int64
	return func(*http.Request) {
		if count.Add(1) == int64(n)+1 {
			do()
		}
	}
}

// TestRemoveFenceEverywhere runs an upgrade of another process at each request of a removal. A second removal leaves nothing,
// regardless of what the first one did and knew.
func TestRemoveFenceEverywhere(t *testing.T) {
	t.Parallel()
	old := bundleOf(install("web", tmplConfig, tmplRole, hookJob("bye", "pre-delete"), hookJob("gone", "post-delete")), install("extra", configMap("one")))
	theirs := bundleOf(install("web", tmplConfig, tmplService, hookJob("bye", "pre-delete")), install("extra", configMap("one"), configMap("two")))
	for n, met := 0, true; met; n++ {
		b := newBench(t)
		b.reconcile(old)
		other := b.another()
		met = false
		b.c.before = atRequest(n, func() { met = true; other.reconcile(theirs) })
		for range 20 {
			if r, err := b.Remove(t.Context(), b.c, old); err == nil && r.Gone {
				break
			} else if err != nil && !isChanged(err) && !kerrors.IsConflict(err) {
				t.Errorf("request %d: want that it ends only because the inventory or a record changed, got %v", n, err)
			}
		}
		b.c.before = nil
		if diff := cmp.Diff([]string(nil), b.unlisted(old)); diff != "" {
			t.Errorf("request %d: objects that are left: %s", n, diff)
		}
		if b.inventory(old) != nil {
			t.Errorf("request %d: the bundle is not gone", n)
		}
	}
}

// TestStaleRemovalKeepsRecords checks that a removal with an outdated inventory doesn't delete the release records of the bundle. A chart with
// random values can't be restored without them.
func TestStaleRemovalKeepsRecords(t *testing.T) {
	s := bundleOf(install("web", tmplConfig, "apiVersion: v1\nkind: Secret\nmetadata: {name: random}\ndata: {password: {{ randAlphaNum 12 | b64enc }}}\n"))
	secret := key("Secret", "apps", "random")
	b := newBench(t)
	b.reconcile(s)
	stale := b.another()
	stale.c.watch = newFakeWatch(b.s)
	stale.c.watch.lag("", 1000)
	stale.observe(s)
	more := bundleOf(append(s.Installs, install("extra", configMap("one")))...)
	b.reconcile(more)
	password := func() string {
		out, _, _ := unstructured.NestedString(b.s.objects[secret].u().Object, "data", "password")
		return out
	}
	before := password()
	if r, err := stale.Remove(t.Context(), stale.c, s); !isChanged(err) || r.Gone {
		t.Errorf("Remove(...): want a ChangedError, got %+v, %v", r, err)
	}
	b.reconcile(more)
	if diff := cmp.Diff(before, password()); diff != "" {
		t.Errorf("password: -want, +got:\n%s", diff)
	}
}
