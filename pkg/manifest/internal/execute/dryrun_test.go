// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

func changesOf(s Plan) []string {
	var out []string
	for _, c := range s.Changes {
		line := string(c.Action) + " " + c.Key.String()
		if len(c.Fields) > 0 {
			line += " " + strings.Join(c.Fields, ",")
		}
		out = append(out, line)
	}
	return out
}

func TestDryRun(t *testing.T) {
	was := []piece{{name: "web", digest: "1", objects: []string{aConfig, aDeploy, aFixed}}, {name: "db", digest: "1", objects: []string{other}}}
	db := was[1]
	fresh := `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: new}}`
	keep := strings.Replace(other, "{name: o", `{annotations: {helm.sh/resource-policy: keep}, name: o`, 1)
	web := func(objects ...string) piece { return piece{name: "web", digest: "2", objects: objects} }
	loose := strings.Replace(aCRD, "storage: true", "storage: true, schema: {openAPIV3Schema: {type: object}}", 1)
	strict := strings.Replace(aCRD, "storage: true", "storage: true, schema: {openAPIV3Schema: {type: object, required: [spec]}}", 1)
	try := func(line string, err error) func(w *world) {
		return func(w *world) {
			w.c.Meet = func(l string) error {
				if l == line {
					return err
				}
				return nil
			}
		}
	}
	type want struct {
		Changes, Problems, Notes []string
		Err                      string
	}
	cases := map[string]struct {
		reason string
		was    []piece
		before func(w *world)
		pieces []piece
		want   want
	}{
		"Nothing": {reason: "A bundle that is up to date needs no changes.", pieces: was},
		"First": {
			reason: "A first installation creates everything, including objects that need their own kinds and namespaces.", was: []piece{},
			pieces: []piece{web(aWidget, fresh, aCRD, aNamespace)},
			want: want{Changes: []string{
				"Create Namespace new", "Create CustomResourceDefinition widgets.example.org", "Create ConfigMap new/x", "Create Widget apps/w",
			}},
		},
		"Upgrade": {
			reason: "Changes, recreations, creations and prunings are listed in the order of the stages; fields are named.",
			before: func(w *world) { w.recreate = true }, pieces: []piece{web(aConfig2, aFixed2, aNamespace)},
			want: want{Changes: []string{
				"Create Namespace new", "Change ConfigMap apps/c data.a", "Recreate ConfigMap apps/f data", "Prune Deployment apps/d", "Prune ConfigMap apps/o",
			}},
		},
		"Refused": {
			reason: "A refusal of the API server is a problem of the part, and everything else is listed nevertheless.",
			pieces: []piece{web(aConfig, aDeploy, aFixed2), {name: "db", digest: "2", objects: []string{aNamespace, other}}},
			want: want{
				Changes: []string{"Create Namespace new"},
				Problems: []string{
					"web: ConfigMap apps/f: data cannot be changed (field is immutable when `immutable` is set); to recreate the object, set recreate",
				},
			},
		},
		"CRDInvalid": {
			reason: "A CRD that was not known to exist, and that would make objects invalid, is a problem as well.", was: []piece{},
			before: func(w *world) {
				w.adoption = object.AdoptUnowned
				w.c.Create("kubectl", loose)
				w.c.Create("kubectl", aWidget)
			},
			pieces: []piece{web(strict)},
			want: want{Problems: []string{
				"web: CustomResourceDefinition widgets.example.org: 1 of 1 objects would be invalid under version v1 of the new CRD: " +
					"Widget apps/w (spec: required value); fix these objects first",
			}},
		},
		"NewVersion": {
			reason: "An object of a version that the plan adds to the CRD cannot be tried.", was: []piece{{name: "web", digest: "1", objects: []string{aCRD}}},
			pieces: []piece{web(strings.Replace(aCRD, "versions: [", "versions: [{name: v2, served: true, storage: false}, ", 1), strings.Replace(aWidget, "/v1", "/v2", 1))},
			want: want{
				Changes: []string{`Change CustomResourceDefinition widgets.example.org spec.versions[name="v2"]`, "Create Widget apps/w"},
				Notes:   []string{"Widget apps/w cannot be checked with a dry run: the API version of this kind is not served yet"},
			},
		},
		"CRDRefused": {
			reason: "A CRD that the plan refuses is a problem of its part, and the parts that it blocks wait.",
			was:    []piece{{name: "web", digest: "1", objects: []string{loose}}},
			before: func(w *world) { w.c.Create("kubectl", aWidget); w.former = []cluster.ObjectRef{refOf(other)} },
			pieces: []piece{{name: "web", digest: "2", objects: []string{strict}, hooks: true}, {name: "db", digest: "1", objects: []string{other}}},
			want: want{
				Problems: []string{
					"web: CustomResourceDefinition widgets.example.org: 1 of 1 objects would be invalid under version v1 of the new CRD: " +
						"Widget apps/w (spec: required value); fix these objects first",
				},
				Notes: []string{
					"db is waiting for CustomResourceDefinition widgets.example.org of web to be applied", "no objects are pruned until all installs can be rendered",
				},
			},
		},
		"Adopted": {
			reason: "Objects of an adopted release that the chart does not contain are pruned.", was: []piece{},
			before: func(w *world) { w.former = []cluster.ObjectRef{refOf(other)} }, pieces: []piece{web(aConfig)},
			want: want{Changes: []string{"Create ConfigMap apps/c", "Prune ConfigMap apps/o"}},
		},
		"Unadoptable": {
			reason: "A release that must not be adopted is a problem.", was: []piece{},
			before: func(w *world) { w.formerErr = &ssa.RefusedError{Err: errors.New("no\nway")} }, pieces: []piece{web(aConfig)},
			want: want{Changes: []string{"Create ConfigMap apps/c"}, Problems: []string{"web: no way"}},
		},
		"Unknown": {
			reason: "If the release cannot be read, there is no plan.", was: []piece{},
			before: func(w *world) { w.formerErr = errors.New("cut") }, pieces: []piece{web(aConfig)}, want: want{Err: "cut"},
		},
		"Recorded": {
			reason: "Once there is a revision, nothing is adopted.", before: func(w *world) { w.former = []cluster.ObjectRef{refOf(aWidget)} },
			pieces: []piece{web(aConfig, aDeploy, aFixed), db},
		},
		"Repaired": {
			reason: "A repair adopts nothing.", pieces: was,
			before: func(w *world) {
				w.former = []cluster.ObjectRef{refOf(aWidget)}
				w.c.Finish(refOf(aConfig))
				rec := w.stored.Parts["web"]
				rec.Revision = 0
				w.stored.Parts["web"] = rec
			},
			want: want{Changes: []string{"Create ConfigMap apps/c"}},
		},
		"Plain": {
			reason: "Without a chart, nothing is adopted.", was: []piece{}, before: func(w *world) { w.former = []cluster.ObjectRef{refOf(aWidget)} },
			pieces: []piece{{name: "web", digest: "1", objects: []string{aConfig}, plain: true}},
			want:   want{Changes: []string{"Create ConfigMap apps/c"}},
		},
		"Outage": {
			reason: "If the cluster cannot be queried, there is no plan.", pieces: []piece{web(aConfig2)},
			before: try("try apply ConfigMap apps/c", kerrors.NewServiceUnavailable("later")), want: want{Err: "ConfigMap apps/c: later"},
		},
		"Untriable": {
			reason: "An object that cannot be tried is noted.", pieces: []piece{web(aConfig2, aDeploy, aFixed), db},
			before: try("try apply ConfigMap apps/c", kerrors.NewBadRequest("admission webhook x does not support dry runs")),
			want: want{
				Changes: []string{"Change ConfigMap apps/c"},
				Notes:   []string{"ConfigMap apps/c cannot be checked with a dry run: admission webhook x does not support dry runs"},
			},
		},
		"Unrendered": {
			reason: "A part that cannot be rendered is a problem, and nothing is pruned.",
			pieces: []piece{web(aConfig), {name: "db", digest: "2", fails: errors.New("no\nchart")}},
			want: want{
				Problems: []string{"db: no chart"}, Notes: []string{"no objects are pruned until all installs can be rendered"},
			},
		},
		"Deleting": {
			reason: "An object that is being deleted is created again after that.", pieces: []piece{web(aConfig2, aDeploy, aFixed), db},
			before: func(w *world) { w.c.Edit("x", refOf(aConfig), finalize); w.c.Delete(refOf(aConfig)) },
			want:   want{Changes: []string{"Create ConfigMap apps/c"}},
		},
		"Kept": {
			reason: "Some objects are not pruned: those with the annotation, those of other owners, and those that are being deleted.",
			was:    []piece{was[0], {name: "db", digest: "1", objects: []string{keep}}}, pieces: []piece{web(aConfig)},
			before: func(w *world) {
				w.c.Edit("x", refOf(aFixed), func(u *unstructured.Unstructured) {
					object.AddLabels(u, map[string]string{object.LabelPartOf: "applyset-other"})
				})
				w.c.Edit("x", refOf(aDeploy), finalize)
				w.c.Delete(refOf(aDeploy))
			},
		},
		"Sheltered": {
			reason: "An object that is kept also keeps what it depends on.",
			was:    []piece{{name: "web", digest: "1", objects: []string{aNamespace, fresh, strings.Replace(fresh, "{name: x", "{annotations: {helm.sh/resource-policy: keep}, name: kept", 1)}}},
			pieces: []piece{}, want: want{Changes: []string{"Prune ConfigMap new/x"}},
		},
		"Hooks": {
			reason: "The plan notes the number of hooks.", was: []piece{},
			pieces: []piece{{name: "web", digest: "1", objects: []string{aConfig}, hooks: true}, {name: "bad", digest: "1", fails: errors.New("no"), hooks: true}},
			want: want{
				Changes: []string{"Create ConfigMap apps/c"}, Problems: []string{"bad: no"},
				Notes: []string{"no objects are pruned until all installs can be rendered", "web: the chart has 1 hook"},
			},
		},
		"Forbidden": {
			reason: "Without permission for a dry run, there is a problem.", pieces: []piece{web(aConfig2, aDeploy, aFixed), db},
			before: try("try apply ConfigMap apps/c", kerrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "c", errors.New("no"))),
			want:   want{Problems: []string{`web: ConfigMap apps/c: configmaps "c" is forbidden: no`}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.was == nil {
				tc.was = was
			}
			w := newWorld(t, tc.was...)
			if len(tc.was) > 0 {
				w.runAll()
			}
			if tc.before != nil {
				tc.before(w)
			}
			w.pieces = tc.pieces
			before, stored := contents(w), w.stored
			s, err := w.dryRun()
			got := want{Changes: changesOf(s), Problems: s.Problems, Notes: s.Notes, Err: textOf(err)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nDryRun(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, contents(w)); diff != "" || w.stored != stored || len(w.took()) > 0 {
				t.Errorf("\n%s\nDryRun(...): it changes something: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}
