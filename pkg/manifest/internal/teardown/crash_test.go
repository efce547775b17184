// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// lifetime is greater than the number of calls of any removal in these tests.
const lifetime = 10

// finish calls Run until it does not wait. It reports whether this took fewer than lifetime calls.
func (w *world) finish(t *testing.T) bool {
	t.Helper()
	for range lifetime {
		res, err := w.run(t.Context())
		if err == nil && res.Blocked == (Blocked{}) {
			return true
		}
	}
	return false
}

// TestRunSurvivesDeath verifies that a process can stop before each request and hook, and before each response. The next
// process, which has only the inventory, ends in the same state as a process that was not stopped: no object of the bundle is
// left, and no other object is changed.
func TestRunSurvivesDeath(t *testing.T) {
	const other = `{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: default, labels: {applyset.kubernetes.io/part-of: x}}}`
	start := func() *world {
		w := newWorld(t, ForceRemove)
		w.addAll()
		w.c.Create("kubectl", otherWidget)
		kept := w.add("web", `{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: default}}`)
		kept.Keep = true
		// One object was created without a response, one was recreated by another client, and one lost its labels.
		w.apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: unanswered, namespace: default}}`)
		w.enter("web", `{apiVersion: v1, kind: ConfigMap, metadata: {name: unanswered, namespace: default}}`)
		w.c.Create("kubectl", other)
		w.enter("db", other).UID = "gone"
		bare := w.add("db", `{apiVersion: v1, kind: ConfigMap, metadata: {name: bare, namespace: default}}`)
		w.c.Edit("kubectl", bare.Ref(), func(u *unstructured.Unstructured) { u.SetLabels(nil) })
		return w
	}
	whole := start()
	if !whole.finish(t) {
		t.Fatal("the removal does not end")
	}
	steps := len(whole.log)
	if diff := cmp.Diff([]string{"ConfigMap default/kept", "ConfigMap default/other"}, whole.c.Refs()); diff != "" || steps < 20 {
		t.Fatalf("after %d steps there are: -want, +got:\n%s", steps, diff)
	}
	for _, answers := range []bool{false, true} {
		for at := range steps {
			t.Run(fmt.Sprintf("%d/%t", at, answers), func(t *testing.T) {
				w := start()
				before := w.c.Object(named(other))
				n, dead := 0, false
				w.meet = func(string) error {
					n++
					if dead = dead || n > at && !answers; dead {
						return errDied
					}
					return nil
				}
				w.c.Left = func(string) error {
					if dead = dead || n > at; dead {
						return errDied
					}
					return nil
				}
				if w.finish(t) {
					t.Fatalf("died at %d, and continued", at)
				}
				w.meet, w.c.Left, w.in.NonMembers = nil, nil, nil
				if !w.finish(t) {
					t.Fatalf("died at %d: the removal does not end", at)
				}
				if diff := cmp.Diff(whole.c.Refs(), w.c.Refs()); diff != "" {
					t.Errorf("died at %d: -want, +got:\n%s", at, diff)
				}
				if diff := cmp.Diff(before, w.c.Object(named(other))); diff != "" {
					t.Errorf("died at %d, the object of others: -want, +got:\n%s", at, diff)
				}
				kept := w.c.Object(named(`{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: default}}`))
				if kept.GetLabels()[object.LabelPartOf] != "" || kept.GetAnnotations()[object.AnnotationKeptBy] != ourSet {
					t.Errorf("died at %d: the one to be kept is %v", at, kept)
				}
			})
		}
	}
}
