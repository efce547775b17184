// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
)

func TestTransform(t *testing.T) {
	named := func(suffix string) Transform {
		return Transform{Digest: suffix, Func: func(_ context.Context, u *unstructured.Unstructured) error {
			u.SetName(u.GetName() + suffix)
			return nil
		}}
	}
	doing := func(do func(u *unstructured.Unstructured) error) []Transform {
		return []Transform{{Digest: "t", Func: func(_ context.Context, u *unstructured.Unstructured) error { return do(u) }}}
	}
	type want struct{ Name, Err string }
	cases := map[string]struct {
		reason     string
		transforms []Transform
		want       want
	}{
		"None":  {reason: "Without transforms nothing changes.", want: want{Name: "r"}},
		"Order": {reason: "Transforms run in their order.", transforms: []Transform{named("a"), named("b")}, want: want{Name: "rab"}},
		"Error": {
			reason: "An error names the transform and the object.", transforms: doing(func(*unstructured.Unstructured) error { return errors.New("no") }),
			want: want{Name: "r", Err: "transform t: Widget r: no"},
		},
		"Kind": {
			reason: "A transform must not change the kind.", transforms: doing(func(u *unstructured.Unstructured) error { u.SetKind("Gadget"); return nil }),
			want: want{Name: "r", Err: "transform t: Widget r: changed the kind to Gadget: a transform must not change the kind"},
		},
		"Name": {
			reason: "A transform must not remove the name.", transforms: doing(func(u *unstructured.Unstructured) error { u.SetName(""); return nil }),
			want: want{Err: "transform t: Widget r: removed metadata.name: a transform must not remove it"},
		},
		"Panic": {
			reason: "A panic is an error.", transforms: doing(func(*unstructured.Unstructured) error { panic("oops") }),
			want: want{Name: "r", Err: "transform t: Widget r: panic: oops"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := resource("r")
			err := (&Bundle{Transforms: tc.transforms}).Transform(t.Context(), u)
			if diff := cmp.Diff(tc.want, want{Name: u.GetName(), Err: textOf(err)}); diff != "" {
				t.Errorf("\n%s\nTransform(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEvaluate(t *testing.T) {
	type want struct {
		State        health.State
		Message, Err string
	}
	rule := func(s health.State, message string, err error) Rule {
		return Rule{Func: func(context.Context, *unstructured.Unstructured) (health.State, string, error) {
			return s, message, err
		}}
	}
	cases := map[string]struct {
		reason string
		rule   Rule
		want   want
	}{
		"Ready":   {reason: "State Ready needs no message.", rule: rule(health.Ready, "", nil), want: want{State: health.Ready}},
		"Warning": {reason: "The message has one line.", rule: rule(health.Warning, "a\nb", nil), want: want{State: health.Warning, Message: "a b"}},
		"Silent":  {reason: "Other states have a message.", rule: rule(health.Processing, "", nil), want: want{State: health.Processing, Message: "the readiness function returned state Processing"}},
		"Error":   {reason: "An error leads to state Error.", rule: rule(health.Ready, "", errors.New("no")), want: want{State: health.Error, Err: "no"}},
		"Unknown": {reason: "Only the states of the engine count.", rule: rule("Fine", "", nil), want: want{State: health.Error, Err: `the readiness function returned unknown state "Fine"`}},
		"Panic": {
			reason: "A panic is an error.",
			rule:   Rule{Func: func(context.Context, *unstructured.Unstructured) (health.State, string, error) { panic("oops") }},
			want:   want{Err: "panic: oops"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got want
			var err error
			got.State, got.Message, err = tc.rule.Evaluate(t.Context(), resource("r"))
			got.Err = textOf(err)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nEvaluate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateRule(t *testing.T) {
	cases := map[string]struct {
		reason string
		rule   Rule
		want   string
	}{
		"Empty": {reason: "A rule needs an expression or a function.", want: "either an expression or a function is required"},
		"CEL":   {reason: "An expression that compiles is valid.", rule: Rule{CEL: "object.status.ready == true"}},
		"Wrong": {reason: "The error is that of the engine when it evaluates the rule.", rule: Rule{CEL: "object.status.ready +"}, want: "readiness rule"},
		"Func": {
			reason: "A function is not called.",
			rule:   Rule{Func: func(context.Context, *unstructured.Unstructured) (health.State, string, error) { panic("called") }},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := tc.rule.Validate(); !strings.HasPrefix(textOf(err), tc.want) || (err == nil) != (tc.want == "") {
				t.Errorf("\n%s\nValidate(): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestRuleID(t *testing.T) {
	cases := map[string]struct {
		reason string
		rule   Rule
		want   string
	}{
		"CEL":  {reason: "An expression is its own ID.", rule: Rule{CEL: "true"}, want: "true"},
		"Func": {reason: "Functions cannot be compared.", rule: Rule{Func: func(context.Context, *unstructured.Unstructured) (health.State, string, error) { return "", "", nil }}, want: "func"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.rule.ID()); diff != "" {
				t.Errorf("\n%s\nID(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
