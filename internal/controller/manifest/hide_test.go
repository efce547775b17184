// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func TestHideEverywhere(t *testing.T) {
	fields := []string{"spec.other", `spec.tokens[="` + hunter + `"]`}
	tests := []engine.TestState{{Name: "Pod a/b", State: engine.Error, Message: "failed: " + hunter}}
	inner := &mockEngine{
		observe: func() (engine.Observation, error) {
			return engine.Observation{Tests: tests, Drift: []engine.Drift{{Fields: fields}}}, nil
		},
		apply: func() (engine.Result, error) {
			return engine.Result{Tested: tests, Repaired: []engine.Drift{{Fields: fields}}, Yielded: []engine.Yield{{Field: fields[1]}}}, nil
		},
		plan: func() (engine.Plan, error) {
			return engine.Plan{Changes: []engine.PlannedChange{{Fields: fields}}}, nil
		},
		remove: func() (engine.Removal, error) {
			return engine.Removal{Message: hunter, HookFailed: hunter}, errors.New(hunter)
		},
	}
	h := hide(inner, []any{hunter})
	set := &engine.Set{}
	o, err := h.Observe(t.Context(), nil, set)
	wantTests := []engine.TestState{{Name: "Pod a/b", State: engine.Error, Message: "failed: (hidden)"}}
	wantDrift := []engine.Drift{{Fields: []string{"spec.other", `spec.tokens[="(hidden)"]`}}}
	if diff := cmp.Diff(engine.Observation{Tests: wantTests, Drift: wantDrift}, o); diff != "" || err != nil {
		t.Errorf("Observe(...): %v, -want, +got:\n%s", err, diff)
	}
	r, err := h.Apply(t.Context(), nil, set)
	want := engine.Result{Tested: wantTests, Repaired: wantDrift, Yielded: []engine.Yield{{Field: wantDrift[0].Fields[1]}}}
	if diff := cmp.Diff(want, r); diff != "" || err != nil {
		t.Errorf("Apply(...): %v, -want, +got:\n%s", err, diff)
	}
	p, err := h.Plan(t.Context(), nil, set)
	if diff := cmp.Diff([]engine.PlannedChange{{Fields: wantDrift[0].Fields}}, p.Changes); diff != "" || err != nil {
		t.Errorf("Plan(...): %v, -want, +got:\n%s", err, diff)
	}
	m, err := h.Remove(t.Context(), nil, set)
	if diff := cmp.Diff(engine.Removal{Message: "(hidden)", HookFailed: "(hidden)"}, m); diff != "" || err == nil || err.Error() != "(hidden)" {
		t.Errorf("Remove(...): %v, -want, +got:\n%s", err, diff)
	}
	if !strings.Contains(fields[1], hunter) || !strings.Contains(tests[0].Message, hunter) {
		t.Error("what the engine may keep must stay as it is")
	}
	if got := set.Hide("log: " + hunter); got != "log: (hidden)" {
		t.Errorf("the last words of hooks: %q", got)
	}
	both := hide(h, []any{"another-secret"})
	if _, err := both.Remove(t.Context(), nil, set); err == nil || set.Hide(hunter+" another-secret") != "(hidden) (hidden)" {
		t.Errorf("values of two Secrets: %v, %q", err, set.Hide(hunter+" another-secret"))
	}
}

func TestConceal(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 20)
	cases := map[string]struct {
		reason string
		value  any
		text   string
		want   string
	}{
		"Cut":      {reason: "Half of a token is still of use.", value: long, text: "token=" + long[:100] + "…", want: "token=(hidden)…"},
		"Twice":    {reason: "Each place counts.", value: "abcd", text: "abcd or abcd or abc", want: "(hidden) or (hidden) or abc"},
		"Longer":   {reason: "Of two that begin alike the longer one counts.", value: []any{"abcd", "abcdefgh"}, text: "abcdefgh", want: "(hidden)"},
		"Line":     {reason: "The last line of a log may be one of many.", value: "[db]\npassword=x-y-z-1\n", text: "got password=x-y-z-1", want: "got (hidden)"},
		"Number":   {reason: "YAML reads a PIN as a number.", value: map[string]any{"pin": 12345678.0}, text: "PIN 12345678 or 1.2345678e+07", want: "PIN (hidden) or (hidden)"},
		"Port":     {reason: "A port is no secret.", value: 65535.0, text: "port 65535", want: "port 65535"},
		"URL":      {reason: "So it is in an address.", value: "a/b&c=d", text: "GET /?t=a%2Fb%26c%3Dd", want: "GET /?t=(hidden)"},
		"JSON":     {reason: "So it is in JSON.", value: "a<b>c", text: `{"t":"a\u003cb\u003ec"}`, want: `{"t":"(hidden)"}`},
		"Itself":   {reason: "What is said instead is not looked at again.", value: []any{"hidden", "secret"}, text: "secret", want: "(hidden)"},
		"HalfRune": {reason: "What is left must be text.", value: "0123456789abcdeé", text: "0123456789abcdeê", want: "(hidden)"},
		"Bool":     {reason: "All else is no secret.", value: []any{true, nil}, text: "true null", want: "true null"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &concealer{values: []any{tc.value}}
			if got := c.text(tc.text); got != tc.want || !utf8.ValidString(got) {
				t.Errorf("\n%s\ntext(%q): want %q, got %q", tc.reason, tc.text, tc.want, got)
			}
		})
	}
}

func TestSecretsOfBesideWrongOnes(t *testing.T) {
	p := &v1alpha1.ManifestParameters{Installs: []v1alpha1.Install{{Name: "web", ValuesFrom: []v1alpha1.ValuesReference{
		ref("Secret", "s", "password", "a"), ref("Secret", "missing", "", ""), ref("ConfigMap", "c", "", ""),
	}}}}
	set := &engine.Set{Installs: []engine.Install{{Name: "web"}}}
	hidden, err := newValuesReader(someValues()).fill(t.Context(), "n", p, set)
	if diff := cmp.Diff([]any{map[string]any{"a": hunter}}, hidden); diff != "" || err != nil || set.Installs[0].Fetch == nil {
		t.Errorf("fill(...): %v, -want, +got:\n%s", err, diff)
	}
}

func FuzzConceal(f *testing.F) {
	f.Add(hunter, "a "+hunter+" b")
	f.Add("a\nb c d e f g h", "a b c d e f g h")
	f.Add("\xff\xff\xff\xff", "\xff\xff\xff\xff")
	f.Fuzz(func(t *testing.T, secret, text string) {
		got := (&concealer{values: []any{secret}}).text(text)
		if len(secret) >= shortest && len(strings.Join(strings.Fields(secret), " ")) >= shortest &&
			!strings.Contains(hiddenText, secret) && strings.Contains(strings.ReplaceAll(got, hiddenText, "\x00"), secret) {
			t.Errorf("text(%q) of %q: %q", text, secret, got)
		}
	})
}

func BenchmarkConceal(b *testing.B) {
	values := make([]any, 100_000)
	for i := range values {
		values[i] = "secret" + strings.Repeat("x", i%7) + string(rune('a'+i%26))
	}
	text := strings.Repeat("some message with secret in it ", 40)
	for b.Loop() {
		(&concealer{values: values}).text(text)
	}
}
