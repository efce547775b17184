// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
)

// TestCrashOfUpgrade interrupts the process at each write of an upgrade that recreates an object, keeps one that it no longer
// contains, adopts an object and a CRD, removes an install with hooks, runs tests, and stores a checkpoint.
func TestCrashOfUpgrade(t *testing.T) {
	t.Parallel()
	before := func(b *bench) *Bundle {
		s := fixedBundle(b, "small")
		s.Installs = append(s.Installs, install("leaves", configMap("one"), hookJob("bye", "pre-delete"), hookJob("gone", "post-delete", policies(string(hook.Succeeded)))),
			plainOf("raw", kept(configMap("kept")), kept(namespaceOf("home")), configMap("two")))
		return s
	}
	after := func(b *bench) *Bundle {
		s := fixedBundle(b, "large")
		s.Recreate, s.Adopt = true, true
		s.Installs[0] = install("web", strings.ReplaceAll(tmplFixed, "SIZE", "large"), configMap("found"), "crds/"+tmplCRD,
			hookJob("first", "pre-upgrade"), hookJob("last", "post-upgrade", policies(string(hook.Succeeded))), hookJob("try", "test"))
		s.Installs = append(s.Installs, plainOf("raw", configMap("two"), configMap("three")))
		return s
	}
	end := func(n int, lost, again bool) (out []string, cut bool) {
		b := newBench(t)
		b.reconcile(before(b))
		b.s.deploy(manifestOf(t, strings.Replace(configMap("found"), "name:", "namespace: apps, name:", 1)), "helm/Update")
		b.s.put(manifestOf(t, tmplCRD).Object)
		s, options := after(b), []CallOption{WithTestToken("now"), WithCheckpoint([]byte("this one"))}
		b.restart()
		b.c.cutAfter(n, lost)
		_, _ = b.Apply(t.Context(), b.c, s, options...)
		cut = b.c.left == 0
		b.c.left = -1
		if again {
			b.restart()
		}
		b.reconcile(s, options...)
		for _, name := range []string{"first", "last", "bye", "gone", "try"} {
			out = append(out, fmt.Sprintf("%s ran %d times", name, b.s.made[jobKey(name)]))
		}
		o := b.observe(s, options...)
		out = append(out, fmt.Sprintf("%s %s good %q tests %v", o.State, o.Message, o.Checkpoint, o.Tests))
		return append(append(out, b.statuses()...), stateOfBundle(t, b, s)...), cut
	}
	cutEverywhere(t, "An upgrade must end where one that was never cut off ends.", end)
}
