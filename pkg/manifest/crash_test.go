// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// stateOfBundle returns everything that a bundle has in a cluster. It is the same if the same work is done twice.
func stateOfBundle(t *testing.T, b *bench, s *Bundle) []string {
	t.Helper()
	out := b.s.keys()
	for _, name := range []string{"first", "last", "bye", "gone"} {
		// A hook that succeeded must not run again.
		out = append(out, fmt.Sprintf("hook %s was created %d times", name, b.s.made[jobKey(name)]))
	}
	inv := b.inventory(s)
	if inv == nil {
		return append(out, "no inventory")
	}
	for i := range inv.Objects {
		en := &inv.Objects[i]
		uid := "its own"
		if got := string(b.s.uidOf(en.Ref())); got != en.UID {
			uid = fmt.Sprintf("%s, and the object has %s", en.UID, got)
		}
		out = append(out, fmt.Sprintf("%s of %s, pruned %v, UID %s, intent %s, owned %s", en.Ref(), en.Part, en.Pruned, uid, en.Intent, en.Owned))
	}
	for _, p := range []object.PartID{"web", "extra", "turns", "raw", object.PartCRDs, object.PartResource} {
		if rec, ok := inv.Parts[p]; ok {
			out = append(out, fmt.Sprintf("part %s: %+v", p, rec))
		}
	}
	return out
}

// fullBundle returns a bundle of CRDs, two charts, plain objects and a custom resource. The upgrade turns a chart into plain
// objects.
func fullBundle(t *testing.T, upgraded bool) *Bundle {
	t.Helper()
	s := bundleOf(install("web", webTemplates...), install("extra", configMap("one"), configMap("two")),
		install("turns", configMap("turned")), plainOf("raw", configMap("four"), configMap("five")))
	if upgraded {
		s = bundleOf(install("web", tmplConfig, tmplDeploy), install("extra", configMap("two"), configMap("three")),
			plainOf("turns", configMap("turned")), plainOf("raw", configMap("five"), configMap("six")))
		s.Installs[0].Values = map[string]any{"greeting": "bye"}
	}
	crds := layerOf([]source.File{{Name: "widgets.yaml", Data: []byte(tmplCRD)}})
	s.CRDs = &crds
	s.Resource = manifestOf(t, fmt.Sprintf(tmplWidget, "main"))
	return s
}

// crashBundle returns a full bundle whose first chart has hooks of all kinds.
func crashBundle(t *testing.T, upgraded bool) *Bundle {
	t.Helper()
	templates := webTemplates
	if upgraded {
		templates = []string{tmplConfig, tmplDeploy}
	}
	s := fullBundle(t, upgraded)
	in := install("web", append([]string{
		hookJob("first", "pre-install,pre-upgrade", policies(string(hook.BeforeCreation), string(hook.Succeeded))), hookJob("last", "post-install,post-upgrade"),
		hookJob("bye", "pre-delete", policies(string(hook.Succeeded))), hookJob("gone", "post-delete"),
	}, templates...)...)
	s.Installs[0].Layer = in.Layer
	return s
}

// TestCrash interrupts the process at each of its writes. The server may or may not have received the write, and the process
// may have died or may continue. The final state must be the same as without an interruption.
func TestCrash(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		before func(t *testing.T, b *bench)
		act    func(t *testing.T, b *bench) bool // Reports whether it is done.
	}{
		"Install": {
			reason: "No object may be lost or created twice.",
			before: func(*testing.T, *bench) {},
			act:    applySet(false),
		},
		"Upgrade": {
			reason: "What the new version no longer contains must be deleted, whenever the process died.",
			before: func(t *testing.T, b *bench) { b.reconcile(crashBundle(t, false)) },
			act:    applySet(true),
		},
		"Remove": {
			reason: "Nothing may be left.",
			before: func(t *testing.T, b *bench) { b.reconcile(crashBundle(t, false)) },
			act: func(t *testing.T, b *bench) bool {
				r, err := b.Remove(t.Context(), b.c, crashBundle(t, false))
				return err == nil && r.Gone
			},
		},
		"RemoveHalfAnInstall": {
			reason: "Nothing may be left of an install that was cut off and is not continued.",
			before: func(t *testing.T, b *bench) { b.s.put(manifestOf(t, namespaceOf("apps")).Object) },
			act: func(t *testing.T, b *bench) bool {
				if b.c.left >= 0 { // This process installs until it dies; the next one removes.
					_, _ = b.Apply(t.Context(), b.c, fullBundle(t, false))
					return false
				}
				r, err := b.Remove(t.Context(), b.c, fullBundle(t, false))
				return err == nil && r.Gone
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := func(n int, lost, again bool) (out []string, cut bool) {
				b := newBench(t)
				tc.before(t, b)
				b.restart()
				b.c.cutAfter(n, lost)
				done := tc.act(t, b)
				cut = b.c.left == 0
				if b.c.left = -1; again {
					b.restart()
				}
				for range 5 {
					if done = done || tc.act(t, b); done {
						break
					}
				}
				if !done {
					t.Fatalf("\n%s\ncut after %d writes, answer lost %v: not done", tc.reason, n, lost)
				}
				return stateOfBundle(t, b, crashBundle(t, name == "Upgrade")), cut
			}
			cutEverywhere(t, tc.reason, end)
		})
	}
}

// cutEverywhere interrupts the process after each number of writes, with and without the last response, and continues with a
// new process or the same one. The final state must always be the same.
func cutEverywhere(t *testing.T, reason string, end func(n int, lost, again bool) (out []string, cut bool)) {
	t.Helper()
	want, _ := end(-1, false, true)
	step := 1
	if raceDetector {
		step = 4
	}
	for n := 0; ; n += step {
		survived := false
		for _, how := range []struct{ lost, again bool }{{false, true}, {false, false}, {true, true}, {true, false}} {
			if how.lost && n == 0 {
				continue
			}
			got, cut := end(n, how.lost, how.again)
			survived = survived || !cut
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\ncut after %d writes, %+v: -want, +got:\n%s", reason, n, how, diff)
			}
		}
		if survived {
			t.Logf("fewer than %d writes", n)
			return
		}
	}
}

func applySet(upgraded bool) func(t *testing.T, b *bench) bool {
	return func(t *testing.T, b *bench) bool {
		t.Helper()
		s := crashBundle(t, upgraded)
		_, _ = b.Apply(t.Context(), b.c, s)
		o, err := b.Observe(t.Context(), b.c, s)
		return err == nil && o.Exists && o.UpToDate
	}
}
