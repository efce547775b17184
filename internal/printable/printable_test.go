// SPDX-License-Identifier: Apache-2.0

package printable

import "testing"

// TestText checks which characters are replaced.
func TestText(t *testing.T) {
	cases := map[string]struct {
		reason     string
		text, keep string
		want       string
	}{
		"Plain":     {reason: "Printable characters stay.", text: "a b, ü…", want: "a b, ü…"},
		"Breaks":    {reason: "Line breaks and tabs are replaced.", text: "a\nb\tc\r", want: "a b c "},
		"Kept":      {reason: "Characters can be kept.", text: "a\nb\tc\r", keep: "\t\n", want: "a\nb\tc "},
		"Terminal":  {reason: "Escape sequences have no effect.", text: "\x1b[31mred\x7f", want: " [31mred "},
		"Direction": {reason: "The direction of text cannot be changed.", text: "a\u202eb", want: "a b"},
		"Invalid":   {reason: "Invalid UTF-8 is replaced.", text: "a\xffb", want: "a b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Text(tc.text, tc.keep); got != tc.want {
				t.Errorf("\n%s\nText(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestLine checks that a text becomes a line of limited length.
func TestLine(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Short":   {reason: "A short line stays.", text: "abc", want: "abc"},
		"Lines":   {reason: "Lines are joined.", text: "a\n\n b ", want: "a b"},
		"Long":    {reason: "A long text is truncated.", text: "abcdefgh", want: "abcdef…"},
		"Rune":    {reason: "A character is not divided.", text: "abcdeü", want: "abcde…"},
		"Exactly": {reason: "The limit is inclusive.", text: "abcdef", want: "abcdef"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Line(tc.text, 6); got != tc.want {
				t.Errorf("\n%s\nLine(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
