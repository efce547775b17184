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

// Bounds of messages, which contain text of the module.
const (
	maxLine       = 1024 // Bytes of one line.
	maxViolations = 10   // Fields that one error lists.
	maxViolation  = 256  // Bytes of one such field.
)

// oneLine returns a string as one line of at most maxLine bytes.
func oneLine(s string) string { return short(s, maxLine) }

func short(s string, limit int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + " …"
}

// violations returns an error that lists the violations in one line, "path: what; path: what", without duplicates; nil
// if there are none.
func violations(list field.ErrorList) error {
	texts := make([]string, 0, len(list))
	for _, e := range list {
		texts = append(texts, short(violation(e), maxViolation))
	}
	return joined(texts)
}

// joined returns an error that lists texts, sorted and without duplicates; nil if there are none.
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

// violation describes an error as "path: what". Paths are relative to the object.
func violation(e *field.Error) string {
	path := cmp.Or(strings.TrimPrefix(e.Field, "<nil>."), "object")
	if path == "<nil>" {
		path = "object"
	}
	// The detail of the API server repeats the path.
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
