// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"strings"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/printable"
)

// maxLine bounds strings that are longer than names, such as URLs, in bytes.
const maxLine = 2048

// maxForeign bounds foreign text in errors, in bytes.
const maxForeign = 256

// oneLine returns foreign text as one printable line of limited length.
func oneLine(s string) string { return printable.Line(s, maxForeign) }

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
