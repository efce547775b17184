// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func (b *bench) plan(s *Bundle) Plan {
	b.t.Helper()
	p, err := b.Plan(b.t.Context(), b.c, s)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// lines returns the lines of a plan: changes, then problems, then notes.
func lines(p Plan) []string {
	var out []string
	for _, c := range p.Changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Action, c.Key, strings.Join(c.Fields, " "))))
	}
	for _, l := range p.Problems {
		out = append(out, "problem: "+l)
	}
	for _, l := range p.Notes {
		out = append(out, "note: "+l)
	}
	return out
}

// state returns the state of the whole server.
func (s *fakeServer) state(t testing.TB) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for k, o := range s.objects {
		b, err := json.Marshal(o.full())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, k.String()+" "+string(b))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func refusing(name string, st *metav1.Status) func(string, cluster.ObjectRef) *metav1.Status {
	return func(verb string, k cluster.ObjectRef) *metav1.Status {
		if verb == "patch" && k.Name == name {
			return st
		}
		return nil
	}
}

func immutable(field string) *metav1.Status {
	st := refusal(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, `Deployment.apps "web" is invalid: %s: Invalid value: field is immutable`, field)
	st.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Message: "Invalid value: field is immutable", Field: field}}}
	return st
}

func TestPlan(t *testing.T) {
	web := bundleOf(install("web", webTemplates...))
	changed := func(templates ...string) *Bundle { return bundleOf(install("web", templates...)) }
	withResource := func(s *Bundle, text string) *Bundle {
		s.Resource = manifestOf(t, text)
		return s
	}
	replicas := strings.Replace(tmplDeploy, "replicas: 1", "replicas: 2", 1)
	cases := map[string]struct {
		reason string
		before *Bundle
		world  func(b *bench)
		bundle *Bundle
		want   []string
	}{
		"Empty": {
			reason: "In an empty cluster everything is created, and the namespace is reported.",
			bundle: web,
			want: []string{
				"Create ServiceAccount apps/web", "Create ConfigMap apps/web", "Create ClusterRole web", "Create Service apps/web",
				"Create Deployment apps/web", "note: namespace apps would be created",
			},
		},
		"Done": {
			reason: "An object that is applied and did not change is not part of a plan.",
			before: web, bundle: web,
		},
		"Changed": {
			reason: "Fields are named without values. What is no longer wanted is pruned, the last stage first.",
			before: web,
			bundle: changed(strings.Replace(tmplConfig, "{{ .Values.greeting }}", "secret", 1), tmplAccount, replicas),
			want: []string{
				"Change ConfigMap apps/web data.greeting data.revision", "Change Deployment apps/web spec.replicas",
				"Prune Service apps/web", "Prune ClusterRole web",
			},
		},
		"Same": {
			reason: "Other inputs that render the same objects change nothing.",
			before: changed(tmplAccount), bundle: changed(tmplAccount, "# nothing\n"),
		},
		"PartGone": {
			reason: "The objects of an install that was removed are pruned.",
			before: bundleOf(install("web", tmplAccount), install("other", configMap("other"))), bundle: changed(tmplAccount),
			want: []string{"Prune ConfigMap apps/other"},
		},
		"Drift": {
			reason: "Objects that others changed are changed back, and objects that others deleted are created.",
			before: web, bundle: web,
			world: func(b *bench) {
				b.s.edit(key("Deployment", "apps", "web"), func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["replicas"] = int64(7) })
				b.s.remove(key("Service", "apps", "web"))
			},
			want: []string{"Create Service apps/web", "Change Deployment apps/web spec.replicas"},
		},
		"Collision": {
			reason: "An object of another owner is a problem.",
			world: func(b *bench) {
				b.s.put(manifestOf(t, namespaceOf("apps")).Object)
				b.s.put(manifestOf(t, configMapIn("apps", "web")).Object)
			},
			bundle: changed(tmplConfig, tmplAccount),
			want: []string{
				"Create ServiceAccount apps/web",
				"problem: web: ConfigMap apps/web: already exists and does not belong to this module; remove the object, or set adopt",
			},
		},
		"Adopt": {
			reason: "With adoption, an object of another owner is changed.",
			world: func(b *bench) {
				b.s.put(manifestOf(t, namespaceOf("apps")).Object)
				b.s.put(manifestOf(t, configMapIn("apps", "web")).Object)
			},
			bundle: func() *Bundle { s := changed(configMap("web")); s.Adopt = true; return s }(),
			want: []string{
				"Change ConfigMap apps/web metadata.annotations metadata.labels",
			},
		},
		"NewKind": {
			reason: "Objects of a kind that the plan itself adds cannot be tried.",
			bundle: changed("crds/"+tmplCRD, fmt.Sprintf(tmplWidget, "w")),
			want:   []string{"Create CustomResourceDefinition widgets.example.org", "Create Widget apps/w"},
		},
		"UnknownKind": {
			reason: "An unknown kind is a problem, and nothing is pruned.",
			before: changed(tmplAccount, configMap("old")), bundle: changed(tmplAccount, fmt.Sprintf(tmplWidget, "w")),
			want: []string{
				"problem: web: Widget w: the cluster does not serve kind Widget in example.org/v1",
				"note: no objects are pruned until all installs can be rendered",
			},
		},
		"NewNamespace": {
			reason: "Objects in a namespace that the plan itself creates cannot be tried.",
			bundle: changed(namespaceOf("apps"), tmplAccount),
			want:   []string{"Create Namespace apps", "Create ServiceAccount apps/web"},
		},
		"Refused": {
			reason: "A refusal of the API server is a problem that names the object.",
			world: func(b *bench) {
				b.s.put(manifestOf(t, namespaceOf("apps")).Object)
				b.s.fault = refusing("web", refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "exceeded quota"))
			},
			bundle: changed(tmplAccount, configMap("fine")),
			want:   []string{"Create ConfigMap apps/fine", "problem: web: ServiceAccount apps/web: exceeded quota"},
		},
		"NoDryRun": {
			reason: "If a webhook does not support dry runs, its effect is unknown.",
			world: func(b *bench) {
				b.s.put(manifestOf(t, namespaceOf("apps")).Object)
				b.s.fault = refusing("web", refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, `admission webhook "w" does not support dry runs`))
			},
			bundle: changed(tmplAccount),
			want:   []string{"Create ServiceAccount apps/web", `note: ServiceAccount apps/web cannot be checked with a dry run: admission webhook "w" does not support dry runs`},
		},
		"Immutable": {
			reason: "An immutable field is a problem.",
			before: changed(tmplDeploy), bundle: changed(replicas),
			world: func(b *bench) { b.s.fault = refusing("web", immutable("spec.selector")) },
			want: []string{"problem: web: Deployment apps/web: spec.selector cannot be changed (field is immutable); to recreate the object, set immutableFields: Recreate, or annotation " +
				`kyma.m.crossplane.io/recreate: "true" on the object in the chart`},
		},
		"Recreate": {
			reason: "It is not a problem if the bundle allows objects to be recreated.",
			before: changed(tmplDeploy), bundle: func() *Bundle { s := changed(replicas); s.Recreate = true; return s }(),
			world: func(b *bench) { b.s.fault = refusing("web", immutable("spec.selector")) },
			want:  []string{"Recreate Deployment apps/web spec.selector"},
		},
		"RecreateOne": {
			reason: "An annotation of the object may allow it.",
			before: changed(tmplDeploy),
			bundle: changed(strings.Replace(replicas, "{name: web}", "{name: web, annotations: {"+object.AnnotationRecreate+": 'true'}}", 1)),
			world:  func(b *bench) { b.s.fault = refusing("web", immutable("spec.selector")) },
			want:   []string{"Recreate Deployment apps/web spec.selector"},
		},
		"Resource": {
			reason: "Fields of the custom resource that users set belong to them.",
			before: withResource(changed("crds/"+tmplCRD), fmt.Sprintf(tmplWidget, "w")),
			bundle: withResource(changed("crds/"+tmplCRD),
				"apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 2, color: red}\n"),
			world: func(b *bench) {
				b.s.edit(key("Widget", "default", "w"), func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["size"] = int64(9) })
			},
			want: []string{"Change Widget default/w spec.color"},
		},
		"ResourceDeleted": {
			reason: "A custom resource that its users deleted is not created again.",
			before: withResource(changed("crds/"+tmplCRD), fmt.Sprintf(tmplWidget, "w")),
			bundle: withResource(changed("crds/"+tmplCRD),
				"apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 2}\n"),
			world: func(b *bench) {
				b.s.remove(key("Widget", "default", "w"))
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if tc.before != nil {
				b.reconcile(tc.before)
			}
			if tc.world != nil {
				tc.world(b)
			}
			before := b.s.state(t)
			got := b.plan(tc.bundle)
			if diff := cmp.Diff(tc.want, lines(got)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, b.s.state(t)); diff != "" {
				t.Errorf("nothing may change: -before, +after:\n%s", diff)
			}
		})
	}
}

func configMapIn(namespace, name string) string {
	return strings.Replace(configMap(name), "metadata: {", "metadata: {namespace: "+namespace+", ", 1)
}

// TestPlanCosts checks which requests a plan sends, and that it is cached.
func TestPlanCosts(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplAccount, tmplDeploy))
	b.reconcile(s)
	b.s.took()
	if p := b.plan(s); !p.Empty() || len(b.s.took()) > 0 {
		t.Errorf("a plan of what is there is empty and costs nothing, got %v", lines(p))
	}
	b.Engine = New(WithPlanAge(time.Hour))
	now := time.Unix(1_700_000_000, 0)
	b.now = func() time.Time { return now }
	next := bundleOf(install("web", tmplAccount, strings.Replace(tmplDeploy, "replicas: 1", "replicas: 2", 1)))
	first := b.plan(next)
	want := []string{"getcollection Secret kyma-system/", "get Deployment apps/web", "dry-run Deployment apps/web"}
	if diff := cmp.Diff(want, b.s.took()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(first, b.plan(next)); diff != "" || len(b.s.took()) > 0 {
		t.Errorf("a plan is kept: -first, +second:\n%s", diff)
	}
	now = now.Add(2 * time.Hour)
	if b.plan(next); len(b.s.took()) != 2 {
		t.Error("a plan is made again after its time")
	}
	if b.plan(s); len(b.s.took()) > 0 {
		t.Error("other inputs make another plan")
	}
	b.s.edit(key("ServiceAccount", "apps", "web"), func(u *unstructured.Unstructured) { u.SetAnnotations(nil) })
	if got := lines(b.plan(next)); len(got) != 2 {
		t.Errorf("drift makes another plan, got %v", got)
	}
}

// TestPlanUnreachable checks that there is an error instead of a plan if the cluster does not respond.
func TestPlanUnreachable(t *testing.T) {
	b := newBench(t)
	for _, code := range []int32{http.StatusServiceUnavailable, http.StatusUnauthorized, http.StatusTooManyRequests} {
		reason := map[int32]metav1.StatusReason{503: metav1.StatusReasonServiceUnavailable, 401: metav1.StatusReasonUnauthorized, 429: metav1.StatusReasonTooManyRequests}[code]
		b.s.fault = refusing("web", refusal(code, reason, "not now"))
		if p, err := b.Plan(t.Context(), b.c, bundleOf(install("web", tmplRole))); err == nil {
			t.Errorf("%d: want an error, got %v", code, lines(p))
		}
	}
	b.c.cutAfter(0, false)
	if p, err := b.Plan(t.Context(), b.c, bundleOf(install("web", tmplRole))); err == nil {
		t.Errorf("want an error, got %v", lines(p))
	}
}
