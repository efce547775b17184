// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

const hunter = "hunter2-is-a-secret"

func TestText(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 20)
	cases := map[string]struct {
		reason string
		value  any
		text   string
		want   string
	}{
		"Cut":      {reason: "Half of a token is still useful.", value: long, text: "token=" + long[:100] + "…", want: "token=(hidden)…"},
		"Twice":    {reason: "Each place counts.", value: "abcd", text: "abcd or abcd or abc", want: "(hidden) or (hidden) or abc"},
		"Longer":   {reason: "Of two that begin alike the longer one counts.", value: []any{"abcd", "abcdefgh"}, text: "abcdefgh", want: "(hidden)"},
		"Line":     {reason: "The last line of a log may be one of many.", value: "[db]\npassword=x-y-z-1\n", text: "got password=x-y-z-1", want: "got (hidden)"},
		"Number":   {reason: "YAML reads a PIN as a number.", value: map[string]any{"pin": 12345678.0}, text: "PIN 12345678 or 1.2345678e+07", want: "PIN (hidden) or (hidden)"},
		"Port":     {reason: "A port is not secret.", value: 65535.0, text: "port 65535", want: "port 65535"},
		"URL":      {reason: "A value is redacted in a URL.", value: "a/b&c=d", text: "GET /?t=a%2Fb%26c%3Dd", want: "GET /?t=(hidden)"},
		"JSON":     {reason: "A value is redacted in JSON.", value: "a<b>c", text: `{"t":"a\u003cb\u003ec"}`, want: `{"t":"(hidden)"}`},
		"Mark":     {reason: "The mark itself is never redacted.", value: []any{"hidden", "secret"}, text: "secret, and hidden", want: "(hidden), and (hidden)"},
		"Nested":   {reason: "Values are found at any depth.", value: map[string]any{"a": []any{map[string]any{"b": "abcd"}}}, text: "abcd", want: "(hidden)"},
		"Quoted":   {reason: "Go and Kubernetes quote values.", value: "two\nlines", text: `Invalid value: "two\nlines": two lines`, want: `Invalid value: "(hidden)": (hidden)`},
		"Base64":   {reason: "Secrets have their values in base64.", value: "hunter2-is-a-secret", text: "aHVudGVyMi1pcy1hLXNlY3JldA==", want: "(hidden)"},
		"Short":    {reason: "Short texts are parts of words.", value: []any{"abc", 12345.0}, text: "abc, 12345", want: "abc, 12345"},
		"NoText":   {reason: "Bytes that are not text must not be removed: what is left would be the value.", value: "abcd", text: "ab\xffcd abcd", want: "ab\xffcd (hidden)"},
		"HalfRune": {reason: "What is left must be text.", value: "0123456789abcdeé", text: "0123456789abcdeê", want: "(hidden)"},
		"Bool":     {reason: "Nothing else is secret.", value: []any{true, nil}, text: "true null", want: "true null"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := New(tc.value)
			if got := r.Text(tc.text); got != tc.want || utf8.ValidString(got) != utf8.ValidString(tc.text) {
				t.Errorf("\n%s\nText(%q): want %q, got %q", tc.reason, tc.text, tc.want, got)
			} else if again := r.Text(got); again != got {
				t.Errorf("\n%s\nText(%q): a redacted text must stay as it is, got %q", tc.reason, got, again)
			}
		})
	}
}

func TestNew(t *testing.T) {
	var none *Redactor
	plain := errors.New(hunter)
	if New() != nil || none.With() != nil || none.Text(hunter) != hunter || any(none.Error(plain)) != any(plain) || none.Texts([]string{hunter})[0] != hunter {
		t.Error("without values nothing is redacted")
	}
	one := none.With(hunter)
	both := one.With("another-secret")
	if one.With() != one || one.Text("another-secret") != "another-secret" || both.Text(hunter+" another-secret") != "(hidden) (hidden)" {
		t.Errorf("With(...): %q, %q", one.Text("another-secret"), both.Text(hunter+" another-secret"))
	}
}

// TestError checks that an error keeps its kind, so that the managed reconciler still recognizes a conflict or a deadline.
func TestError(t *testing.T) {
	r, kind := New(hunter), errors.New("denied: "+hunter)
	got := r.Error(errors.Wrap(kind, "web"))
	if got.Error() != "web: denied: (hidden)" || !errors.Is(got, kind) {
		t.Errorf("Error(...): %v, of its kind: %t", got, errors.Is(got, kind))
	}
	if plain := errors.New("no"); any(r.Error(plain)) != any(plain) || r.Error(nil) != nil {
		t.Error("Error(...): an error that shows nothing must stay what it is")
	}
}

func TestTexts(t *testing.T) {
	in := []string{"spec.other", `spec.tokens[="` + hunter + `"]`}
	if diff := cmp.Diff([]string{"spec.other", `spec.tokens[="(hidden)"]`}, New(hunter).Texts(in)); diff != "" || !strings.Contains(in[1], hunter) {
		t.Errorf("Texts(...): the list of the caller is %q, -want, +got:\n%s", in, diff)
	}
	if New(hunter).Texts(nil) != nil {
		t.Error("Texts(nil): a status without a list must not get an empty one")
	}
}

// TestConcurrent is for the race detector: the engine redacts the output of hooks of several installs concurrently.
func TestConcurrent(t *testing.T) {
	r := New(hunter)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := r.Text(hunter); got != Mark {
				t.Errorf("Text(...): %q", got)
			}
		})
	}
	wg.Wait()
}

func FuzzText(f *testing.F) {
	f.Add(hunter, "a "+hunter+" b")
	f.Add("a\nb c d e f g h", "a b c d e f g h")
	f.Add("\xff\xff\xff\xff", "\xff\xff\xff\xff")
	f.Add("abcd", "ab\xffcd abcd")
	f.Fuzz(func(t *testing.T, secret, text string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(secret)+len(text))()
		got := New(secret).Text(text)
		if len(secret) >= shortest && len(strings.Join(strings.Fields(secret), " ")) >= shortest &&
			!strings.Contains(Mark, secret) && strings.Contains(strings.ReplaceAll(got, Mark, "\x00"), secret) {
			t.Errorf("Text(%q) of %q: %q", text, secret, got)
		}
		if again := New(secret).Text(got); again != got {
			t.Errorf("Text(%q) of %q: %q, and again %q", text, secret, got, again)
		}
	})
}

func BenchmarkText(b *testing.B) {
	values := make([]any, 100_000)
	for i := range values {
		values[i] = "secret" + strings.Repeat("x", i%7) + string(rune('a'+i%26))
	}
	text := strings.Repeat("some message with secret in it ", 40)
	for b.Loop() {
		New(values...).Text(text)
	}
}
