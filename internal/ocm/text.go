// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"strings"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxLine bounds strings that are longer than names, such as URLs, in bytes.
const maxLine = 2048

// oneLine truncates foreign text, and replaces line breaks and control characters by spaces.
func oneLine(s string) string {
	if len(s) > 256 {
		s = s[:256] + "…"
	}
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.Join(strings.Fields(printable), " ")
}

// checkLine checks a string that a descriptor will contain.
func checkLine(path, text string) error {
	switch {
	case text == "":
		return errors.Errorf("%s is missing", path)
	case len(text) > maxLine:
		return errors.Errorf("%s has %d characters: must have at most %d", path, len(text), maxLine)
	case !utf8.ValidString(text), strings.ContainsAny(text, "\n\r\x00"):
		return errors.Errorf("%s: invalid value %.100q: must be a single line of UTF-8", path, text)
	}
	return nil
}
