// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A delegated cluster sends the requests for members as another user.
type delegated struct{ *fakeCluster }

func (d delegated) Owner() cluster.Cluster { return d.fakeCluster }

// TestGuard checks, for each write of an upgrade and of a removal, that an engine sends no writes after its guard has returned
// an error, and that the call returns this error. The guard is called before each write, and again when the write is sent.
func TestGuard(t *testing.T) {
	errGuard := errors.New("this process no longer leads")
	old, wanted := bundleOf(install("web", tmplConfig, tmplRole)), bundleOf(install("web", tmplConfig, tmplDeploy, hookJob("first", "pre-upgrade")))
	acts := map[string]func(b *bench) error{
		"Apply":  func(b *bench) error { _, err := b.Apply(b.t.Context(), b.c, wanted); return err },
		"Remove": func(b *bench) error { _, err := b.Remove(b.t.Context(), b.c, old); return err },
		// If a bundle is applied as another user, a different client saves the inventory.
		"Delegated": func(b *bench) error { _, err := b.Apply(b.t.Context(), delegated{b.c}, wanted); return err },
	}
	for name, act := range acts {
		t.Run(name, func(t *testing.T) {
			for n, met := 0, true; met; n++ {
				b := newBench(t)
				b.reconcile(old)
				met = false
				b.concurrency = 1
				var want []string
				writes, calls := func() []string {
					var out []string
					for _, r := range b.s.took() {
						if !strings.HasPrefix(r, "get") {
							out = append(out, r)
						}
					}
					return out
				}, 0
				writes()
				b.guard = func(context.Context) error {
					if calls == n && !met {
						met, want = true, b.s.keys()
					}
					if met {
						return errGuard
					}
					calls++
					return nil
				}
				err := act(b)
				if !met {
					break
				}
				if !errors.Is(err, errGuard) {
					t.Errorf("call %d of the guard: want the error of the guard, got %v", n, err)
				}
				if got := writes(); len(got) != n/2 {
					t.Errorf("call %d of the guard: want no further write, got %q", n, got)
				}
				if diff := cmp.Diff(want, b.s.keys()); diff != "" {
					t.Errorf("call %d of the guard: what is there: -want, +got:\n%s", n, diff)
				}
			}
		})
	}
}
