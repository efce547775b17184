// SPDX-License-Identifier: Apache-2.0

package printable

import (
	"strings"
	"unicode"
)

// Text replaces each character of a text that is not printable with a space, except for those in keep. Line breaks, invalid UTF-8,
// and characters that control a terminal or the direction of text are not printable.
func Text(s, keep string) string {
	return strings.Map(func(r rune) rune {
		if r != unicode.ReplacementChar && unicode.IsPrint(r) || strings.ContainsRune(keep, r) {
			return r
		}
		return ' '
	}, s)
}

// Line returns the first bytes of a text, at most limit, as one printable line without repeated spaces. It ends with an ellipsis if
// the text is longer.
func Line(s string, limit int) string {
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return strings.Join(strings.Fields(Text(s, "")), " ")
}
