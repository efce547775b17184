// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStaleRecord checks that a step that another process overtook does not replace the record of the revision that the other one
// deployed. The record may be all that is known of random values.
func TestStaleRecord(t *testing.T) {
	random := "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\ndata: {password: {{ randAlphaNum 12 | b64enc }}}\n"
	cases := map[string]struct {
		reason string
		hooks  []string
	}{
		"Pending":  {reason: "A pending record does not replace the one of the deployed revision.", hooks: []string{hookJob("first", "pre-upgrade")}},
		"Deployed": {reason: "A record with other random values does not replace the one with those in the cluster."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			bundle := func(greeting string) *Bundle {
				in := install("web", append([]string{random, tmplConfig}, tc.hooks...)...)
				in.Values = map[string]any{"greeting": greeting}
				return bundleOf(in)
			}
			b.reconcile(bundle("a"))
			s, other := bundle("b"), b.another()
			b.interrupt(http.MethodPost, "/namespaces/apps/secrets", func() { other.reconcile(s) })
			if _, err := b.Apply(t.Context(), b.c, s); !isChanged(err) {
				t.Errorf("\n%s\nApply(...): want a ChangedError, got %v", tc.reason, err)
			}
			want := []string{"1 superseded", "2 deployed"}
			if diff := cmp.Diff(want, b.statuses()); diff != "" {
				t.Errorf("\n%s\nrecords: -want, +got:\n%s", tc.reason, diff)
			}
			for range 3 {
				b.apply(s)
			}
			if o := b.observe(s); o.State != Ready || !o.UpToDate {
				t.Errorf("\n%s\nwant Ready, got %+v", tc.reason, o)
			}
		})
	}
}

// TestOvertakenRecord checks that a step that another process overtook leaves no record of a second deployed revision, whenever the other
// one does so.
func TestOvertakenRecord(t *testing.T) {
	bundle := func(namespace, greeting string) *Bundle {
		in := install("web", tmplConfig, hookJob("first", "pre-install,pre-upgrade"), hookJob("last", "post-install,post-upgrade"))
		in.Namespace, in.Values = namespace, map[string]any{"greeting": greeting}
		return bundleOf(in)
	}
	overtakes := 0
	for n := 1; n < 40; n++ {
		for _, namespace := range []string{"apps", "other"} {
			b := newBench(t)
			former, s, other := bundle("apps", "former"), bundle(namespace, "new"), b.another()
			overtaken := false
			b.c.before = atRequest(n-1, func() { overtaken = true; other.apply(former) })
			for range 4 {
				_, err := b.Apply(t.Context(), b.c, s)
				if isChanged(err) {
					break
				}
			}
			b.c.before = nil
			if !overtaken {
				continue
			}
			overtakes++
			b.reconcile(s)
			var deployed []string
			for _, status := range b.statuses() {
				if strings.HasSuffix(status, " deployed") {
					deployed = append(deployed, status)
				}
			}
			if len(deployed) != 1 {
				t.Errorf("overtaken before request %d of an install in namespace %s: want one deployed revision, got %q", n, namespace, b.statuses())
			}
		}
	}
	if overtakes == 0 {
		t.Error("no step was overtaken")
	}
}

// TestRecordsOfInterruptedUpgrades checks that one revision is recorded as deployed after upgrades that were interrupted after any write, and
// replaced by another version, also if that is interrupted as well.
func TestRecordsOfInterruptedUpgrades(t *testing.T) {
	t.Parallel()
	bundle := func(greeting string, hooks ...string) *Bundle {
		in := install("web", append([]string{tmplConfig}, hooks...)...)
		in.Values = map[string]any{"greeting": greeting}
		return bundleOf(in)
	}
	first, last := hookJob("first", "pre-install,pre-upgrade"), hookJob("last", "post-install,post-upgrade")
	cases := map[string]struct {
		reason string
		end    *Bundle
	}{
		"Hooks":   {reason: "The last version has hooks.", end: bundle("d", first, last)},
		"NoHooks": {reason: "The last version has no hooks.", end: bundle("d")},
		"Back":    {reason: "The first version is installed again.", end: bundle("a", first, last)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cuts := 0
			for n := range 20 {
				for _, more := range []int{3, 13, 14, 20} {
					b := newBench(t)
					b.reconcile(bundle("a", first, last))
					for i, left := range []int{n, more} {
						b.c.cutAfter(left, false)
						_, _ = b.Apply(t.Context(), b.c, bundle([]string{"b", "c"}[i], first, last))
						if b.c.left == 0 {
							cuts++
						}
						b.c.cutAfter(-1, false)
						b.restart()
					}
					b.reconcile(tc.end)
					deployed := slices.DeleteFunc(b.statuses(), func(status string) bool { return !strings.HasSuffix(status, " deployed") })
					if len(deployed) != 1 {
						t.Errorf("\n%s\ninterrupted after %d and %d writes: want one deployed revision, got %q", tc.reason, n, more, b.statuses())
					}
				}
			}
			if cuts == 0 {
				t.Error("no upgrade was interrupted")
			}
		})
	}
}
