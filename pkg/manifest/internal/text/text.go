// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/internal/printable"
)

// MaxExcerpt is the maximum length of an excerpt in bytes.
const MaxExcerpt = 256

// Excerpt returns the beginning of a text as one printable line of at most MaxExcerpt bytes.
func Excerpt(s string) string {
	if s = OneLine(printable.Text(s[:min(len(s), 4*MaxExcerpt)], "")); len(s) > MaxExcerpt {
		s = strings.ToValidUTF8(s[:MaxExcerpt-len("…")], "") + "…"
	}
	return s
}

// Some returns the names separated by commas, followed by the number of further ones if all is greater than the number of names.
func Some(named []string, all int64) string {
	text := strings.Join(named, ", ")
	if more := all - int64(len(named)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// OneLine replaces each run of white space in a text with one space, for use in conditions and errors.
func OneLine(s string) string {
	return strings.Join(strings.Fields(s), " ")
}
