// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

const (
	// shortest is the minimum length of a redacted text, in bytes, because shorter texts are parts of most words. shortestLine is
	// the minimum length of a line of a text with several lines, and shortestNumber that of a number: no port has that many digits.
	shortest       = 4
	shortestLine   = 8
	shortestNumber = 6
	// beginning is the number of bytes at the beginning of a value that are redacted without the rest, because other
	// components truncate messages before they are redacted.
	beginning = 16
)

// A prefix contains the first bytes of a form.
type prefix [shortest]byte

// addForms adds the forms of all texts in a value.
func addForms(out map[string]struct{}, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, e := range v {
			addForms(out, e)
		}
	case []any:
		for _, e := range v {
			addForms(out, e)
		}
	case float64:
		for _, format := range []byte{'f', 'g'} {
			if s := strconv.FormatFloat(v, format, -1, 64); len(s) >= shortestNumber {
				out[s] = struct{}{}
			}
		}
	case string:
		line := strings.Join(strings.Fields(v), " ")
		if len(line) < shortest {
			return
		}
		out[line], out[base64.StdEncoding.EncodeToString([]byte(v))] = struct{}{}, struct{}{}
		if strings.ContainsFunc(v, special) {
			addEscaped(out, v)
		}
	}
}

// special reports whether encodings may escape a character.
func special(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// addEscaped adds the forms of a text with special characters, and its lines.
func addEscaped(out map[string]struct{}, v string) {
	for _, form := range []string{
		v, strings.TrimSpace(v), unquoted(strconv.Quote(v)), unquoted(jsonOf(v)), url.QueryEscape(v), url.PathEscape(v),
	} {
		if len(form) >= shortest {
			out[form] = struct{}{}
		}
	}
	for l := range strings.Lines(v) {
		if l = strings.TrimSpace(l); len(l) >= shortestLine {
			out[l] = struct{}{}
		}
	}
}

// unquoted returns the text between two quotes.
func unquoted(s string) string {
	if len(s) < len(`""`) {
		return ""
	}
	return s[1 : len(s)-1]
}

// jsonOf returns a text as JSON.
func jsonOf(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(b)
}
