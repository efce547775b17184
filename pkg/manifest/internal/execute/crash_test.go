// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A process may die before any save, request or hook, and between a request and its answer. The next one continues with the
// stored inventory: in the end, the state is as if nothing had happened, nothing is forgotten, and no revision is recorded twice.
func TestRunSurvivesDeath(t *testing.T) {
	before := []piece{
		{name: "web", digest: "1", objects: []string{aConfig, aDeploy, aFixed, aCRD}},
		{name: "old", digest: "1", objects: []string{other}},
	}
	after := []piece{
		{name: "web", digest: "2", objects: []string{aConfig2, aFixed2, aCRD, aNamespace, aWebhook, aWidget}, hooks: true},
		{name: "new", digest: "1", objects: []string{strings.Replace(other, "name: o", "name: x", 1)}},
	}
	start := func() *world {
		w := newWorld(t, before...)
		w.runAll()
		w.recreate = true
		w.pieces = after
		return w
	}
	whole := start()
	if _, err := whole.run(); err != nil {
		t.Fatal(err)
	}
	steps := len(whole.took())
	if steps < 15 {
		t.Fatalf("the upgrade has %d steps only", steps)
	}
	whole.runAll()
	want := contents(whole)
	for _, answers := range []bool{false, true} {
		for at := range steps {
			t.Run(fmt.Sprintf("%d/%t", at, answers), func(t *testing.T) {
				w := start()
				w.t = t
				n, dead := 0, false
				w.meet = func(string) error {
					if n++; dead || (n > at && !answers) {
						dead = true
						return errDied
					}
					return nil
				}
				w.left = func(line string) error {
					// Reads are not counted, and what was written before is not lost.
					if answers && n > at && !strings.HasPrefix(line, "get") {
						dead = true
					}
					if dead {
						return errDied
					}
					return nil
				}
				_, _ = w.run()
				again := w.survivor(t)
				again.runAll()
				if diff := cmp.Diff(want, contents(again)); diff != "" {
					t.Errorf("died at %d: -want, +got:\n%s", at, diff)
				}
				if rev := again.stored.Parts["web"].Revision; rev != 2 {
					t.Errorf("died at %d: web has revision %d", at, rev)
				}
				if _, ok := again.stored.Parts["old"]; ok || len(again.stored.Objects) != len(whole.stored.Objects) {
					t.Errorf("died at %d: the inventory has %d objects", at, len(again.stored.Objects))
				}
			})
		}
	}
}

// survivor returns the next process: it has the cluster and the inventory that is stored there.
func (w *world) survivor(t *testing.T) *world {
	t.Helper()
	out := newWorld(t, w.pieces...)
	out.c, out.stored, out.ran, out.recreate, out.adoption = w.c, w.stored, w.ran, w.recreate, w.adoption
	out.watch()
	return out
}

// contents returns the contents of a cluster, without fields that only the API server writes.
func contents(w *world) map[cluster.ObjectRef]map[string]any {
	out := w.c.All()
	for ref, content := range out {
		u := &unstructured.Unstructured{Object: content}
		u.SetManagedFields(nil)
		for _, f := range []string{"uid", "resourceVersion", "creationTimestamp", "generation"} {
			unstructured.RemoveNestedField(content, "metadata", f)
		}
		out[ref] = content
	}
	return out
}
