// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"helm.sh/helm/v3/pkg/chart"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// schemaURL names the schema only in the schema itself: nothing is read from there.
const schemaURL = "file:///values.schema.json"

// maxViolations is how many violations one error lists.
const maxViolations = 10

// closedLoader refuses references of a schema to other documents. Helm would read them from local files or the
// network. Unknown urn: references allow everything, as in Helm.
type closedLoader struct{}

func (closedLoader) Load(url string) (any, error) {
	if strings.HasPrefix(url, "urn:") {
		return true, nil
	}
	return nil, errors.Errorf("the schema refers to %s, which is not fetched: include the referenced schema", url)
}

func compileSchema(text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(closedLoader{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(schemaURL)
	if le := (*jsonschema.LoadURLError)(nil); errors.As(err, &le) {
		err = le.Err
	}
	return compiled, err
}

// validateSchemas checks the values of c and of its enabled dependencies against their schemas. at is the path of c in
// the values.
func validateSchemas(c *chart.Chart, values map[string]any, at []string) error {
	if len(c.Schema) > 0 {
		if err := validateSchema(c.Schema, values, at); err != nil {
			return err
		}
	}
	for _, d := range c.Dependencies() {
		raw, ok := values[d.Name()]
		if !ok || raw == nil {
			continue
		}
		path := below(at, d.Name())
		sub, ok := raw.(map[string]any)
		if !ok {
			return errors.Errorf("values: %s: must be an object, got %T", strings.Join(path, "."), raw)
		}
		if err := validateSchemas(d, sub, path); err != nil {
			return err
		}
	}
	return nil
}

// below returns a path that extends at; it does not change at.
func below(at []string, more ...string) []string { return slices.Concat(at, more) }

func validateSchema(text []byte, values map[string]any, at []string) (err error) {
	file := strings.Join(below(at, "values.schema.json"), "/")
	defer func() {
		if r := recover(); r != nil {
			err = errors.Errorf("%s: cannot validate values: %s", file, input.Line(fmt.Sprint(r)))
		}
	}()
	schema, err := compileSchema(text)
	if err != nil {
		return errors.Errorf("%s: %s", file, input.Line(err.Error()))
	}
	err = schema.Validate(values)
	ve := (*jsonschema.ValidationError)(nil)
	if !errors.As(err, &ve) {
		return err
	}
	var all []found
	violations(ve, at, message.NewPrinter(language.English), &all)
	return errors.Errorf("values: %s", input.Line(join(all)))
}

// A found is one violation: its path in the values and a message.
type found struct{ path, msg string }

// join formats at most maxViolations violations as "path: message; path: message". It sorts them, because they are found
// in random order and equal values must result in equal messages.
func join(all []found) string {
	slices.SortStableFunc(all, func(a, b found) int { return strings.Compare(a.path, b.path) })
	var lines []string
	for _, f := range all[:min(len(all), maxViolations)] {
		if f.path != "" {
			f.msg = f.path + ": " + f.msg
		}
		lines = append(lines, f.msg)
	}
	if n := len(all) - maxViolations; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(lines, "; ")
}

// violations appends the leaf causes of e to out.
func violations(e *jsonschema.ValidationError, at []string, p *message.Printer, out *[]found) {
	if len(e.Causes) > 0 {
		for _, c := range e.Causes {
			violations(c, at, p, out)
		}
		return
	}
	*out = append(*out, found{path: strings.Join(below(at, e.InstanceLocation...), "."), msg: violation(e.ErrorKind, p)})
}

// violation returns the message of one violation. It does not contain the value, which may be a secret.
func violation(k jsonschema.ErrorKind, p *message.Printer) string {
	if m := outOfRange(k); m != "" {
		return m
	}
	switch k := k.(type) {
	case *kind.Pattern:
		return fmt.Sprintf("does not match pattern %q", k.Want)
	case *kind.Format:
		return "is not a valid " + k.Want
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties)
		return k.LocalizedString(p)
	default:
		return k.LocalizedString(p)
	}
}

// outOfRange returns the message for a number that is out of range, or "" for any other violation.
func outOfRange(k jsonschema.ErrorKind) string {
	var what string
	var want *big.Rat
	switch k := k.(type) {
	case *kind.Minimum:
		what, want = "at least", k.Want
	case *kind.Maximum:
		what, want = "at most", k.Want
	case *kind.ExclusiveMinimum:
		what, want = "more than", k.Want
	case *kind.ExclusiveMaximum:
		what, want = "less than", k.Want
	case *kind.MultipleOf:
		what, want = "a multiple of", k.Want
	default:
		return ""
	}
	number, _ := want.Float64() // An inexact number is good enough for a message.
	return fmt.Sprintf("must be %s %v", what, number)
}
