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

	// maxForms is the maximum size of the forms of one Redactor in memory, in bytes. A form takes its length and perForm: a string and its
	// place in a map of forms and in a dictionary. A short value has 2 to 9 forms. The forms of a long value have about 4 times its
	// length if it is base64, 12 times if it has many lines, and 18 times if it is binary.
	maxForms = 32 << 20
	perForm  = 128
)

// A collection contains the forms of values up to maxForms.
type collection struct {
	forms map[string]struct{}
	size  int
}

// full reports whether the collection may lack forms.
func (c *collection) full() bool { return c.size > maxForms }

// add adds a form, unless it is too short or the collection is full.
func (c *collection) add(form string) {
	if _, ok := c.forms[form]; !ok && len(form) >= shortest && !c.full() {
		c.forms[form] = struct{}{}
		c.size += len(form) + perForm
	}
}

// addForms adds the forms of all texts in a value, unless the collection is full.
func (c *collection) addForms(value any) {
	if c.full() {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for _, e := range v {
			c.addForms(e)
		}
	case []any:
		for _, e := range v {
			c.addForms(e)
		}
	case float64:
		for _, format := range []byte{'f', 'g'} {
			if s := strconv.FormatFloat(v, format, -1, 64); len(s) >= shortestNumber {
				c.add(s)
			}
		}
	case string:
		line := strings.Join(strings.Fields(v), " ")
		if len(line) < shortest {
			return
		}
		c.add(line)
		c.add(base64.StdEncoding.EncodeToString([]byte(v)))
		if strings.ContainsFunc(v, special) {
			c.addEscaped(v)
		}
	}
}

// special reports whether encodings may escape a character.
func special(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// addEscaped adds the forms of a text with special characters, and its lines.
func (c *collection) addEscaped(v string) {
	c.add(v)
	c.add(strings.TrimSpace(v))
	c.add(unquoted(strconv.Quote(v)))
	c.add(unquoted(jsonOf(v)))
	c.add(url.QueryEscape(v))
	c.add(url.PathEscape(v))
	for l := range strings.Lines(v) {
		if l = strings.TrimSpace(l); len(l) >= shortestLine {
			c.add(l)
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
