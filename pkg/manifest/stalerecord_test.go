// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
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
			left, overtaken := n, false
			b.c.before = func(*http.Request) {
				if left--; left == 0 {
					overtaken = true
					other.apply(former)
				}
			}
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
