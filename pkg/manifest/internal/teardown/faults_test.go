// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fakeapi"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// at answers the request with this log line with an error.
func (w *world) at(line string, err error) {
	w.meet = func(got string) error {
		if got == line {
			return err
		}
		return nil
	}
}

// before calls do before the request with this log line.
func (w *world) before(line string, do func()) {
	w.meet = func(got string) error {
		if got == line {
			do()
		}
		return nil
	}
}

// TestRunIdentifies verifies what happens to each object that has the name of a member.
func TestRunIdentifies(t *testing.T) {
	const web = "ConfigMap apps/web"
	hooks := []string{"hooks pre-delete", "hooks post-delete"}
	read := append([]string{"metadata " + web}, hooks...)
	removed := []string{hooks[0], "delete " + web, hooks[1]}
	both, space := []string{web, "Namespace apps"}, []string{"Namespace apps"}
	label := func(w *world, labels map[string]string) {
		w.c.Edit("kubectl", named(aConfig), func(u *unstructured.Unstructured) { u.SetLabels(labels) })
	}
	again := func(w *world, create func(w *world)) {
		w.add("web", aConfig)
		w.c.Finish(named(aConfig))
		create(w)
	}
	runScenarios(t, map[string]scenario{
		"Unlabelled": {
			reason: "The applied object is a member even without its labels.",
			given: func(w *world) {
				w.add("web", aConfig)
				label(w, nil)
			},
			want: outcome{Log: append([]string{"metadata " + web}, removed...), Done: []string{web}, Left: space},
		},
		"OtherBundle": {
			reason: "Another bundle owns the object now.",
			given: func(w *world) {
				w.add("web", aConfig)
				label(w, map[string]string{object.LabelPartOf: "applyset-other"})
				w.in.OwnerOf = func(_ context.Context, set string) string { return "the owner of " + set }
			},
			want: outcome{Log: read, Done: []string{web}, LeftBehind: []string{web + " (belongs to the owner of applyset-other)"}, Left: both},
		},
		"OtherUID": {
			reason: "Another client recreated the object.",
			given:  func(w *world) { again(w, func(w *world) { w.c.Create("kubectl", aConfig) }) },
			want:   outcome{Log: read, Done: []string{web}, LeftBehind: []string{web + " (recreated by another client)"}, Left: both},
		},
		"OurOtherUID": {
			reason: "The engine recreated the object.",
			given:  func(w *world) { again(w, func(w *world) { w.apply(aConfig) }) },
			want:   outcome{Log: removed, Done: []string{web}, Left: space},
		},
		"Unwatched": {
			reason: "An object that the watch does not show is read before anything is deleted.",
			given: func(w *world) {
				w.add("web", aConfig)
				w.blind[named(aConfig)] = true
			},
			want: outcome{Log: append([]string{"metadata " + web}, removed...), Done: []string{web}, Left: space},
		},
		"Gone": {
			reason: "An object that another client deleted is done, and is not reported.",
			given:  func(w *world) { again(w, func(*world) {}) },
			want:   outcome{Log: read, Done: []string{web}, Left: space},
		},
		"GoneWithKind": {
			reason: "An object whose kind was deleted with its CRD is done, too.",
			given: func(w *world) {
				w.add(object.PartCRDs, aCRD)
				w.add("web", aWidget)
				w.in.Entries = w.in.Entries[1:]
				w.c.Finish(named(aWidget))
				w.c.Finish(named(aCRD))
			},
			want: outcome{Log: append([]string{"discover /apis"}, hooks...), Done: []string{"Widget apps/sample"}, Left: space},
		},
		"Remembered": {
			reason: "An object that an earlier call found gone is not read again.",
			given: func(w *world) {
				again(w, func(w *world) { w.c.Create("kubectl", aConfig) })
				w.in.NonMembers = map[cluster.ObjectRef]NonMember{named(aConfig): {UID: w.in.Entries[0].UID}}
			},
			want: outcome{Log: hooks, Done: []string{web}, Left: both},
		},
		"LeftBehindBefore": {
			reason: "The namespace of an object that an earlier call left behind stays, even if that call failed before it kept the namespace.",
			given: func(w *world) {
				again(w, func(w *world) { w.c.Create("kubectl", aConfig) })
				w.add("web", aNamespace)
				w.in.NonMembers = map[cluster.ObjectRef]NonMember{named(aConfig): {UID: w.in.Entries[0].UID, LeftBehind: true}}
			},
			want: outcome{Log: append([]string{"patch Namespace apps"}, hooks...), Done: both, Kept: space, Left: both},
		},
		"AppliedSince": {
			reason: "An object that an earlier call found gone, and that was applied since then, is read again.",
			given: func(w *world) {
				w.in.NonMembers = map[cluster.ObjectRef]NonMember{w.add("web", aConfig).Ref(): {UID: "uid-before"}}
				label(w, nil)
			},
			want: outcome{Log: append([]string{"metadata " + web}, removed...), Done: []string{web}, Left: space},
		},
		"Unanswered": {
			reason: "An object that was created without a response is a member because of its label.",
			given: func(w *world) {
				w.apply(aConfig)
				w.enter("web", aConfig)
				w.blind[named(aConfig)] = true
			},
			want: outcome{Log: []string{"metadata " + web, hooks[0], "delete " + web, hooks[1]}, Done: []string{web}, Left: space},
		},
		"UnansweredWithoutLabels": {
			reason: "An object that the engine created without a response, and that lost its label, is reported as left behind.",
			given: func(w *world) {
				w.apply(strings.TrimSuffix(aConfig, "}") + `, "data": {"a": "b"}}`)
				label(w, nil)
				w.enter("web", aConfig)
			},
			want: outcome{
				Log: read, Done: []string{web}, Left: both,
				LeftBehind: []string{web + " (has no label " + object.LabelPartOf + ", and its UID is unknown)"},
			},
		},
		"UnansweredWithoutSet": {
			reason: "An object that the engine created without a response, and that the watch still shows, is reported as well.",
			given: func(w *world) {
				w.apply(strings.TrimSuffix(aConfig, "}") + `, "data": {"a": "b"}}`)
				label(w, map[string]string{object.LabelManagedBy: object.DefaultManagedBy})
				w.enter("web", aConfig)
			},
			want: outcome{
				Log: read, Done: []string{web}, Left: both,
				LeftBehind: []string{web + " (has no label " + object.LabelPartOf + ", and its UID is unknown)"},
			},
		},
		"UnansweredKept": {
			reason: "An object that was created and orphaned without responses is reported as kept.",
			given: func(w *world) {
				w.apply(aConfig)
				label(w, nil)
				w.c.Set("kubectl", named(aConfig), ourSet, "metadata", "annotations", object.AnnotationKeptBy)
				w.enter("web", aConfig)
			},
			want: outcome{Log: read, Done: []string{web}, Kept: []string{web}, Left: both},
		},
		"NeverMade": {
			reason: "Without the label, another client created it.",
			given: func(w *world) {
				w.c.Create("kubectl", aConfig)
				w.enter("web", aConfig)
			},
			want: outcome{Log: read, Done: []string{web}, Left: both},
		},
		"KeptBefore": {
			reason: "An orphan of an earlier process is reported as kept, because the response to that process may have been lost.",
			given: func(w *world) {
				w.add("web", aConfig)
				label(w, nil)
				w.c.Set("kubectl", named(aConfig), ourSet, "metadata", "annotations", object.AnnotationKeptBy)
			},
			want: outcome{Log: read, Done: []string{web}, Kept: []string{web}, Left: both},
		},
		"ReplacedMeanwhile": {
			reason: "An object that replaces a member is not deleted. The next call decides what it is.",
			given: func(w *world) {
				w.add("web", aConfig)
				w.before("delete "+web, func() {
					w.c.Finish(named(aConfig))
					w.c.Create("kubectl", aConfig)
				})
			},
			want: outcome{
				Log: []string{hooks[0], "delete " + web, "metadata " + web}, Left: both,
				Blocked: Blocked{State: health.Deleting, Message: web + ": was replaced by another object"},
			},
		},
		"GoneMeanwhile": {
			reason: "An object that another client deletes first is gone once the API server says so.",
			given: func(w *world) {
				w.add("web", aConfig)
				w.before("delete "+web, func() { w.c.Finish(named(aConfig)) })
			},
			want: outcome{Log: removed, Done: []string{web}, Left: space},
		},
		"Denied": {
			reason: "An applied object that may not be read ends the call.",
			given: func(w *world) {
				w.add("web", aConfig)
				w.in.Denied = map[cluster.ObjectRef]error{named(aConfig): errors.New("may not")}
			},
			want: outcome{Log: hooks[:1], Left: both, Err: "may not"},
		},
		"DeniedBefore": {
			reason: "An object that was not applied was not created, either.",
			given: func(w *world) {
				w.enter("web", aConfig)
				w.in.Denied = map[cluster.ObjectRef]error{named(aConfig): errors.New("may not")}
			},
			want: outcome{Log: hooks, Done: []string{web}, Left: space},
		},
	})
}

// TestRunAnswers verifies that only the response of an API server counts as gone, and that the call reports what it did before.
func TestRunAnswers(t *testing.T) {
	const web, db = "ConfigMap apps/web", "ConfigMap apps/db"
	maps, widgets := schema.GroupResource{Resource: "configmaps"}, schema.GroupResource{Group: "example.org", Resource: "widgets"}
	const page = "API server http://fake: the 404 Not Found response is not from a Kubernetes API server; check the server in the kubeconfig, " +
		"and any proxies in between"
	crd, widget := "CustomResourceDefinition widgets.example.org", "Widget apps/sample"
	cases := map[string]struct {
		reason string
		line   string
		err    error
		// others is true if another client has a custom resource and the removal is forced.
		others bool
		done   []string
		want   string
	}{
		"DeleteForbidden": {
			reason: "An object that may not be deleted is left.", line: "delete " + db, done: []string{web, widget},
			err: kerrors.NewForbidden(maps, "db", errors.New("no")), want: db + `: configmaps "db" is forbidden: no`,
		},
		"DeleteUnavailable": {
			reason: "An unavailable API server does not mean that the object is gone.", line: "delete " + web, done: []string{widget},
			err: kerrors.NewServiceUnavailable("down"), want: web + ": down",
		},
		"DeletePage": {
			reason: "The page of a web server does not mean that the object is gone.", line: "delete " + web, done: []string{widget}, err: fakeapi.ErrPage, want: web + ": " + page,
		},
		"DeleteOther": {
			reason: "The absence of another object does not mean that the object is gone.", line: "delete " + web, done: []string{widget},
			err: kerrors.NewNotFound(schema.GroupResource{Resource: "clusters"}, "c"), want: web + ": " + page,
		},
		"ReadForbidden": {
			reason: "Nothing is deleted until all objects are known.", line: "metadata " + web,
			err: kerrors.NewForbidden(maps, "web", errors.New("no")), want: web + `: configmaps "web" is forbidden: no`,
		},
		"ReadPage": {reason: "Nothing is deleted after a page.", line: "metadata " + web, err: fakeapi.ErrPage, want: web + ": " + page},
		"CRDUnavailable": {
			reason: "Nothing is deleted until the bundle's own kinds are known.", line: readCRD, err: kerrors.NewServiceUnavailable("down"), want: crd + ": down",
		},
		"ListForbidden": {
			reason: "The objects that serve custom resources stay while the number of custom resources is unknown.", line: listWidget, done: []string{widget},
			err: kerrors.NewForbidden(widgets, "", errors.New("no")), want: "cannot list Widget: widgets.example.org is forbidden: no",
		},
		"ListPage": {reason: "A page is not an empty list.", line: listWidget, done: []string{widget}, err: fakeapi.ErrPage, want: "cannot list Widget: " + page},
		"ForceForbidden": {
			reason: "A custom resource of another client that may not be deleted is not forced.", line: "delete Widget default/user", others: true, done: []string{widget},
			err: kerrors.NewForbidden(widgets, "user", errors.New("no")), want: `Widget default/user: widgets.example.org "user" is forbidden: no`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Remove)
			w.add("web", aNamespace)
			w.add(object.PartCRDs, aCRD)
			w.add("db", bConfig)
			w.add("web", aConfig)
			w.add("web", aWidget)
			w.blind[named(aConfig)] = true
			if tc.others {
				w.in.Mode = ForceRemove
				w.c.Create("kubectl", otherWidget)
			}
			w.at(tc.line, tc.err)
			got := w.outcome(t.Context())
			if diff := cmp.Diff(tc.want, got.Err); diff != "" {
				t.Errorf("\n%s\nRun(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.done, got.Done); diff != "" {
				t.Errorf("\n%s\nRun(...): -want done, +got done:\n%s", tc.reason, diff)
			}
			w.meet = nil
			if !w.finish(t) || len(w.c.Refs()) > 0 {
				t.Errorf("\n%s\nthe next calls leave %q", tc.reason, w.c.Refs())
			}
		})
	}
}

// TestReplacedInCache verifies that an object that replaced a member is put into the Cache only if the watch shows it, because only
// then the watch shows its deletion.
func TestReplacedInCache(t *testing.T) {
	ours := strings.Replace(aConfig, "metadata: {", "metadata: {labels: {operator.kyma-project.io/managed-by: provider-kyma}, ", 1)
	for name, tc := range map[string]struct {
		reason, text, want string
	}{
		"Ours":   {reason: "An object with our label is watched.", text: ours, want: "put ConfigMap apps/web uid-4"},
		"Others": {reason: "Any other object would stay in the Cache forever.", text: aConfig, want: "forget ConfigMap apps/web"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Remove)
			w.add("web", aConfig)
			w.before("delete ConfigMap apps/web", func() {
				w.c.Finish(named(aConfig))
				w.c.Create("kubectl", tc.text)
			})
			w.c.Cached()
			if res, err := w.run(t.Context()); err != nil || !res.Blocked.Waits() {
				t.Fatalf("Run(...): %+v, %v", res, err)
			}
			if diff := cmp.Diff([]string{tc.want}, w.c.Cached()); diff != "" {
				t.Errorf("\n%s\nthe cache: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRunSurvivesPanics checks that if a library panics on a response, this is an error of the object.
func TestRunSurvivesPanics(t *testing.T) {
	cases := map[string]struct {
		reason, line, want string
		mode               Mode
		given              func(w *world)
	}{
		"Confirm": {
			reason: "An object that the watch does not show is read.", line: "metadata ConfigMap apps/web", want: "cannot process ConfigMap apps/web", mode: Remove,
			given: func(w *world) {
				w.add("web", aConfig)
				w.c.Set("kubectl", named(aConfig), "someone", "metadata", "labels", object.LabelManagedBy)
			},
		},
		"Delete": {
			reason: "An object is deleted.", line: "delete ConfigMap apps/web", want: "cannot process ConfigMap apps/web", mode: Remove,
			given: func(w *world) { w.add("web", aConfig) },
		},
		"Remaining": {
			reason: "Custom resources of others are deleted.", line: "delete Widget default/user", want: "cannot process Widget default/user", mode: ForceRemove,
			given: func(w *world) { w.add(object.PartCRDs, aCRD); w.c.Create("kubectl", otherWidget) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.mode)
			tc.given(w)
			w.before(tc.line, func() { panic("a bad response") })
			if _, err := w.run(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nRun(...): want the error of the object, got %v", tc.reason, err)
			}
		})
	}
}
