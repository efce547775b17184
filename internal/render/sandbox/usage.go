// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
)

// A usage is the part of the limits that an answer has used.
type usage struct {
	bytes   int64
	objects int
	values  int
	lookups int
}

// An excessError reports that an answer exceeds a limit.
type excessError struct{ text string }

func (e *excessError) Error() string { return e.text }

// add adds a message of the child with n objects.
func (u *usage) add(l Limits, content []byte, n int) error {
	u.bytes += int64(len(content))
	u.objects += n
	u.values += valuesIn(content)
	switch {
	case u.bytes > l.Output:
		return &excessError{text: l.tooLarge()}
	case u.objects > l.Objects:
		return &excessError{text: fmt.Sprintf("renders more than %d objects", l.Objects)}
	case u.values > l.Values:
		return &excessError{text: fmt.Sprintf("the rendered objects have more than %d values", l.Values)}
	}
	return nil
}

func (l Limits) tooLarge() string { return "the rendered objects are larger than " + bytesOf(l.Output) }

func (l Limits) tooManyLookups() string {
	return fmt.Sprintf("calls lookup more than %d times", l.Lookups)
}

// bytesOf formats a size in MiB, or in bytes if it is not a multiple of 1 MiB.
func bytesOf(n int64) string {
	const mib = 1 << 20
	if n%mib == 0 {
		return fmt.Sprintf("%d MiB", n/mib)
	}
	return fmt.Sprintf("%d bytes", n)
}

// valuesIn returns the number of values in JSON. It counts the commas, colons and brackets outside of strings.
func valuesIn(data []byte) int {
	n, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}
