// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", MaxExcerpt)
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Empty": {reason: "An empty text stays empty."},
		"Short": {reason: "A short text is unchanged.", text: "no quota", want: "no quota"},
		"Lines": {reason: "Line breaks become spaces.", text: " no\r\n\tquota\n", want: "no quota"},
		"Control": {
			reason: "Escapes and invalid UTF-8, which must not reach a terminal, become spaces.",
			text:   "a\x1b[31mb\x00c\x7fd\xffe", want: "a [31mb c d e",
		},
		"Limit":   {reason: "An excerpt of the maximum length is complete.", text: long, want: long},
		"Longer":  {reason: "A longer text is shortened and ends with an ellipsis.", text: long + "b", want: long[:MaxExcerpt-len("…")] + "…"},
		"Spaces":  {reason: "Removed white space does not count.", text: long[:MaxExcerpt-1] + strings.Repeat(" ", 100), want: long[:MaxExcerpt-1]},
		"Letters": {reason: "A multi-byte character is never split.", text: strings.Repeat("ä", MaxExcerpt), want: strings.Repeat("ä", (MaxExcerpt-len("…"))/2) + "…"},
		"Huge": {
			reason: "Only the beginning of a huge text is processed.",
			text:   strings.Repeat(" ", 4*MaxExcerpt) + "a",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Excerpt(tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nExcerpt(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(got) > MaxExcerpt || !utf8.ValidString(got) {
				t.Errorf("\n%s\nExcerpt(...): %d bytes, valid %t", tc.reason, len(got), utf8.ValidString(got))
			}
		})
	}
}

func TestSome(t *testing.T) {
	type args struct {
		named []string
		all   int64
	}
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"All":   {reason: "All names are listed.", args: args{named: []string{"a", "b"}, all: 2}, want: "a, b"},
		"More":  {reason: "The others are counted.", args: args{named: []string{"a", "b"}, all: 5}, want: "a, b and 3 more"},
		"Fewer": {reason: "A count that is too low is ignored.", args: args{named: []string{"a", "b"}, all: 1}, want: "a, b"},
		"None":  {reason: "Without names, the result is empty."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Some(tc.args.named, tc.args.all)); diff != "" {
				t.Errorf("\n%s\nSome(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Line":  {reason: "A single line is unchanged.", text: "a b", want: "a b"},
		"Lines": {reason: "Each run of white space becomes one space, and white space at the ends is removed.", text: "\n a \t\r\n  b\u00a0c ", want: "a b c"},
		"Empty": {reason: "A text of only white space becomes empty.", text: " \n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, OneLine(tc.text)); diff != "" {
				t.Errorf("\n%s\nOneLine(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// An excerpt always fits, regardless of the text.
func FuzzExcerpt(f *testing.F) {
	f.Add("a\nb")
	f.Add(strings.Repeat("€", 200))
	f.Add("\xe2\x82")
	f.Fuzz(func(t *testing.T, s string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(s))()
		got := Excerpt(s)
		if len(got) > MaxExcerpt || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\t\x1b") {
			t.Errorf("Excerpt(%q): %q", s, got)
		}
	})
}
