// SPDX-License-Identifier: Apache-2.0

package yamlsize

import (
	"bytes"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	yamlv3 "go.yaml.in/yaml/v3"
)

// Defaults.
const (
	DefaultValues = 1_000_000
	DefaultBytes  = 16 << 20
)

// Limits are the limits of a YAML or JSON document. A limit of 0 means its default: every document has both.
type Limits struct {
	// Values is the maximum number of separators: commas, colons and line breaks. Each value needs one, and takes
	// hundreds of bytes in memory. Expanded aliases may have twice as many values.
	Values int
	// Bytes is the maximum size of the document with its aliases expanded.
	Bytes int
}

func (l Limits) withDefaults() Limits {
	if l.Values <= 0 {
		l.Values = DefaultValues
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	return l
}

// Check returns an error if data exceeds a limit. Invalid YAML passes if it is short enough and has no aliases, because
// its parser returns a better error. Check takes time proportional to the length of data.
func (l Limits) Check(data []byte) error {
	if err := l.withDefaults().check(data); err != nil {
		return &limitError{err}
	}
	return nil
}

// CheckJSON is Check for a document that may be JSON: it treats anchors and aliases as text.
func (l Limits) CheckJSON(data []byte) error {
	if err := l.withDefaults().checkText(data); err != nil {
		return &limitError{err}
	}
	return nil
}

func (l Limits) checkText(data []byte) error {
	if len(data) > l.Bytes {
		return errors.Errorf("content is larger than the limit of %d bytes", l.Bytes)
	}
	if separators(data) > l.Values {
		return errors.Errorf("YAML contains too many values: more than %d commas, colons and line breaks", l.Values)
	}
	return nil
}

func (l Limits) check(data []byte) error {
	if err := l.checkText(data); err != nil {
		return err
	}
	// Without an anchor and an alias, as in nearly all documents, nothing expands.
	if !marked(data, '&') || !marked(data, '*') {
		return nil
	}
	m := &meter{limit: extent{bytes: l.Bytes, values: 2 * l.Values}, extents: map[*yamlv3.Node]extent{}}
	for d := yamlv3.NewDecoder(bytes.NewReader(data)); ; {
		var n yamlv3.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.New("invalid YAML: cannot check the aliases")
		}
		switch e := m.extent(&n); {
		case e.bytes > m.limit.bytes:
			return errors.Errorf("YAML is larger than %d bytes when its aliases are expanded", l.Bytes)
		case e.values > m.limit.values:
			return errors.Errorf("YAML contains more than %d values when its aliases are expanded", m.limit.values)
		}
	}
}

// separators returns the number of separators between values. YAML has several kinds of line breaks.
func separators(data []byte) int {
	n := 0
	for _, s := range []string{",", ":", "\n", "\r", "\u0085", "\u2028", "\u2029"} {
		n += bytes.Count(data, []byte(s))
	}
	return n
}

// marked reports whether a character may begin an anchor or an alias: it does not follow a letter or a digit, and a name
// follows it.
func marked(data []byte, sign byte) bool {
	for rest := data; ; {
		i := bytes.IndexByte(rest, sign)
		if i < 0 || i+1 == len(rest) {
			return false
		}
		at := len(data) - len(rest) + i
		if named(rest[i+1]) && (at == 0 || !alphanumeric(data[at-1])) {
			return true
		}
		rest = rest[i+1:]
	}
}

// named reports whether a name may begin with b.
func named(b byte) bool { return b > ' ' }

func alphanumeric(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9'
}

// perNode is the size of a node in addition to its text: brackets, quotes and a separator.
const perNode = 4

// An extent is the size of an expanded node.
type extent struct{ bytes, values int }

// A meter measures nodes with their aliases expanded. It stops counting above a limit.
type meter struct {
	limit   extent
	extents map[*yamlv3.Node]extent
}

func (m *meter) extent(n *yamlv3.Node) extent {
	if n.Kind == yamlv3.AliasNode {
		return m.target(n.Alias)
	}
	total := extent{bytes: perNode + len(n.Value), values: 1}
	for _, c := range n.Content {
		e := m.extent(c)
		total.bytes = min(total.bytes+e.bytes, m.limit.bytes+1)
		total.values = min(total.values+e.values, m.limit.values+1)
		if total.bytes > m.limit.bytes || total.values > m.limit.values {
			break
		}
	}
	return total
}

// target returns the extent of the target of an alias, which is measured once.
func (m *meter) target(n *yamlv3.Node) extent {
	if n == nil {
		return extent{}
	}
	if e, ok := m.extents[n]; ok {
		return e
	}
	// A node that contains itself has no extent. Parsers reject it with a better error.
	m.extents[n] = extent{}
	m.extents[n] = m.extent(n)
	return m.extents[n]
}
