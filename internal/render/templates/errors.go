// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// maxPlace bounds how much of an error is searched for its place, in bytes.
const maxPlace = 4 << 10

// A failure is the error of fail or required in a template, or an error of the engine without a known place.
type failure struct{ msg string }

func (f *failure) Error() string { return f.msg }

// position matches the beginning of an error of text/template: file, line, and, during execution, column and the
// template and expression.
var position = regexp.MustCompile(`(?s)^template: (.+?):(\d+)(?::\d+)?: (?:executing ".*?" at (<.*?>): )?(.*)$`)

// A place is the file and line in the templates that an error comes from, with its message.
type place struct {
	file, line, msg string
}

func (p place) String() string { return p.file + ":" + p.line }

// placeOf parses the place at the beginning of err. The message includes a failing expression, which identifies the
// part of the line.
func placeOf(err error) (place, bool) {
	s := err.Error()
	m := position.FindStringSubmatch(s[:min(len(s), maxPlace)])
	if m == nil {
		return place{}, false
	}
	p := place{file: m[1], line: m[2], msg: m[4]}
	if expr := m[3]; expr != "" {
		fn, _, _ := strings.Cut(strings.Trim(expr, "<>"), " ")
		p.msg = expr + ": " + strings.TrimPrefix(p.msg, "error calling "+fn+": ")
	}
	return p, true
}

// templateError turns an error of parsing or executing templates into one line:
//
//	templates/_helpers.tpl:7: message (from templates/deploy.yaml:12)
//
// The innermost place, which has the cause, comes first. root is the name of the chart, with which paths begin.
func templateError(root string, err error) error {
	msg, file := innermost(err)
	if f := (*failure)(nil); errors.As(err, &f) {
		msg = f.msg
	}
	msg = input.Line(msg)

	if file.file == "" {
		return errors.New(msg)
	}
	at := relative(root, file.String())
	if first, ok := placeOf(err); ok && first.file != engineName && first.String() != file.String() {
		return errors.Errorf("%s: %s (from %s)", at, msg, relative(root, first.String()))
	}
	return errors.Errorf("%s: %s", at, msg)
}

const inTPL = "in text given to tpl: "

// innermost returns the innermost message of err, and the nearest place in a file, as opposed to text given to tpl.
func innermost(err error) (string, place) {
	var chain []error
	for e := err; e != nil; e = errors.Unwrap(e) {
		chain = append(chain, e)
	}
	msg := ""
	for _, e := range slices.Backward(chain) {
		p, ok := placeOf(e)
		if !ok {
			continue
		}
		if msg == "" {
			msg = p.msg
			if p.file == engineName {
				msg = inTPL + "line " + p.line + ": " + msg
			}
		}
		if p.file != engineName {
			return msg, p
		}
	}
	if msg == "" {
		msg = err.Error()
	}
	return msg, place{}
}

// relative returns the path of a template relative to the directory of the chart.
func relative(root, name string) string { return strings.TrimPrefix(name, root+"/") }
