// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// slowMatch compares a text with each form.
func slowMatch(forms map[string]struct{}, s string) int {
	best := 0
	for form := range forms {
		if n := common(form, s); n == len(form) || n >= beginning {
			best = max(best, n)
		}
	}
	for best > 0 && best < len(s) && !utf8.RuneStart(s[best]) {
		best++
	}
	return best
}

// TestDictionary compares a dictionary of random forms with a comparison of each form. The texts have two or three different characters, so
// that most forms begin with others.
func TestDictionary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(atLeast, below int) string {
		var b strings.Builder
		for range atLeast + random.IntN(below-atLeast) {
			b.WriteString([]string{"a", "b", "é"}[random.IntN(2+random.IntN(2))])
		}
		return b.String()
	}
	matched := 0
	for range 2000 {
		forms := map[string]struct{}{}
		for range random.IntN(40) {
			forms[text(shortest, 2*beginning)] = struct{}{}
		}
		d := newDictionary(forms)
		for range 20 {
			s := text(0, 3*beginning)
			for form := range forms {
				if random.IntN(4) == 0 {
					s = form[:random.IntN(len(form))] + s
				}
				break
			}
			got, want := d.match(s), slowMatch(forms, s)
			if got != want {
				t.Fatalf("match(%q) = %d with %q, want %d", s, got, d.sorted, want)
			}
			if want > 0 {
				matched++
			}
		}
	}
	if matched < 1000 {
		t.Errorf("only %d texts matched", matched)
	}
}

// TestManySimilarValues checks that it takes about the same time to redact a text with a few and with very many values that begin like the text.
func TestManySimilarValues(t *testing.T) {
	text := strings.Repeat("aaaaa ", 2000)
	took := func(values int) time.Duration {
		list := make([]any, values)
		for n := range list {
			list[n] = "aaaa" + short(n)
		}
		r := New(list...)
		r.Text(text)
		begin := time.Now()
		if got := r.Text(text); got != text {
			t.Errorf("with %d values, something was replaced: %s", values, got)
		}
		return time.Since(begin)
	}
	few, many := took(100), took(60_000)
	if many > 60*max(few, time.Millisecond/2) {
		t.Errorf("it took %s with 100 values and %s with 600 times as many", few, many)
	}
}
