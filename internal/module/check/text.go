// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Bounds of messages, which show what a module says.
const (
	maxLine       = 1024 // bytes of a line
	maxViolations = 10   // fields that one error lists
	maxViolation  = 256  // bytes of one of them
)

// oneLine makes one line of at most maxLine bytes.
func oneLine(s string) string { return short(s, maxLine) }

func short(s string, limit int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + " …"
}

// violations in one line, "path: what; path: what", nil if there are none. One thing may be found by several ways.
func violations(list field.ErrorList) error {
	texts := make([]string, 0, len(list))
	for _, e := range list {
		texts = append(texts, short(violation(e), maxViolation))
	}
	return joined(texts)
}

// joined texts, each once, as an error.
func joined(texts []string) error {
	if len(texts) == 0 {
		return nil
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	more := ""
	if n := len(texts) - maxViolations; n > 0 {
		texts, more = texts[:maxViolations], fmt.Sprintf("; and %d more", n)
	}
	return errors.New(strings.Join(texts, "; ") + more)
}

// violation is "path: what". Paths begin at the object.
func violation(e *field.Error) string {
	path := cmp.Or(strings.TrimPrefix(e.Field, "<nil>."), "object")
	if path == "<nil>" {
		path = "object"
	}
	// The server's own words repeat the path.
	detail := strings.TrimPrefix(strings.TrimPrefix(e.Detail, path), " in body ")
	switch e.Type {
	case field.ErrorTypeRequired:
		return path + ": is missing" + after(detail)
	case field.ErrorTypeTypeInvalid:
		return path + ": " + cmp.Or(detail, "is of the wrong type")
	case field.ErrorTypeInvalid:
		return path + ": " + cmp.Or(detail, "is invalid")
	default:
		return path + ": " + e.ErrorBody()
	}
}

func after(detail string) string {
	if detail == "" {
		return ""
	}
	return ": " + detail
}
