// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// everything is all kinds of objects, in no particular order.
var everything = []string{aWebhook, aDeploy, aWidget, aConfig, aCRD, aNamespace}

// on returns an error for a line of the log.
func on(line string, err error) func(w *world) {
	return func(w *world) {
		w.meet = func(l string) error {
			if l == line {
				return err
			}
			return nil
		}
	}
}

func TestRun(t *testing.T) {
	forbidden := kerrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "c", errors.New("no\nquota"))
	refused := `ConfigMap apps/c: configmaps "c" is forbidden: no quota`
	type want struct {
		Log     []string
		Waiting string
		Err     string
		// Failed, Held and Why are the reasons that are kept.
		Failed []string
		Held   []string
		Why    string
	}
	web := func(objects ...string) piece { return piece{name: "web", digest: "1", objects: objects} }
	db := func(objects ...string) piece { return piece{name: "db", digest: "1", objects: objects} }
	hooked := func(p piece) piece { p.hooks = true; return p }
	cases := map[string]struct {
		reason string
		pieces []piece
		before func(w *world)
		want   want
	}{
		"Stages": {
			reason: "The inventory is saved first; then the objects follow stage by stage, and within a stage part by part.",
			pieces: []piece{web(everything...), db(other)},
			want: want{Log: []string{
				"save", "apply new Namespace new", "apply new CustomResourceDefinition widgets.example.org", "apply new ConfigMap apps/c", "apply new ConfigMap apps/o",
				"apply new Deployment apps/d", "apply new Widget apps/w", "apply new ValidatingWebhookConfiguration h", "finish web", "finish db", "save",
			}},
		},
		"Unsaved": {
			reason: "If the inventory cannot be saved, nothing is sent.",
			pieces: []piece{web(aConfig)},
			before: on("save", errors.New("conflict")),
			want:   want{Log: []string{"save: conflict"}, Err: "conflict"},
		},
		"Refused": {
			reason: "A part that fails does not affect the others, and is not finished. All of its other objects are applied.",
			pieces: []piece{web(aConfig, aFixed), db(other)},
			before: on("apply new ConfigMap apps/c", forbidden),
			want: want{
				Log: []string{
					"save", "apply new ConfigMap apps/c: " + forbidden.Error(), "apply new ConfigMap apps/f", "apply new ConfigMap apps/o", "finish db", "save",
				},
				Err: "web: " + refused, Failed: []string{"web: " + refused},
			},
		},
		"RefusedEarly": {
			reason: "After the stage in which a part failed, nothing more of it is sent.",
			pieces: []piece{web(aConfig, aDeploy), db(other, strings.Replace(aDeploy, "name: d", "name: e", 1))},
			before: on("apply new ConfigMap apps/c", forbidden),
			want: want{
				Log: []string{
					"save", "apply new ConfigMap apps/c: " + forbidden.Error(), "apply new ConfigMap apps/o", "apply new Deployment apps/e", "finish db", "save",
				},
				Err: "web: " + refused, Failed: []string{"web: " + refused},
			},
		},
		"Unfinished": {
			reason: "A release that cannot be recorded fails only its part.",
			pieces: []piece{web(aConfig), db(other)},
			before: on("finish web", errors.New("no\nroom")),
			want: want{
				Log: []string{"save", "apply new ConfigMap apps/c", "apply new ConfigMap apps/o", "finish web: no\nroom", "finish db", "save"},
				Err: "web: no room", Failed: []string{"web: no room"},
			},
		},
		"CRDs": {
			reason: "Until a CRD is established, parts that need its kind wait, and the rest of the bundle does not.",
			pieces: []piece{web(aCRD, aWidget), db(other)},
			before: func(w *world) { w.c.Unready = true },
			want: want{
				Log:     []string{"save", "apply new CustomResourceDefinition widgets.example.org", "apply new ConfigMap apps/o", "finish db", "save"},
				Waiting: "CustomResourceDefinition widgets.example.org: Install in progress", Why: "CustomResourceDefinition widgets.example.org: Install in progress",
			},
		},
		"CRDsUnwatched": {
			reason: "If no watch knows the CRD, the answer of the API server counts.",
			pieces: []piece{web(aCRD, aWidget)},
			before: func(w *world) { w.c.Unready, w.blind = true, true },
			want: want{
				Log:     []string{"save", "apply new CustomResourceDefinition widgets.example.org", "save"},
				Waiting: "CustomResourceDefinition widgets.example.org: Install in progress", Why: "CustomResourceDefinition widgets.example.org: Install in progress",
			},
		},
		"CRDsAfterHooks": {
			reason: "Parts wait for a CRD that comes after the hooks as well.",
			pieces: []piece{hooked(web(aCRD, aWidget))},
			before: func(w *world) { w.c.Unready = true },
			want: want{
				Log:     []string{"save", "pre web", "apply new CustomResourceDefinition widgets.example.org", "save"},
				Waiting: "CustomResourceDefinition widgets.example.org: Install in progress", Why: "CustomResourceDefinition widgets.example.org: Install in progress",
			},
		},
		"WaitFlagBegun": {
			reason: "Hooks that have begun continue, even if the install is not ready any more.",
			pieces: []piece{{name: "web", digest: "1", objects: []string{aConfig}, hooks: true, wait: true}},
			before: func(w *world) { w.unready["web"], w.begun = "is not ready", inventory.Run{Started: 1} },
			want:   want{Log: []string{"save", "pre web", "apply new ConfigMap apps/c", "post web", "finish web", "save"}},
		},
		"WaitFlagNext": {
			reason: "The hooks after the first one continue, even if the install is not ready any more.",
			pieces: []piece{{name: "web", digest: "1", objects: []string{aConfig}, hooks: true, wait: true}},
			before: func(w *world) { w.unready["web"], w.begun = "is not ready", inventory.Run{Index: 1} },
			want:   want{Log: []string{"save", "pre web", "apply new ConfigMap apps/c", "post web", "finish web", "save"}},
		},
		"Hooks": {
			reason: "Hooks run before and after the objects. Namespaces and CRDs wait for them, too, except for those that come first in Helm.",
			pieces: []piece{hooked(web(everything...)), db(other)},
			want: want{Log: []string{
				"save", "pre web", "apply new Namespace new", "apply new CustomResourceDefinition widgets.example.org", "apply new ConfigMap apps/c",
				"apply new ConfigMap apps/o", "apply new Deployment apps/d", "apply new Widget apps/w", "apply new ValidatingWebhookConfiguration h",
				"post web", "finish web", "finish db", "save",
			}},
		},
		"HooksFirst": {
			reason: "The CRDs in crds/ and the namespace of the release come before all hooks.",
			pieces: []piece{hooked(web(
				strings.Replace(aCRD, "{name: widgets", `{annotations: {test/in-crds: "1"}, name: widgets`, 1), aNamespace,
				`{apiVersion: v1, kind: Namespace, metadata: {name: apps}}`, aConfig))},
			before: func(w *world) {
				// It has the label of the bundle, although the inventory does not list it.
				w.c.Edit("x", cluster.ObjectRef{Kind: "Namespace", Name: "apps"}, func(u *unstructured.Unstructured) {
					object.AddLabels(u, map[string]string{object.LabelPartOf: worldSet})
				})
			},
			want: want{Log: []string{
				"save", "apply new Namespace apps", "apply Namespace apps", "apply new CustomResourceDefinition widgets.example.org", "pre web",
				"apply new Namespace new", "apply new ConfigMap apps/c", "post web", "finish web", "save",
			}},
		},
		"HookRuns": {
			reason: "A running hook is waited for, and the parts after its install wait as well.",
			pieces: []piece{hooked(web(aConfig)), db(other), {name: "top", digest: "1", objects: []string{aFixed}, hooks: true}},
			before: func(w *world) { w.waits["pre web"] = "hook x is running" },
			want:   want{Log: []string{"save", "pre web", "save"}, Waiting: "hook x is running", Why: "hook x is running"},
		},
		"HookFails": {
			reason: "A hook that fails stops only its install.",
			pieces: []piece{hooked(web(aConfig)), db(other)},
			before: on("pre web", errors.New("hook x\nfailed")),
			want: want{
				Log: []string{"save", "pre web: hook x\nfailed", "apply new ConfigMap apps/o", "finish db", "save"},
				Err: "web: hook x failed", Failed: []string{"web: hook x failed"},
			},
		},
		"LastHookRuns": {
			reason: "The revision is recorded once the last hooks are complete.",
			pieces: []piece{hooked(web(aConfig)), db(other)},
			before: func(w *world) { w.waits["post web"] = "hook y is running" },
			want: want{
				Log:     []string{"save", "pre web", "apply new ConfigMap apps/c", "apply new ConfigMap apps/o", "post web", "finish db", "save"},
				Waiting: "hook y is running", Why: "hook y is running",
			},
		},
		"LastHookFails": {
			reason: "If a last hook fails, the revision is not recorded.",
			pieces: []piece{hooked(web(aConfig))},
			before: on("post web", errors.New("hook y failed")),
			want: want{
				Log: []string{"save", "pre web", "apply new ConfigMap apps/c", "post web: hook y failed", "save"},
				Err: "web: hook y failed", Failed: []string{"web: hook y failed"},
			},
		},
		"WaitFlag": {
			reason: "If config sets Wait, the last hooks run once the install is ready. Parts after it are held back.",
			pieces: []piece{{name: "web", digest: "1", objects: []string{aConfig}, hooks: true, wait: true}, db(other)},
			before: func(w *world) { w.unready["web"] = "is not ready" },
			want: want{
				Log:     []string{"save", "pre web", "apply new ConfigMap apps/c", "save"},
				Waiting: "waiting to run post-install hooks until the install is ready, because the config layer sets Wait: ConfigMap apps/c: is not ready",
				Why:     "waiting to run post-install hooks until the install is ready, because the config layer sets Wait: ConfigMap apps/c: is not ready",
				Held:    []string{"db: waits until install web is ready, because the config layer sets Wait: still being applied"},
			},
		},
		"Held": {
			reason: "A part that is held back is not sent, although it is in the inventory.",
			pieces: []piece{{name: "web", digest: "1", objects: []string{aConfig}, wait: true}, db(other)},
			want: want{
				Log:     []string{"save", "apply new ConfigMap apps/c", "finish web", "save"},
				Waiting: "waits until install web is ready, because the config layer sets Wait: still being applied",
				Why:     "waits until install web is ready, because the config layer sets Wait: still being applied",
				Held:    []string{"db: waits until install web is ready, because the config layer sets Wait: still being applied"},
			},
		},
		"Resource": {
			reason: "The custom resource of the bundle comes last.",
			pieces: []piece{{name: object.PartResource, digest: "1", objects: []string{aConfig}}, web(aWebhook, other)},
			want: want{Log: []string{
				"save", "apply new ConfigMap apps/o", "apply new ValidatingWebhookConfiguration h", "apply new ConfigMap apps/c", "finish web", "save",
			}},
		},
		"ResourceWaits": {
			reason: "The custom resource of the bundle waits for all installs.",
			pieces: []piece{web(aWebhook, other), {name: object.PartResource, digest: "1", objects: []string{aConfig}}},
			before: on("apply new ConfigMap apps/o", forbidden),
			want: want{
				Log:     []string{"save", "apply new ConfigMap apps/o: " + forbidden.Error(), "save"},
				Waiting: "resource is waiting for web to be applied", Why: "resource is waiting for web to be applied",
				Err: `web: ConfigMap apps/o: configmaps "c" is forbidden: no quota`, Failed: []string{`web: ConfigMap apps/o: configmaps "c" is forbidden: no quota`},
			},
		},
		"Abandoned": {
			reason: "The records of a release whose move was never finished are deleted before anything else.",
			pieces: []piece{{name: "web", digest: "1", objects: []string{aConfig}, abandoned: true}},
			want:   want{Log: []string{"abandon web", "save", "apply new ConfigMap apps/c", "finish web", "save"}},
		},
		"NotAbandoned": {
			reason: "If that fails, nothing is done for the part, and the inventory still knows the release.",
			pieces: []piece{{name: "web", digest: "1", objects: []string{aConfig}, abandoned: true}, db(other)},
			before: on("abandon web", errors.New("no")),
			want: want{
				Log: []string{"abandon web: no", "save", "apply new ConfigMap apps/o", "finish db", "save"},
				Err: "web: no", Failed: []string{"web: no"},
			},
		},
		"Found": {
			reason: "An existing object that must not be changed is an error of its part.",
			pieces: []piece{web(aConfig)},
			before: func(w *world) { w.c.Create("kubectl", aConfig) },
			want: want{
				Log: []string{"save", "apply new ConfigMap apps/c", "save"},
				Err: "web: ConfigMap apps/c: already exists and does not belong to this module; remove the object, or set adopt",
				Failed: []string{
					"web: ConfigMap apps/c: already exists and does not belong to this module; remove the object, or set adopt",
				},
			},
		},
		"ManyFail": {
			reason: "If there are many errors, the first ones are listed.",
			pieces: []piece{
				{name: "d", digest: "1", fails: errors.New("4")}, {name: "c", digest: "1", fails: errors.New("3")}, {name: "b", digest: "1", fails: errors.New("2")},
				{name: "a", digest: "1", fails: errors.New("1\n1")},
			},
			want: want{
				Log: []string{"save", "save"}, Err: "a: 1 1; b: 2; c: 3; …", Failed: []string{"a: 1 1", "b: 2", "c: 3", "d: 4"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.pieces...)
			if tc.before != nil {
				tc.before(w)
			}
			r, err := w.run()
			why := inventory.Reasons{}
			if inv := w.last.Inventory; inv != nil && inv.Last != nil {
				why = *inv.Last
			}
			got := want{Log: w.took(), Waiting: r.Waiting, Err: textOf(err), Why: why.Waiting}
			for part, f := range why.Failed {
				got.Failed = append(got.Failed, part.String()+": "+f.Message)
			}
			for part, why := range why.Held {
				got.Held = append(got.Held, part.String()+": "+why)
			}
			slices.Sort(got.Failed)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
			if tc.want.Err == "conflict" {
				return
			}
			// Without the fault, everything is done in the end.
			w.meet, w.waits, w.unready = nil, map[string]string{}, map[string]string{}
			w.c.Unready, w.blind = false, false
			for i := range w.pieces {
				w.pieces[i].fails = nil
			}
			if ref := refOf(aCRD); w.c.Object(ref) != nil {
				w.c.Establish(ref)
			}
			if name == "Found" {
				w.c.Finish(refOf(aConfig))
			}
			w.runAll()
		})
	}
}

// A run that has nothing to do sends nothing.
func TestRunNothing(t *testing.T) {
	w := newWorld(t, piece{name: "web", digest: "1", objects: everything})
	w.runAll()
	if r, err := w.run(); err != nil || r.Waiting != "" {
		t.Errorf("Run(...): %+v, %v", r, err)
	}
	if diff := cmp.Diff([]string(nil), w.took()); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
}

// The context of a call may end at any request. What was applied until then is saved, so that it is not applied again.
func TestRunOutOfTime(t *testing.T) {
	w := newWorld(t, piece{name: "web", digest: "1", objects: []string{aConfig, aDeploy, aWebhook}})
	ctx, cancel := context.WithCancel(t.Context())
	w.ctx = ctx
	w.left = func(line string) error {
		if line == "apply new ConfigMap apps/c" {
			// The answer is still read.
			w.left = func(string) error { cancel(); return nil }
		}
		return nil
	}
	if _, err := w.run(); err == nil {
		t.Error("Run(...): the time is over")
	}
	if en := w.stored.Find(refOf(aConfig)); en == nil || en.UID == "" {
		t.Errorf("what was applied is not saved: %+v", w.stored)
	}
	w.ctx = t.Context()
	w.left = nil
	w.took()
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(w.log, "apply new ConfigMap apps/c") {
		t.Errorf("it is applied again: %v", w.log)
	}
}

// TestRunSurvivesPanics checks that if a library panics on an object, only this object fails.
func TestRunSurvivesPanics(t *testing.T) {
	other := strings.Replace(aConfig, "name: c", "name: other", 1)
	w := newWorld(t, piece{name: "web", digest: "1", objects: []string{aConfig, other}})
	w.left = func(line string) error {
		if line == "apply new ConfigMap apps/c" {
			panic("a bad response")
		}
		return nil
	}
	_, err := w.run()
	if err == nil || !strings.Contains(err.Error(), "cannot process ConfigMap apps/c because of a bug") || strings.Contains(err.Error(), "a bad response") {
		t.Errorf("Run(...): want the error of the object, got %v", err)
	}
	if en := w.stored.Find(refOf(other)); en == nil || en.UID == "" {
		t.Errorf("want the other object to be applied: %+v", w.stored)
	}
}
