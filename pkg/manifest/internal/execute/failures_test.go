// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

func TestJoin(t *testing.T) {
	cases := map[string]struct {
		reason string
		all    []string
		want   string
	}{
		"None":    {reason: "Nothing failed."},
		"Sorted":  {reason: "Failures are sorted by their titles.", all: []string{"web", "db", "pruning"}, want: "db: no db; pruning: no pruning; web: no web"},
		"TooMany": {reason: "If many parts failed, the text lists only the first ones.", all: []string{"d", "c", "b", "a"}, want: "a: no a; b: no b; c: no c; …"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var all []failure
			for _, title := range tc.all {
				all = append(all, failure{title: title, err: errors.New("no\n" + title)})
			}
			got := ""
			if err := join(all); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\njoin(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFailureKeepsItsKind(t *testing.T) {
	forbidden := errors.Wrap(kerrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a", nil), "cannot apply")
	cases := map[string]struct {
		reason string
		run    func(r *run, c *compose.Component)
		want   bool
	}{
		"Failed":  {reason: "A part failed.", run: func(r *run, c *compose.Component) { r.progress.fail(c.Name, forbidden) }, want: true},
		"Dropped": {reason: "A part was dropped.", run: func(r *run, c *compose.Component) { r.progress.drop(c, forbidden) }, want: true},
		"Pruning": {reason: "Pruning failed.", run: func(r *run, _ *compose.Component) { r.pruneErr = forbidden }, want: true},
		"Tests":   {reason: "The tests failed.", run: func(r *run, _ *compose.Component) { r.testErr = forbidden }, want: true},
		"Earlier": {reason: "A failure of an earlier call has no type.", run: func(r *run, c *compose.Component) {
			r.progress.note(plan.Decision{Part: c.Name, Hindrance: plan.Failed, Reason: forbidden.Error()})
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := component(install("web", "1"))
			r := &run{progress: begin(nil, c)}
			tc.run(r, c)
			err := r.err()
			if err == nil {
				t.Fatalf("\n%s\nerr(): want an error", tc.reason)
			}
			if got := kerrors.IsForbidden(err); got != tc.want {
				t.Errorf("\n%s\nerr(): IsForbidden(%v): want %t, got %t", tc.reason, err, tc.want, got)
			}
		})
	}
}
