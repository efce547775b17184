// SPDX-License-Identifier: Apache-2.0

package helptest

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// output matches the beginning of the part of a help text that describes the output.
	output = regexp.MustCompile(`(?i)--output\s+json\s+or\s+yaml`)
	// list matches a list of fields in this part.
	list = regexp.MustCompile(`the\s+fields\s+([^.]*)\.`)
	// remark matches a remark in parentheses.
	remark = regexp.MustCompile(`\([^)]*\)`)
	word   = regexp.MustCompile(`[A-Za-z]+`)
)

// CheckFields checks that a help text names each field in the JSON of structs, including inlined fields, but not the fields of
// their fields. It also checks that each list of fields in the help text contains only such fields.
func CheckFields(t *testing.T, long string, structs ...any) {
	t.Helper()
	for _, problem := range problems(long, structs...) {
		t.Error(problem)
	}
}

// problems returns the differences between a help text and the fields of structs.
func problems(long string, structs ...any) []string {
	at := output.FindStringIndex(long)
	if at == nil {
		return []string{"the help does not describe the output"}
	}
	text := remark.ReplaceAllString(long[at[1]:], "")
	var fields, out []string
	for _, s := range structs {
		fields = append(fields, fieldsOf(reflect.TypeOf(s))...)
	}
	words := word.FindAllString(text, -1)
	for _, f := range fields {
		if !slices.Contains(words, f) {
			out = append(out, "the help does not name the field "+f)
		}
	}
	for _, m := range list.FindAllStringSubmatch(text, -1) {
		for _, item := range strings.FieldsFunc(strings.ReplaceAll(m[1], " and ", ","), func(r rune) bool { return r == ',' || r == '\n' }) {
			name := strings.TrimSpace(item)
			if word.FindString(name) == name && !slices.Contains(fields, name) {
				out = append(out, "the help names the field "+name+", which does not exist")
			}
		}
	}
	return out
}

// fieldsOf returns the names of the fields of a struct in JSON.
func fieldsOf(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			out = append(out, fieldsOf(f.Type)...)
		case name != "" && name != "-":
			out = append(out, name)
		}
	}
	return out
}
