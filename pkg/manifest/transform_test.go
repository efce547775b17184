// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// labelled returns a transform that sets a label, which shows the order of transforms.
func labelled(digest, value string) Transform {
	return Transform{Digest: digest, Func: func(_ context.Context, u *unstructured.Unstructured) error {
		was := u.GetLabels()["by"]
		return unstructured.SetNestedField(u.Object, was+value, "metadata", "labels", "by")
	}}
}

func TestTransform(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	crds := layerOf([]source.File{{Name: "crd.yaml", Data: []byte(tmplCRD)}})
	s.CRDs, s.Resource = &crds, manifestOf(t, fmt.Sprintf(tmplWidget, "main"))
	s.Transforms = []Transform{labelled("a", "x"), labelled("b", "y")}
	b.reconcile(s)
	for _, k := range []cluster.ObjectRef{key("Deployment", "apps", "web"), key("CustomResourceDefinition", "", "widgets.example.org"), key("Widget", "default", "main")} {
		o := b.s.objects[k]
		if o == nil || o.u().GetLabels()["by"] != "xy" {
			t.Errorf("transforms must change %s, each after the one before", k)
		}
	}

	// Functions with the same digests cause no requests, and a different digest applies everything again.
	asked := len(b.s.log)
	if o, err := b.Install(t.Context(), b.c, s); err != nil || !o.UpToDate || len(b.s.log) != asked {
		t.Errorf("at rest nothing is sent: %+v, %v, %d requests", o, err, len(b.s.log)-asked)
	}
	s.Transforms = []Transform{labelled("c", "z")}
	if o := b.observe(s); o.UpToDate {
		t.Error("with another transform the bundle must not be up to date")
	}
	b.reconcile(s)
	if got := b.s.objects[key("Deployment", "apps", "web")].u().GetLabels()["by"]; got != "z" {
		t.Errorf("want label z, got %s", got)
	}

	// Another name makes another object, and the previous one is pruned.
	s.Transforms = []Transform{{Digest: "rename", Func: func(_ context.Context, u *unstructured.Unstructured) error {
		if u.GetKind() == "ConfigMap" {
			u.SetName("renamed")
		}
		return nil
	}}}
	b.reconcile(s)
	if b.s.objects[key("ConfigMap", "apps", "web")] != nil || b.s.objects[key("ConfigMap", "apps", "renamed")] == nil {
		t.Error("the ConfigMap must have another name")
	}
}

func TestTransformFails(t *testing.T) {
	func1 := func(f func(u *unstructured.Unstructured) error) []Transform {
		return []Transform{{Digest: "mine", Func: func(_ context.Context, u *unstructured.Unstructured) error { return f(u) }}}
	}
	cases := map[string]struct {
		reason     string
		transforms []Transform
		want       string
	}{
		"Error": {
			reason:     "The error of a function names the transform, the part and the object.",
			transforms: func1(func(*unstructured.Unstructured) error { return errors.New("no") }),
			want:       "web: transform mine: ConfigMap web: no",
		},
		"Panic": {
			reason:     "A panic is an error of this bundle.",
			transforms: func1(func(*unstructured.Unstructured) error { panic("oh") }),
			want:       "web: transform mine: ConfigMap web: panic: oh",
		},
		"Kind": {
			reason:     "A transform must not change the kind.",
			transforms: func1(func(u *unstructured.Unstructured) error { u.SetKind("Secret"); return nil }),
			want:       "web: transform mine: ConfigMap web: changed the kind to Secret: a transform must not change the kind",
		},
		"Name": {
			reason:     "A transform must not remove the name.",
			transforms: func1(func(u *unstructured.Unstructured) error { u.SetName(""); return nil }),
			want:       "web: transform mine: ConfigMap web: removed metadata.name: a transform must not remove it",
		},
		"NoDigest": {reason: "Without a digest, the engine would not notice a change.", transforms: []Transform{{}}, want: "transforms[0] has no digest"},
		"NoFunc":   {reason: "A transform needs a function.", transforms: []Transform{{Digest: "d"}}, want: "transforms[0] d has no function"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("web", tmplConfig))
			s.Transforms = tc.transforms
			_, err := b.Apply(t.Context(), b.c, s)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if b.s.objects[key("ConfigMap", "apps", "web")] != nil {
				t.Error("nothing must be applied")
			}
		})
	}
}

func TestTransformPreview(t *testing.T) {
	s := bundleOf(install("web", tmplConfig))
	s.Transforms = []Transform{labelled("a", "x")}
	p, err := PreviewOf(t.Context(), s, "v1.36.3")
	if err != nil || len(p) != 1 || p[0].Err != nil || p[0].Objects[0].GetLabels()["by"] != "x" {
		t.Errorf("a preview must show what transforms make: %+v, %v", p, err)
	}
	s.Transforms[0].Func = func(context.Context, *unstructured.Unstructured) error { return errors.New("no") }
	p, err = PreviewOf(t.Context(), s, "v1.36.3")
	if err != nil || p[0].Err == nil || p[0].Objects != nil {
		t.Errorf("a transform that fails is the error of its part: %+v, %v", p, err)
	}
}

func TestRuleFunc(t *testing.T) {
	calls := 0
	var say func() (State, string, error)
	s := bundleOf(install("web", tmplConfig))
	s.Readiness = []Rule{{For: schema.GroupKind{Kind: "ConfigMap"}, Func: func(_ context.Context, u *unstructured.Unstructured) (State, string, error) {
		calls++
		if u.GetName() != "web" {
			t.Errorf("the function is called for %s", u.GetName())
		}
		return say()
	}}}
	b := newBench(t)
	say = func() (State, string, error) { return Processing, "not yet", nil }
	b.reconcile(s)
	part := func() observe.PartState { return b.observe(s).Parts[0] }
	for range 3 {
		if p := part(); p.State != Processing || p.Message != "ConfigMap apps/web: not yet" {
			t.Fatalf("want the state and the message of the function, got %+v", p)
		}
	}
	if calls != 1 {
		t.Errorf("for one version of an object the function is called once, and not %d times", calls)
	}
}

func TestRuleFuncResults(t *testing.T) {
	cases := map[string]struct {
		reason  string
		say     func() (State, string, error)
		phase   observe.Phase
		state   State
		message string
		calls   int
	}{
		"Ready":   {reason: "Ready needs no message.", say: func() (State, string, error) { return Ready, "x", nil }, phase: observe.PhaseReady, state: Ready, calls: 1},
		"Warning": {reason: "A function may return any state.", say: func() (State, string, error) { return Warning, "w\nx", nil }, phase: observe.PhaseDegraded, state: Warning, message: "ConfigMap apps/web: w x", calls: 1},
		"Silent":  {reason: "A state without a message gets a default message.", say: func() (State, string, error) { return Processing, "", nil }, phase: observe.PhaseProgressing, state: Processing, message: "ConfigMap apps/web: the readiness function returned state Processing", calls: 1},
		"Error":   {reason: "An error is not cached.", say: func() (State, string, error) { return Ready, "", errors.New("no") }, phase: observe.PhaseUnhealthy, state: Error, message: "ConfigMap apps/web: no", calls: 2},
		"Unknown": {reason: "An unknown state is an error.", say: func() (State, string, error) { return "Fine", "", nil }, phase: observe.PhaseUnhealthy, state: Error, message: `ConfigMap apps/web: the readiness function returned unknown state "Fine"`, calls: 2},
		"Panic":   {reason: "A panic is an error.", say: func() (State, string, error) { panic("oh") }, phase: observe.PhaseUnhealthy, state: Error, message: "ConfigMap apps/web: panic: oh", calls: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, calls := newBench(t), 0
			s := bundleOf(install("web", tmplConfig))
			s.Readiness = []Rule{{For: schema.GroupKind{Kind: "ConfigMap"}, Func: func(context.Context, *unstructured.Unstructured) (State, string, error) {
				calls++
				return tc.say()
			}}}
			b.apply(s)
			b.observe(s)
			o := b.observe(s)
			if diff := cmp.Diff(observe.PartState{Install: "web", Phase: tc.phase, State: tc.state, Message: tc.message, Version: "1.0.0"}, o.Parts[0]); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if calls != tc.calls {
				t.Errorf("\n%s\nwant %d calls, got %d", tc.reason, tc.calls, calls)
			}
		})
	}
}

func TestRuleKinds(t *testing.T) {
	fn := func(context.Context, *unstructured.Unstructured) (State, string, error) {
		return Ready, "", nil
	}
	cases := map[string]struct {
		reason string
		rule   Rule
		want   string
	}{
		"Func":    {reason: "A rule needs only a function.", rule: Rule{Func: fn}},
		"CEL":     {reason: "A rule needs only an expression.", rule: Rule{CEL: "true"}},
		"Both":    {reason: "A rule must not have both.", rule: Rule{CEL: "true", Func: fn}, want: "expression and function are mutually exclusive; remove one of them"},
		"Neither": {reason: "A rule needs one of them.", want: "either an expression or a function is required"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.rule.Validate(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if _, err := (&Bundle{Readiness: []Rule{tc.rule}}).Parts(); (err != nil) != (tc.want != "") {
				t.Errorf("\n%s\nthe bundle says %v", tc.reason, err)
			}
		})
	}
}
