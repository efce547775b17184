// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	// hiddenText stands for a value of a Secret.
	hiddenText = "(hidden)"
	// shortest text that is hidden, in bytes. Shorter ones are parts of most words. A line of a text of several, and a
	// number, are hidden from shortestLine and shortestNumber on: no port has so many digits.
	shortest       = 4
	shortestLine   = 8
	shortestNumber = 6
	// beginning of a text that is hidden without the rest, in bytes: messages are cut.
	beginning = 16
)

// A concealer takes values out of texts, in the forms in which messages have them.
type concealer struct {
	values []any
	// forms of the texts in the values by how they begin; nil until they are needed.
	forms map[[shortest]byte][]string
}

// text without the values. Of two that begin at the same place the longer one counts. It takes as long as the text is,
// however many values there are.
func (c *concealer) text(s string) string {
	if len(s) < shortest {
		return s
	}
	if c.forms == nil {
		c.collect()
	}
	out, from := strings.Builder{}, 0
	for i := 0; i+shortest <= len(s); {
		n := c.match(s[i:])
		if n == 0 {
			i++
			continue
		}
		out.WriteString(s[from:i])
		out.WriteString(hiddenText)
		i += n
		from = i
	}
	if from == 0 {
		return s
	}
	out.WriteString(s[from:])
	return strings.ToValidUTF8(out.String(), "")
}

// match is how many bytes a text begins with that are to be hidden.
func (c *concealer) match(s string) int {
	best := 0
	for _, form := range c.forms[[shortest]byte([]byte(s[:shortest]))] {
		n := 0
		for n < len(form) && n < len(s) && form[n] == s[n] {
			n++
		}
		if n == len(form) || n >= beginning {
			best = max(best, n)
		}
	}
	return best
}

// collect the forms of all texts.
func (c *concealer) collect() {
	c.forms = map[[shortest]byte][]string{}
	all := map[string]struct{}{}
	for _, v := range c.values {
		texts(all, v)
	}
	for form := range all {
		key := [shortest]byte([]byte(form[:shortest]))
		c.forms[key] = append(c.forms[key], form)
	}
}

// texts in a value, in all their forms.
func texts(out map[string]struct{}, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, e := range v {
			texts(out, e)
		}
	case []any:
		for _, e := range v {
			texts(out, e)
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
			written(out, v)
		}
	}
}

// special says whether a character may be written in another way.
func special(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// written forms of a text with special characters, and its lines.
func written(out map[string]struct{}, v string) {
	for _, form := range []string{
		v, strings.TrimSpace(v), inner(strconv.Quote(v)), inner(jsonOf(v)), url.QueryEscape(v), url.PathEscape(v),
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

// inner text of a quoted one.
func inner(quoted string) string {
	if len(quoted) < len(`""`) {
		return ""
	}
	return quoted[1 : len(quoted)-1]
}

// jsonOf a text.
func jsonOf(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(b)
}

// concealed texts of a list. It is copied where something is to be hidden: what an engine returns may be kept by it.
func concealed[T any](c *concealer, in []T, of func(*T) *string) []T {
	out := in
	for i := range in {
		item := in[i]
		s := of(&item)
		now := c.text(*s)
		changed := now != *s
		*s = now
		out = replaced(in, out, i, item, changed)
	}
	return out
}

// concealedLists is concealed for lists of texts.
func concealedLists[T any](c *concealer, in []T, of func(*T) *[]string) []T {
	out := in
	for i := range in {
		item := in[i]
		list := of(&item)
		now := concealed(c, *list, func(s *string) *string { return s })
		changed := !slices.Equal(now, *list)
		*list = now
		out = replaced(in, out, i, item, changed)
	}
	return out
}

// replaced is a list with another item, as a copy of the one that it was at first.
func replaced[T any](in, out []T, i int, item T, changed bool) []T {
	if !changed {
		return out
	}
	if &in[0] == &out[0] {
		out = slices.Clone(in)
	}
	out[i] = item
	return out
}
