// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/heaptest"
)

// TestNewGrowing adds a value after texts have been redacted, as lookup does while a chart is rendered.
func TestNewGrowing(t *testing.T) {
	late := &Values{}
	r := NewGrowing(late, hunter)
	if got := r.Text("late-value " + hunter); got != "late-value (hidden)" {
		t.Errorf("before: %q", got)
	}
	for range 2 {
		if err := late.Add("late-value"); err != nil {
			t.Fatal(err)
		}
	}
	with := r.With("third-value")
	if diff := cmp.Diff("(hidden) (hidden) third-value", r.Text("late-value "+hunter+" third-value")); diff != "" {
		t.Errorf("after: -want, +got:\n%s", diff)
	}
	if err := late.Add("later-value"); err != nil {
		t.Fatal(err)
	}
	// The output of toJson for a Secret.
	if diff := cmp.Diff(`{"a":"(hidden)"} (hidden)`, with.Text(`{"a":"bGF0ZXItdmFsdWU="} third-value`)); diff != "" {
		t.Errorf("of another redactor: -want, +got:\n%s", diff)
	}
	if got := NewGrowing(&Values{}).Text("any text"); got != "any text" {
		t.Errorf("without values: %q", got)
	}
}

func TestValuesAreBounded(t *testing.T) {
	v := &Values{}
	if err := v.Add(strings.Repeat("a", maxBytes)); err != nil {
		t.Fatal(err)
	}
	if err := v.Add("another"); err == nil || !strings.Contains(err.Error(), "4 MiB") {
		t.Errorf("more than can be redacted: want an error that names the limit, got %v", err)
	}
	if err := v.Add(strings.Repeat("a", maxBytes)); err != nil {
		t.Errorf("the same value again: %v", err)
	}
}

// short returns the n-th of a million different values of 4 bytes.
func short(n int) string { return strconv.FormatInt(int64(36*36*36+n), 36) }

// TestManyValues checks that a set of many short values is small, and that it becomes no larger.
func TestManyValues(t *testing.T) {
	v, before := &Values{}, heaptest.Bytes()
	var err error
	n := 0
	for ; err == nil && n < 1_000_000; n++ {
		err = v.Add(short(n))
	}
	if err == nil || !strings.Contains(err.Error(), "more than 20000 values") || n != maxValues+1 {
		t.Errorf("want an error that names the limit for value %d, got %v for value %d", maxValues+1, err, n)
	}
	if size := heaptest.Bytes() - before; size > 3<<20 {
		t.Errorf("the values take %d bytes", size)
	}
	if err := v.Add(short(0)); err != nil {
		t.Errorf("the same value again: %v", err)
	}
	r := NewGrowing(v)
	if diff := cmp.Diff("(hidden) (hidden) none", r.Text(short(0)+" "+short(maxValues-1)+" none")); diff != "" {
		t.Errorf("the values that were added are redacted: -want, +got:\n%s", diff)
	}
	runtime.KeepAlive(v)
}

// TestTooManyForms checks that a Redactor for more values than it has room for shows no text, and takes little memory.
func TestTooManyForms(t *testing.T) {
	const many = 1_000_000
	list := func(of func(n int) any) []any {
		out := make([]any, many)
		for n := range out {
			out[n] = of(n)
		}
		return out
	}
	texts := func() []any { return list(func(n int) any { return short(n) }) }
	looked := func() *Values {
		out := &Values{}
		for n := range maxValues {
			if err := out.Add(short(n) + "<\"é\n"); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(short(i) + short(i) + "\n")
		}
		return b.String()
	}
	cases := map[string]struct {
		reason string
		r      func() *Redactor
		// long is the length of a value that is encoded as a whole.
		long  int
		value string
		want  string
	}{
		"List":    {reason: "Values can be a long list.", r: func() *Redactor { return New(texts()) }, value: short(many - 1), want: withheld},
		"Values":  {reason: "There can be many values.", r: func() *Redactor { return New(texts()...) }, value: short(many - 1), want: withheld},
		"Numbers": {reason: "Numbers count, too.", r: func() *Redactor { return New(list(func(n int) any { return float64(many + n) })) }, value: "1000001", want: withheld},
		"Nested": {
			reason: "Values can be anywhere.", value: short(0) + "<>", want: withheld,
			r: func() *Redactor {
				return New(map[string]any{"a": list(func(n int) any { return map[string]any{"b": short(n) + "<>"} })})
			},
		},
		"Lines":    {reason: "Each line of a value counts.", r: func() *Redactor { return New(lines(many)) }, long: many * 9, value: short(0) + short(0), want: withheld},
		"Binary":   {reason: "The escaped forms of a value are longer than the value.", r: func() *Redactor { return New(strings.Repeat("\x00", maxBytes)) }, long: maxBytes, value: "\x00\x00\x00\x00", want: withheld},
		"With":     {reason: "The values of both Redactors count.", r: func() *Redactor { return New(hunter).With(texts()...) }, value: short(many - 1), want: withheld},
		"Growing":  {reason: "Values that a chart looked up count, too.", r: func() *Redactor { return NewGrowing(looked(), texts()...) }, value: short(0) + "<\"é", want: withheld},
		"LookedUp": {reason: "There is room for all values that a chart can look up.", r: func() *Redactor { return NewGrowing(looked()) }, value: short(0) + "<\"é\n", want: "a (hidden) b"},
		"Base64":   {reason: "There is room for 4 MiB of base64.", r: func() *Redactor { return New(strings.Repeat("ab+/", maxBytes/4)) }, long: maxBytes, value: "ab+/ab+/ab+/ab+/", want: "a (hidden) b"},
		"Text":     {reason: "There is room for a value with many lines.", r: func() *Redactor { return New(lines(many / 10)) }, long: many, value: short(0) + short(0), want: "a (hidden) b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, text := tc.r(), "a "+tc.value+" b"
			defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 96}, tc.long)()
			before := heaptest.Bytes()
			got := []string{r.Text(text), r.Text(text), r.Texts([]string{text})[0], r.Error(errors.New(text)).Error(), r.Text(r.Text(text))}
			if diff := cmp.Diff(slices.Repeat([]string{tc.want}, len(got)), got); diff != "" {
				t.Errorf("\n%s\nText(%q): -want, +got:\n%s", tc.reason, text, diff)
			}
			if size := heaptest.Bytes() - before; size > maxForms || tc.want == withheld && size > 1<<20 {
				t.Errorf("\n%s\nthe forms take %d bytes", tc.reason, size)
			}
			runtime.KeepAlive(r)
		})
	}
}

func TestValuesAtOnce(t *testing.T) {
	v := &Values{}
	r := NewGrowing(v)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			value := strings.Repeat(string(rune('a'+i)), 20)
			if err := v.Add(value); err != nil {
				t.Error(err)
			}
			if got := r.Text(value); got != Mark {
				t.Errorf("Text(...): %q", got)
			}
		})
	}
	wg.Wait()
}
