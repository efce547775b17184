// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fakeapi"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

const (
	theirSet = "applyset-theirs"
	patchCRD = "patch CustomResourceDefinition widgets.example.org"
	nameCRD  = "CustomResourceDefinition widgets.example.org"
	lookCRD  = "metadata CustomResourceDefinition widgets.example.org"
	markCRD  = "apply at unforced CustomResourceDefinition widgets.example.org"
)

// marked makes a bundle a user of the CRD.
func (w *world) marked(set, owner string) {
	ref := named(aCRD)
	gvk := w.c.Object(ref).GroupVersionKind()
	marks := ssa.Marks{Client: ssa.New(w.c, object.DefaultFieldManager), User: ssa.User{Set: set, Owner: owner, ManagedBy: object.DefaultManagedBy}}
	_, err := marks.Use(context.Background(), gvk, ref, string(w.c.Object(ref).GetUID()))
	if err != nil {
		panic(err)
	}
	w.log = nil
}

// using adds a CRD of another owner, which the bundle uses.
func (w *world) using() *inventory.Entry {
	u := fakeapi.Parse(aCRD)
	object.AddLabels(u, map[string]string{object.LabelPartOf: theirSet, object.LabelManagedBy: object.DefaultManagedBy})
	w.c.Apply(object.DefaultFieldManager, textOf(u))
	w.marked(ourSet, "Manifest a/ours")
	e := w.enter(object.PartCRDs, aCRD)
	live := w.c.Object(e.Ref())
	e.UID, e.Use = string(live.GetUID()), inventory.UseOf(health.StateOf(object.DefaultFieldManager, live))
	return e
}

// handedOver makes the other owner hand over the CRD, and clears the log.
func (w *world) handedOver() {
	w.releaseCRDOnly()
	w.log = nil
}

func (w *world) releaseCRDOnly() {
	w.c.Edit("other", named(aCRD), func(u *unstructured.Unstructured) {
		l := u.GetLabels()
		delete(l, object.LabelPartOf)
		u.SetLabels(l)
		u.SetAnnotations(with(u.GetAnnotations(), object.AnnotationHandedOver, theirSet))
	})
}

func TestRunShared(t *testing.T) {
	widgets := []string{nameCRD, "Namespace apps", "Widget default/user"}
	runScenarios(t, map[string]scenario{
		"HandsOver": {
			reason: "A CRD that another bundle uses stays, with the custom resources of others.",
			mode:   ForceRemove,
			given: func(w *world) {
				w.add(object.PartCRDs, aCRD)
				w.c.Create("kubectl", otherWidget)
				w.marked(theirSet, "Manifest b/theirs")
			},
			want: outcome{
				Log:  []string{readCRD, patchCRD, "hooks pre-delete", "hooks post-delete"},
				Done: []string{nameCRD}, HandedOver: []string{nameCRD + " (Manifest b/theirs)"}, Left: widgets,
			},
		},
		"OrderStays": {
			reason: "Custom resources of the bundle are deleted before the objects that serve them, even if their CRD stays.",
			mode:   Remove,
			given: func(w *world) {
				w.add(object.PartCRDs, aCRD)
				w.add("web", aDeploy)
				w.add("web", aWidget)
				w.hold(named(aWidget))
				w.marked(theirSet, "Manifest b/theirs")
			},
			want: outcome{
				Log:     []string{readCRD, patchCRD, "delete Widget apps/sample"},
				Blocked: Blocked{State: health.Deleting, Message: "Widget apps/sample: " + held},
				Done:    []string{nameCRD}, HandedOver: []string{nameCRD + " (Manifest b/theirs)"},
				Left: []string{nameCRD, "Deployment apps/web", "Namespace apps", "Widget apps/sample"},
			},
		},
		"OwnMark": {
			reason: "A mark of the bundle itself does not keep its CRD.",
			mode:   Remove,
			given: func(w *world) {
				w.add(object.PartCRDs, aCRD)
				w.marked(ourSet, "Manifest a/ours")
			},
			want: outcome{
				Log:  []string{readCRD, listWidget, "hooks pre-delete", "hooks post-delete", listWidget, deleteCRD},
				Done: []string{nameCRD}, Left: []string{"Namespace apps"},
			},
		},
		"Begins": {
			reason: "Another bundle begins to use the CRD after it was read.",
			mode:   Remove,
			given: func(w *world) {
				w.add(object.PartCRDs, aCRD)
				w.meet = func(line string) error {
					if line == deleteCRD && len(object.UsersOf(w.c.Object(named(aCRD)).GetAnnotations(), ourSet)) == 0 {
						w.c.Edit("other", named(aCRD), func(u *unstructured.Unstructured) {
							u.SetAnnotations(with(u.GetAnnotations(), object.UsedBy(theirSet), "Manifest b/theirs"))
						})
					}
					return nil
				}
			},
			want: outcome{
				Log:  []string{readCRD, listWidget, "hooks pre-delete", "hooks post-delete", listWidget, deleteCRD, readCRD, patchCRD},
				Done: []string{nameCRD}, HandedOver: []string{nameCRD + " (Manifest b/theirs)"}, Left: []string{nameCRD, "Namespace apps"},
			},
		},
		"Uses": {
			reason: "A CRD of another owner stays, and loses the mark.",
			mode:   ForceRemove,
			given:  func(w *world) { w.using(); w.c.Create("kubectl", otherWidget) },
			want: outcome{
				Log:  []string{readCRD, "hooks pre-delete", "hooks post-delete", lookCRD, markCRD},
				Done: []string{nameCRD}, Left: widgets,
			},
		},
		"UsesKept": {
			reason: "The keep policy of the bundle does not concern a CRD of another owner.",
			mode:   Remove,
			given:  func(w *world) { w.using().Keep = true },
			want: outcome{
				Log:  []string{readCRD, "hooks pre-delete", "hooks post-delete", lookCRD, markCRD},
				Done: []string{nameCRD}, Left: []string{nameCRD, "Namespace apps"},
			},
		},
		"UsedGone": {
			reason: "A CRD that is gone has no mark.",
			mode:   Remove,
			given:  func(w *world) { w.using(); w.c.Delete(named(aCRD)) },
			want: outcome{
				Log: []string{readCRD, "hooks pre-delete", "hooks post-delete", lookCRD}, Done: []string{nameCRD}, Left: []string{"Namespace apps"},
			},
		},
		"Inherits": {
			reason: "The last user of a CRD that was handed over becomes its owner, and waits for the custom resources of others.",
			mode:   Remove,
			given: func(w *world) {
				w.using()
				w.handedOver()
				w.c.Create("kubectl", otherWidget)
			},
			want: outcome{
				Log: []string{readCRD, patchCRD, listWidget},
				Blocked: Blocked{
					State:   health.Warning,
					Message: "1 object of a kind that this module defines still exists: Widget default/user; delete the ones that you do not need, or set force to delete all of them",
				},
				Left: widgets,
			},
		},
		"Others": {
			reason: "A CRD that was handed over is left to another user.",
			mode:   Remove,
			given: func(w *world) {
				w.using()
				w.marked(theirSet, "Manifest b/theirs")
				w.handedOver()
			},
			want: outcome{
				Log:  []string{readCRD, "hooks pre-delete", "hooks post-delete", lookCRD, markCRD},
				Done: []string{nameCRD}, Left: []string{nameCRD, "Namespace apps"},
			},
		},
		"HandedOverMeanwhile": {
			reason: "The owner hands the CRD over after it was read. The next call makes the bundle the owner.",
			mode:   Remove,
			given: func(w *world) {
				w.using()
				w.before(lookCRD, w.releaseCRDOnly)
			},
			want: outcome{
				Log:     []string{readCRD, "hooks pre-delete", "hooks post-delete", lookCRD},
				Blocked: Blocked{State: health.Deleting, Message: nameCRD + ": was handed over, and will be deleted next"},
				Left:    []string{nameCRD, "Namespace apps"},
			},
		},
		"HandedOverRightBefore": {
			reason: "The owner hands the CRD over right before the mark is removed. The next call makes the bundle the owner.",
			mode:   Remove,
			given: func(w *world) {
				w.using()
				w.before(markCRD, w.releaseCRDOnly)
			},
			want: outcome{
				Log:     []string{readCRD, "hooks pre-delete", "hooks post-delete", lookCRD, markCRD, lookCRD},
				Blocked: Blocked{State: health.Deleting, Message: nameCRD + ": was handed over, and will be deleted next"},
				Left:    []string{nameCRD, "Namespace apps"},
			},
		},
		"Interrupted": {
			reason: "A call that ended right after it had marked the CRD has not recorded that.",
			mode:   Remove,
			given:  func(w *world) { e := w.using(); e.UID, e.Use = "", nil },
			want: outcome{
				Log:  []string{"hooks pre-delete", "hooks post-delete", lookCRD, markCRD},
				Done: []string{nameCRD}, Left: []string{nameCRD, "Namespace apps"},
			},
		},
		"Late": {
			reason: "The watch lags behind: another bundle owns the CRD by now.",
			mode:   Remove,
			given: func(w *world) {
				w.add(object.PartCRDs, aCRD)
				w.in.Known = nil
				w.before(readCRD, func() {
					w.c.Edit("other", named(aCRD), func(u *unstructured.Unstructured) {
						object.AddLabels(u, map[string]string{object.LabelPartOf: theirSet})
					})
				})
			},
			want: outcome{
				Log:  []string{readCRD, "hooks pre-delete", "hooks post-delete"},
				Done: []string{nameCRD}, LeftBehind: []string{nameCRD + " (belongs to another owner, label applyset.kubernetes.io/part-of: applyset-theirs)"}, Left: []string{nameCRD, "Namespace apps"},
			},
		},
	})
}

// TestSharedCrash checks that a process may end at any request of a removal: a CRD that another bundle uses stays, and one that is not
// used goes.
func TestSharedCrash(t *testing.T) {
	for n := range 20 {
		w := newWorld(t, Remove)
		w.add(object.PartCRDs, aCRD)
		w.marked(theirSet, "Manifest b/theirs")
		left := n
		w.meet = func(string) error {
			if left--; left < 0 {
				return errDied
			}
			return nil
		}
		_, _ = w.run(t.Context())
		w.meet, w.in.NonMembers = nil, nil
		if _, err := w.run(t.Context()); err != nil {
			t.Fatalf("died at request %d: %v", n, err)
		}
		u := w.c.Object(named(aCRD))
		if u == nil || !object.IsHandedOver(u.GetLabels(), u.GetAnnotations()) {
			t.Errorf("died at request %d: the CRD is not handed over: %v", n, u)
		}
	}
}

func with(m map[string]string, k, v string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, m)
	out[k] = v
	return out
}

func textOf(u *unstructured.Unstructured) string {
	b, err := u.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(b))
}
