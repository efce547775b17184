// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// disown makes Helm the only owner of all installed objects.
func (b *bench) disown() {
	b.t.Helper()
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	for k, o := range b.s.objects {
		if k.Namespace == DefaultNamespace {
			b.s.drop(k)
			continue
		}
		labels := o.u().GetLabels()
		for _, l := range []string{object.LabelPartOf, object.LabelManagedBy, release.LabelSet, release.LabelInputs} {
			delete(labels, l)
		}
		o.u().SetLabels(labels)
		b.s.touch(o)
	}
}

// An adoption deletes objects that the adopted release contains and the chart does not, so the plan must show that.
func TestPlanAdoptedRelease(t *testing.T) {
	kept := strings.Replace(configMap("kept"), "}\ndata", ", annotations: {helm.sh/resource-policy: keep}}\ndata", 1)
	cases := map[string]struct {
		reason  string
		adopt   bool
		missing string
		want    []string
	}{
		"Adopted": {
			reason: "The object that the chart does not contain is pruned, unless it must be kept.",
			adopt:  true, want: []string{"Prune ConfigMap apps/more"},
		},
		"Gone": {
			reason: "An object that was deleted in the meantime is not pruned.",
			adopt:  true, missing: "more",
		},
		"NotAdopted": {reason: "Without adoption, the release is a problem, and none of its objects is pruned."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.s.put(manifestOf(t, namespaceOf("apps")).Object)
			b.reconcile(bundleOf(install("web", tmplConfig, configMap("more"), kept)))
			b.disown()
			if tc.missing != "" {
				b.s.remove(key("ConfigMap", "apps", tc.missing))
			}
			b.restart()
			s := bundleOf(install("web", tmplConfig))
			s.Adopt = tc.adopt
			before := b.s.state(t)
			var pruned []string
			for _, l := range lines(b.plan(s)) {
				if strings.HasPrefix(l, "Prune") {
					pruned = append(pruned, l)
				}
			}
			if diff := cmp.Diff(tc.want, pruned); diff != "" {
				t.Errorf("\n%s\nPlan(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, b.s.state(t)); diff != "" {
				t.Errorf("Plan(...): it changes the cluster: -before, +after:\n%s", diff)
			}
			if !tc.adopt {
				return
			}
			var done []string
			for _, k := range b.apply(s).Pruned {
				done = append(done, "Prune "+k.String())
			}
			if diff := cmp.Diff(tc.want, done); diff != "" {
				t.Errorf("\n%s\nApply(...): it does what was planned: -want, +got:\n%s", tc.reason, diff)
			}
			b.reconcile(s)
			if p := b.plan(s); len(p.Changes) > 0 {
				t.Errorf("Plan(...): nothing is left to do: %v", lines(p))
			}
		})
	}
}
