// SPDX-License-Identifier: Apache-2.0

package yamlsize

import (
	"bytes"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	yamlv3 "go.yaml.in/yaml/v3"
)

// Limits are the limits of a YAML or JSON document. A limit of 0 means no limit.
type Limits struct {
	// Values is the maximum number of separators: commas, colons and line breaks. Each value needs one, and takes
	// hundreds of bytes in memory.
	Values int
	// Bytes is the maximum size of the document with its aliases expanded.
	Bytes int
}

// Check returns an error if data exceeds a limit. Invalid YAML passes if it is short enough and has no aliases, because
// its parser returns a better error. Check takes time proportional to the length of data.
func (l Limits) Check(data []byte) error {
	if err := l.check(data); err != nil {
		return &limitError{err}
	}
	return nil
}

func (l Limits) check(data []byte) error {
	if l.Values > 0 && separators(data) > l.Values {
		return errors.Errorf("YAML contains too many values: more than %d commas, colons and line breaks", l.Values)
	}
	if l.Bytes <= 0 {
		return nil
	}
	if len(data) > l.Bytes {
		return errors.Errorf("content is larger than the limit of %d bytes", l.Bytes)
	}
	// Without an anchor and an alias, as in nearly all documents, nothing expands.
	if !marked(data, '&') || !marked(data, '*') {
		return nil
	}
	m := &meter{limit: l.Bytes, sizes: map[*yamlv3.Node]int{}}
	for d := yamlv3.NewDecoder(bytes.NewReader(data)); ; {
		var n yamlv3.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.New("invalid YAML: cannot check the aliases")
		}
		if m.size(&n) > l.Bytes {
			return errors.Errorf("YAML is larger than %d bytes when its aliases are expanded", l.Bytes)
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

// A meter measures the size of nodes with their aliases expanded. It stops counting above the limit.
type meter struct {
	limit int
	sizes map[*yamlv3.Node]int
}

func (m *meter) size(n *yamlv3.Node) int {
	if n.Kind == yamlv3.AliasNode {
		return m.target(n.Alias)
	}
	total := perNode + len(n.Value)
	for _, c := range n.Content {
		if total = min(total+m.size(c), m.limit+1); total > m.limit {
			break
		}
	}
	return total
}

// target returns the size of the target of an alias, which is measured once.
func (m *meter) target(n *yamlv3.Node) int {
	if n == nil {
		return 0
	}
	if size, ok := m.sizes[n]; ok {
		return size
	}
	// A node that contains itself has size 0. Parsers reject it with a better error.
	m.sizes[n] = 0
	m.sizes[n] = m.size(n)
	return m.sizes[n]
}
