// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"slices"
	"strings"
	"sync"
)

const (
	// Mark is the text that replaces a value.
	Mark = "(hidden)"
	// withheld is the text that replaces each text if there are too many values to find them in it.
	withheld = "(hidden: the Secrets contain too many values)"
)

// A Redactor replaces the values of Secrets in texts, in all the forms that messages contain. A nil Redactor returns each
// text unchanged. A Redactor is safe for concurrent use.
type Redactor struct {
	values []any
	// late contains values that are added while the Redactor is in use. It can be nil.
	late *Values

	mu sync.Mutex
	// forms contains the forms of the values. They are collected when the first text is redacted, because most passes have no
	// texts, and again after values are added to late. seen is the number of values of late that they include. tooMany is true if
	// there are more forms than a Redactor may have.
	forms   *dictionary
	seen    int
	tooMany bool
}

// New returns a Redactor for values as a YAML parser returns them. Without values, New returns nil.
func New(values ...any) *Redactor {
	if len(values) == 0 {
		return nil
	}
	return &Redactor{values: values}
}

// NewGrowing returns a Redactor for values, and for the values that late contains at the time when a text is redacted.
func NewGrowing(late *Values, values ...any) *Redactor {
	return &Redactor{values: values, late: late}
}

// With returns a Redactor that replaces more values. It does not change r.
func (r *Redactor) With(values ...any) *Redactor {
	if len(values) == 0 {
		return r
	}
	if r == nil {
		return New(values...)
	}
	return &Redactor{values: slices.Concat(r.values, values), late: r.late}
}

// Text returns a text without the values. If two values begin at the same position, Text replaces the longer one. It does not
// change a text that is already redacted. Text takes time in proportion to the length of the text, and to the logarithm of the
// number of values. If the values have too many forms, Text returns a fixed text instead of each text.
func (r *Redactor) Text(s string) string {
	if r == nil || len(s) < shortest {
		return s
	}
	forms, ok := r.collected()
	if !ok {
		return withheld
	}
	if len(forms.sorted) == 0 {
		return s
	}
	out, from := strings.Builder{}, 0
	for i := 0; i+shortest <= len(s); {
		n := forms.match(s[i:])
		if n <= len(Mark) && strings.HasPrefix(s[i:], Mark) {
			i += len(Mark)
			continue
		}
		if n == 0 {
			i++
			continue
		}
		out.WriteString(s[from:i])
		out.WriteString(Mark)
		i += n
		from = i
	}
	if from == 0 {
		return s
	}
	out.WriteString(s[from:])
	return out.String()
}

// Texts returns a list of redacted texts. It does not change its argument.
func (r *Redactor) Texts(in []string) []string {
	if r == nil || in == nil {
		return in
	}
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = r.Text(s)
	}
	return out
}

// Error returns an error whose text is redacted. It wraps its argument, so callers can still check the kind of the error. An
// error without a value in its text is returned unchanged.
func (r *Redactor) Error(err error) error {
	if r == nil || err == nil {
		return err
	}
	text := err.Error()
	if now := r.Text(text); now != text {
		return &redactedError{text: now, err: err}
	}
	return err
}

// A redactedError contains the redacted text of another error. It has no other text representation.
type redactedError struct {
	text string
	err  error
}

// Error returns the redacted text.
func (e *redactedError) Error() string { return e.text }

// Unwrap returns the original error.
func (e *redactedError) Unwrap() error { return e.err }

// collected returns the forms of all values, or false if there are too many. If there are new values, it collects the forms again.
func (r *Redactor) collected() (*dictionary, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	late := r.late.all()
	if r.tooMany || r.forms != nil && len(late) == r.seen {
		return r.forms, !r.tooMany
	}
	r.forms = nil // frees the memory for the new forms
	all := &collection{forms: map[string]struct{}{}}
	for _, v := range r.values {
		all.addForms(v)
	}
	for _, v := range late {
		all.addForms(v)
	}
	if r.tooMany = all.full(); r.tooMany {
		return nil, false
	}
	r.forms, r.seen = newDictionary(all.forms), len(late)
	return r.forms, true
}
