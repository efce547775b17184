// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestRunChanged verifies that an object that the watch shows in an outdated state is deleted only if nothing that matters has changed.
func TestRunChanged(t *testing.T) {
	const web, pre, post = "ConfigMap apps/web", "hooks pre-delete", "hooks post-delete"
	// given changes an object before the first requests that delete it.
	given := func(times int, change func(u *unstructured.Unstructured)) func(w *world) {
		return func(w *world) {
			w.add("web", aConfig)
			n := 0
			w.before("delete "+web, func() {
				if n++; n <= times {
					w.c.Edit("kubectl", named(aConfig), change)
				}
			})
		}
	}
	touch := func(u *unstructured.Unstructured) {
		u.SetAnnotations(map[string]string{"example.org/turns": u.GetAnnotations()["example.org/turns"] + "x"})
	}
	waits := Blocked{State: health.Deleting, Message: web + ": was changed by another client"}
	both := []string{web, "Namespace apps"}
	runScenarios(t, map[string]scenario{
		"Other": {
			reason: "A change of anything else is read, and the object is deleted.", mode: Remove, given: given(1, touch),
			want: outcome{Log: []string{pre, "delete " + web, "metadata " + web, "delete " + web, post}, Done: both[:1], Left: both[1:]},
		},
		"AllTheTime": {
			reason: "A client that changes the object all the time does not prevent its deletion.", mode: Remove, given: given(attempts, touch),
			want: outcome{
				Log:  []string{pre, "delete " + web, "metadata " + web, "delete " + web, "metadata " + web, "delete " + web, post},
				Done: both[:1], Left: both[1:],
			},
		},
		"Unlabelled": {
			reason: "The applied object is a member even without its labels.", mode: Remove,
			given: given(1, func(u *unstructured.Unstructured) { u.SetLabels(nil) }),
			want:  outcome{Log: []string{pre, "delete " + web, "metadata " + web, "delete " + web, post}, Done: both[:1], Left: both[1:]},
		},
		"Kept": {
			reason: "An object that has the keep policy by now stays for the next call.", mode: Remove,
			given: given(1, func(u *unstructured.Unstructured) {
				u.SetAnnotations(map[string]string{object.AnnotationResourcePolicy: object.PolicyKeep})
			}),
			want: outcome{Log: []string{pre, "delete " + web, "metadata " + web}, Blocked: waits, Left: both},
		},
		"Adopted": {
			reason: "An object that another bundle owns by now stays for the next call.", mode: Remove,
			given: given(1, func(u *unstructured.Unstructured) {
				u.SetLabels(map[string]string{object.LabelPartOf: "applyset-other"})
			}),
			want: outcome{Log: []string{pre, "delete " + web, "metadata " + web}, Blocked: waits, Left: both},
		},
		"Deleted": {
			reason: "An object that another client deleted is not deleted again.", mode: Remove,
			given: func(w *world) {
				w.add("web", aConfig)
				w.before("delete "+web, func() {
					w.hold(named(aConfig))
					w.c.Delete(named(aConfig))
				})
			},
			want: outcome{
				Log: []string{pre, "delete " + web, "metadata " + web}, Left: both,
				Blocked: Blocked{State: health.Deleting, Message: web + ": " + held},
			},
		},
	})
}
