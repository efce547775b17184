// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A scenario is a bundle in a cluster, and the expected outcome of one call.
type scenario struct {
	reason string
	mode   Mode
	given  func(w *world)
	want   outcome
}

func runScenarios(t *testing.T, cases map[string]scenario) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.mode)
			tc.given(w)
			if diff := cmp.Diff(tc.want, w.outcome(t.Context())); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// hold adds a finalizer to an object.
func (w *world) hold(ref cluster.ObjectRef) {
	w.c.Edit("controller", ref, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.org/hold"}) })
}

const (
	readCRD    = "get CustomResourceDefinition widgets.example.org"
	deleteCRD  = "delete CustomResourceDefinition widgets.example.org"
	listWidget = "list Widget"
	held       = "is being deleted, waiting for finalizer example.org/hold"
)

func TestRunOrder(t *testing.T) {
	runScenarios(t, map[string]scenario{
		"Whole": {
			reason: "Custom resources are deleted before the objects that serve them, followed by the stages and parts in reverse order. Hooks run before the objects and the CRDs are deleted.",
			mode:   Remove,
			given:  (*world).addAll,
			want: outcome{
				Log: []string{
					readCRD, "delete Widget apps/sample", "delete Widget apps/main", listWidget, "hooks pre-delete",
					"delete ValidatingWebhookConfiguration web", "delete Deployment apps/web", "delete ConfigMap apps/web", "delete ConfigMap apps/db",
					"hooks post-delete", listWidget, deleteCRD, "delete Namespace apps",
				},
				Done: []string{
					"ConfigMap apps/db", "ConfigMap apps/web", "CustomResourceDefinition widgets.example.org", "Deployment apps/web", "Namespace apps",
					"ValidatingWebhookConfiguration web", "Widget apps/main", "Widget apps/sample",
				},
			},
		},
		"NoHooks": {
			reason: "Without hooks, only objects are deleted.",
			mode:   Remove,
			given: func(w *world) {
				w.add("web", aConfig)
				w.in.Hooks = nil
			},
			want: outcome{Log: []string{"delete ConfigMap apps/web"}, Done: []string{"ConfigMap apps/web"}, Left: []string{"Namespace apps"}},
		},
		"CustomResourceWaits": {
			reason: "The objects that serve a custom resource stay until its finalizer is removed.",
			mode:   Remove,
			given: func(w *world) {
				w.addAll()
				w.hold(named(aWidget))
			},
			want: outcome{
				Log:     []string{readCRD, "delete Widget apps/sample", "delete Widget apps/main"},
				Blocked: Blocked{State: health.Deleting, Message: "Widget apps/sample: " + held},
				Done:    []string{"Widget apps/main"},
				Left: []string{
					"ConfigMap apps/db", "ConfigMap apps/web", "CustomResourceDefinition widgets.example.org", "Deployment apps/web", "Namespace apps",
					"ValidatingWebhookConfiguration web", "Widget apps/sample",
				},
			},
		},
		"Waits": {
			reason: "An object that is being deleted is not deleted again. The message names the first object and counts the others.",
			mode:   Remove,
			given: func(w *world) {
				w.add("web", aConfig)
				w.add("web", strings.Replace(aConfig, "name: web", "name: later", 1))
				w.add("db", bConfig)
				for _, e := range w.in.Entries[:2] {
					w.hold(e.Ref())
				}
				w.c.Delete(named(aConfig))
			},
			want: outcome{
				Log:     []string{"hooks pre-delete", "delete ConfigMap apps/later"},
				Blocked: Blocked{State: health.Deleting, Message: "ConfigMap apps/web: " + held + " (and 1 more)"},
				Left:    []string{"ConfigMap apps/db", "ConfigMap apps/later", "ConfigMap apps/web", "Namespace apps"},
			},
		},
	})
}

func TestRunHooks(t *testing.T) {
	given := func(event inventory.Event, s hook.Standing) func(w *world) {
		return func(w *world) {
			w.add("web", aConfig)
			w.add(object.PartCRDs, aCRD)
			w.hooks[event] = s
		}
	}
	all := []string{"ConfigMap apps/web", "CustomResourceDefinition widgets.example.org", "Namespace apps"}
	before := []string{readCRD, listWidget, "hooks pre-delete"}
	runScenarios(t, map[string]scenario{
		"Due": {
			reason: "Nothing is deleted while a pre-delete hook runs.",
			mode:   Remove,
			given:  given(inventory.PreDelete, hook.Standing{Progress: hook.Due, Message: "bye is running"}),
			want:   outcome{Log: before, Blocked: Blocked{State: health.Deleting, Message: "bye is running"}, Left: all},
		},
		"Refused": {
			reason: "Nothing is deleted after a pre-delete hook has failed.",
			mode:   Remove,
			given:  given(inventory.PreDelete, hook.Standing{Progress: hook.Refused, Message: "bye failed"}),
			want: outcome{Log: before, Left: all, Blocked: Blocked{
				State: health.Warning, Message: "bye failed; fix the cause and request a retry, or force the removal",
			}},
		},
		"After": {
			reason: "Hooks that run after the objects are deleted may need the CRDs.",
			mode:   Remove,
			given:  given(inventory.PostDelete, hook.Standing{Progress: hook.Due, Message: "gone is running"}),
			want: outcome{
				Log:     append(before[:3:3], "delete ConfigMap apps/web", "hooks post-delete"),
				Blocked: Blocked{State: health.Deleting, Message: "gone is running"}, Done: all[:1], Left: all[1:],
			},
		},
		"Failures": {
			reason: "Failures that do not block the removal are reported.",
			mode:   Prune,
			given: func(w *world) {
				given(inventory.PreDelete, hook.Standing{Progress: hook.Passed, Failures: []string{"web: bye failed"}})(w)
				w.hooks[inventory.PostDelete] = hook.Standing{Progress: hook.Due, Message: "gone is running", Failures: []string{"db: gone failed"}}
			},
			want: outcome{
				Log:     []string{readCRD, "hooks pre-delete", "delete ConfigMap apps/web", "hooks post-delete"},
				Blocked: Blocked{State: health.Deleting, Message: "gone is running"}, Done: all[:1], Left: all[1:],
				HookFailures: []string{"web: bye failed", "db: gone failed"},
			},
		},
		"Error": {
			reason: "A hook that cannot be run ends the call.",
			mode:   Remove,
			given: func(w *world) {
				w.add("web", aConfig)
				w.meet = func(line string) error {
					if strings.HasPrefix(line, "hooks") {
						return errDied
					}
					return nil
				}
			},
			want: outcome{Log: []string{"hooks pre-delete"}, Left: []string{"ConfigMap apps/web", "Namespace apps"}, Err: "died"},
		},
	})
}

func TestRunRemainingCustomResources(t *testing.T) {
	given := func(w *world) {
		w.add("web", aConfig)
		w.add(object.PartCRDs, aCRD)
		w.c.Create("kubectl", otherWidget)
	}
	all := []string{"ConfigMap apps/web", "CustomResourceDefinition widgets.example.org", "Namespace apps", "Widget default/user"}
	const one = "1 object of a kind that this module defines still exists: Widget default/user"
	runScenarios(t, map[string]scenario{
		"Remove": {
			reason: "Custom resources of other clients are not deleted, and the objects that serve them stay.",
			mode:   Remove, given: given,
			want: outcome{
				Log: []string{readCRD, listWidget}, Left: all,
				Blocked: Blocked{State: health.Warning, Message: one + "; delete the ones that you do not need, or set force to delete all of them"},
			},
		},
		"Prune": {
			reason: "While the rest of the bundle stays, they keep only their CRD.",
			mode:   Prune, given: given,
			want: outcome{
				Log:  []string{readCRD, "hooks pre-delete", "delete ConfigMap apps/web", "hooks post-delete", listWidget},
				Done: all[:1], Left: all[1:], Blocked: Blocked{State: health.Warning, Message: one + "; delete the ones that you do not need"},
			},
		},
		"Force": {
			reason: "With force they are deleted, and the next call continues.",
			mode:   ForceRemove, given: given,
			want: outcome{
				Log: []string{readCRD, listWidget, "delete Widget default/user"}, Left: all[:3], Forced: all[3:],
				Blocked: Blocked{State: health.Deleting, Message: one + "; the remaining objects are being deleted"},
			},
		},
		"ForceWaits": {
			reason: "A custom resource that is being deleted is not deleted again, and keeps its finalizers.",
			mode:   ForceRemove,
			given: func(w *world) {
				given(w)
				w.hold(named(otherWidget))
				w.c.Delete(named(otherWidget))
			},
			want: outcome{
				Log: []string{readCRD, listWidget}, Left: all,
				Blocked: Blocked{State: health.Deleting, Message: one + " (" + held + "); the remaining objects are being deleted"},
			},
		},
		"Many": {
			reason: "The message names the first ones and counts the others.",
			mode:   Remove,
			given: func(w *world) {
				w.add(object.PartCRDs, aCRD)
				for _, n := range []string{"a", "b", "c", "d", "e", "f", "g"} {
					w.c.Create("kubectl", strings.Replace(otherWidget, "user", n, 1))
				}
			},
			want: outcome{
				Log: []string{readCRD, listWidget},
				Left: []string{
					"CustomResourceDefinition widgets.example.org", "Namespace apps", "Widget default/a", "Widget default/b", "Widget default/c",
					"Widget default/d", "Widget default/e", "Widget default/f", "Widget default/g",
				},
				Blocked: Blocked{State: health.Warning, Message: "7 objects of kinds that this module defines still exist: Widget default/a, Widget default/b, " +
					"Widget default/c, Widget default/d, Widget default/e and 2 more; delete the ones that you do not need, or set force to delete all of them"},
			},
		},
		"ForeignCRD": {
			reason: "The kinds of a CRD that another owner took over are not the bundle's own.",
			mode:   ForceRemove,
			given: func(w *world) {
				given(w)
				w.c.Set("kubectl", named(aCRD), "applyset-other", "metadata", "labels", object.LabelPartOf)
			},
			want: outcome{
				Log:  []string{"metadata CustomResourceDefinition widgets.example.org", "hooks pre-delete", "delete ConfigMap apps/web", "hooks post-delete"},
				Done: all[:2], Left: all[1:],
				LeftBehind: []string{all[1] + " (belongs to another owner, label applyset.kubernetes.io/part-of: applyset-other)"},
			},
		},
	})
}

func TestRunOrphans(t *testing.T) {
	annotate := func(w *world, ref cluster.ObjectRef) {
		w.c.Set("kubectl", ref, object.PolicyKeep, "metadata", "annotations", object.AnnotationResourcePolicy)
	}
	runScenarios(t, map[string]scenario{
		"Applied": {
			reason: "An object that was applied with the keep policy is kept, whatever its live annotation. Its namespace is orphaned first.",
			mode:   Remove,
			given: func(w *world) {
				w.add("web", aConfig).Keep = true
				w.add("web", aNamespace)
				w.add("db", bConfig)
			},
			want: outcome{
				Log:  []string{"patch Namespace apps", "patch ConfigMap apps/web", "hooks pre-delete", "delete ConfigMap apps/db", "hooks post-delete"},
				Done: []string{"ConfigMap apps/db", "ConfigMap apps/web", "Namespace apps"}, Kept: []string{"Namespace apps", "ConfigMap apps/web"},
				Left: []string{"ConfigMap apps/web", "Namespace apps"},
			},
		},
		"Since": {
			reason: "An object that received the annotation later is kept, here with its CRD.",
			mode:   Remove,
			given: func(w *world) {
				w.add(object.PartCRDs, aCRD)
				w.add("web", aWidget)
				annotate(w, named(aWidget))
			},
			want: outcome{
				Log: []string{
					readCRD, "patch CustomResourceDefinition widgets.example.org", "patch Widget apps/sample", "hooks pre-delete", "hooks post-delete",
				},
				Done: []string{"CustomResourceDefinition widgets.example.org", "Widget apps/sample"},
				Kept: []string{"CustomResourceDefinition widgets.example.org", "Widget apps/sample"},
				Left: []string{"CustomResourceDefinition widgets.example.org", "Namespace apps", "Widget apps/sample"},
			},
		},
		"Gone": {
			reason: "An object that another client deletes at the same time is not reported as kept.",
			mode:   Remove,
			given: func(w *world) {
				w.add("web", aConfig).Keep = true
				w.before("patch ConfigMap apps/web", func() { w.c.Finish(named(aConfig)) })
			},
			want: outcome{
				Log:  []string{"patch ConfigMap apps/web", "hooks pre-delete", "hooks post-delete"},
				Done: []string{"ConfigMap apps/web"}, Left: []string{"Namespace apps"},
			},
		},
		"Replaced": {
			reason: "An object that replaced a member is not changed.",
			mode:   Remove,
			given: func(w *world) {
				w.add("web", aConfig).Keep = true
				w.before("patch ConfigMap apps/web", func() {
					w.c.Finish(named(aConfig))
					w.c.Create("kubectl", aConfig)
				})
			},
			want: outcome{
				Log: []string{"patch ConfigMap apps/web"}, Left: []string{"ConfigMap apps/web", "Namespace apps"},
				Err: `ConfigMap apps/web: cannot orphan the object: Operation cannot be fulfilled on configmaps "web": the UID in the precondition does not match`,
			},
		},
		"Late": {
			reason: "An object that receives the annotation after the deletion has begun stays. The next call keeps it and what it needs.",
			mode:   Remove,
			given: func(w *world) {
				w.add("web", aConfig)
				w.before("hooks pre-delete", func() { annotate(w, named(aConfig)) })
			},
			want: outcome{
				Log: []string{"hooks pre-delete"}, Left: []string{"ConfigMap apps/web", "Namespace apps"},
				Blocked: Blocked{State: health.Deleting, Message: "ConfigMap apps/web: was changed by another client"},
			},
		},
		"Refused": {
			reason: "Nothing is deleted until all objects to keep are orphaned.",
			mode:   Remove,
			given: func(w *world) {
				w.add("db", bConfig)
				w.add("web", aConfig).Keep = true
				w.at("patch ConfigMap apps/web", kerrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "web", errors.New("no")))
			},
			want: outcome{
				Log: []string{"patch ConfigMap apps/web"}, Left: []string{"ConfigMap apps/db", "ConfigMap apps/web", "Namespace apps"},
				Err: `ConfigMap apps/web: cannot orphan the object: configmaps "web" is forbidden: no`,
			},
		},
	})
}

// TestOrphan verifies the state of an orphan, and that the next call neither reads nor reports it.
func TestOrphan(t *testing.T) {
	w := newWorld(t, Remove)
	e := w.add("web", `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: apps, labels: {app: web}}, data: {a: "1"}}`)
	e.Keep = true
	w.outcome(t.Context())
	u := w.c.Object(e.Ref())
	got := []any{u.GetLabels(), u.GetAnnotations(), u.Object["data"], string(u.GetUID())}
	want := []any{map[string]string{"app": "web"}, map[string]string{object.AnnotationKeptBy: ourSet}, map[string]any{"a": "1"}, e.UID}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the orphan: -want, +got:\n%s", diff)
	}
	next := []string{"hooks pre-delete", "hooks post-delete"}
	if diff := cmp.Diff(next, w.outcome(t.Context()).Log); diff != "" {
		t.Errorf("the next call: -want, +got:\n%s", diff)
	}
}
