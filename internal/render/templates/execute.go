// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"cmp"
	"context"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/client-go/rest"
)

const (
	// engineName is the template that all others are associated with, and the name of text given to tpl, as in Helm.
	engineName = "gotpl"

	// maxDepth bounds the nesting of include and tpl together. Helm allows 1000 for each name.
	maxDepth = 1000

	// noValue is the text that text/template prints for a missing value.
	noValue = "<no value>"

	msgEndless = "templates call each other recursively too many times"
)

// Options are the options of one execution.
type Options struct {
	REST   *rest.Config // For lookup; nil: lookup finds nothing.
	Lookup LookupFunc   // For lookup, instead of REST.
	// Begin is called with the path of each template of a file before it is executed; may be nil.
	Begin func(path string)
}

// Printed is the output of templates.
type Printed struct {
	Files map[string]string // Output by the path of the template.
	Pure  bool              // The same chart and values result in the same output, REST aside.
}

// Execute executes the templates of a chart, which has only its enabled dependencies, with the top-level values that
// helm passes to them. It checks ctx before each template, include and tpl. The error is one line that names file and
// line.
func Execute(ctx context.Context, c *chart.Chart, values chartutil.Values, o Options) (*Printed, error) {
	e := &engine{ctx: ctx, lookup: o.Lookup, begin: o.Begin}
	if e.lookup == nil {
		e.lookup = NewLookup(ctx, o.REST)
	}
	if e.begin == nil {
		e.begin = func(string) {}
	}
	files, err := e.execute(renderables(c, values))
	if err == nil {
		return &Printed{Files: files, Pure: !e.impure}, nil
	}
	// A deadline causes an error in whatever was in progress.
	if ctx.Err() != nil {
		return nil, errors.Wrap(context.Cause(ctx), "rendering was stopped")
	}
	return nil, templateError(c.Name(), err)
}

// A renderable is one template of a chart with its values.
type renderable struct {
	path     string // e.g. parent/charts/child/templates/a.yaml
	basePath string // e.g. parent/charts/child/templates
	text     string
	values   map[string]any
}

// An engine executes the templates of one rendering, in one goroutine.
type engine struct {
	ctx    context.Context //nolint:containedctx // One engine is one call of execute.
	lookup LookupFunc
	begin  func(path string)
	depth  int
	impure bool
}

// renderables returns the templates of c and its dependencies, in the order in which Helm parses and executes them:
// deep paths first, so that templates that a parent defines replace those of its dependencies; then by name,
// descending.
func renderables(c *chart.Chart, values chartutil.Values) []renderable {
	byPath := map[string]renderable{}
	collect(c, values, byPath)
	return slices.SortedFunc(maps.Values(byPath), func(a, b renderable) int {
		if n := cmp.Compare(strings.Count(b.path, "/"), strings.Count(a.path, "/")); n != 0 {
			return n
		}
		return strings.Compare(b.path, a.path)
	})
}

// collect adds the templates of c and its dependencies to out. It returns the values that templates of c see, which
// become an entry of .Subcharts of its parent.
func collect(c *chart.Chart, values chartutil.Values, out map[string]renderable) map[string]any {
	sub := map[string]any{}
	next := map[string]any{
		"Chart": struct {
			chart.Metadata

			IsRoot bool
		}{*c.Metadata, c.IsRoot()},
		"Files":        newChartFiles(c.Files),
		"Release":      values["Release"],
		"Capabilities": values["Capabilities"],
		"Values":       chartutil.Values{},
		"Subcharts":    sub,
	}
	if c.IsRoot() {
		next["Values"] = values["Values"]
	} else if v, err := values.Table("Values." + c.Name()); err == nil {
		next["Values"] = v
	}
	for _, d := range c.Dependencies() {
		sub[d.Name()] = collect(d, next, out)
	}

	library := strings.EqualFold(c.Metadata.Type, "library")
	for _, f := range c.Templates {
		if library && !isPartial(f.Name) {
			continue
		}
		p := path.Join(c.ChartFullPath(), f.Name)
		out[p] = renderable{path: p, basePath: path.Join(c.ChartFullPath(), "templates"), text: string(f.Data), values: next}
	}
	return next
}

// isPartial reports whether a template only defines other templates.
func isPartial(name string) bool { return strings.HasPrefix(path.Base(name), "_") }

// execute renders all templates except partials and returns their output.
func (e *engine) execute(rs []renderable) (map[string]string, error) {
	t := template.New(engineName).Option("missingkey=zero").Funcs(parseFuncs()).Funcs(e.funcs())
	e.bind(t)
	for _, r := range rs {
		if _, err := t.New(r.path).Parse(r.text); err != nil {
			return nil, err
		}
	}

	out := make(map[string]string, len(rs))
	for _, r := range rs {
		if isPartial(r.path) {
			continue
		}
		r.values["Template"] = chartutil.Values{"Name": r.path, "BasePath": r.basePath}
		e.begin(r.path)
		text, err := e.run(t.Lookup(r.path), r.values)
		if err != nil {
			return nil, err
		}
		out[r.path] = strings.ReplaceAll(text, noValue, "")
	}
	return out, nil
}

// run executes one template and returns its output. It fails when ctx has ended, and at the maximum depth: a stack
// overflow would end the process.
func (e *engine) run(t *template.Template, data any) (string, error) {
	if err := e.ctx.Err(); err != nil {
		return "", err
	}
	e.depth++
	defer func() { e.depth-- }()
	if e.depth > maxDepth {
		return "", &failure{msg: msgEndless}
	}
	var w strings.Builder
	err := t.Execute(&w, data)
	return w.String(), err
}

// funcs returns the functions that belong to this rendering.
func (e *engine) funcs() template.FuncMap {
	f := template.FuncMap{
		"required": required,
		"fail":     func(msg string) (string, error) { return "", &failure{msg: msg} },
		funcLookup: e.lookup,
	}
	all := parseFuncs()
	for _, name := range impureFuncs {
		fn, ok := f[name]
		if !ok {
			fn = all[name]
		}
		f[name] = e.noting(fn)
	}
	return f
}

// bind adds the functions that execute other templates of t.
func (e *engine) bind(t *template.Template) {
	t.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			other := t.Lookup(name)
			if other == nil {
				return "", &failure{msg: "template " + strconv.Quote(name) + " does not exist"}
			}
			return e.run(other, data)
		},
		"tpl": func(text string, data any) (string, error) { return e.tpl(t, text, data) },
	})
}

// tpl executes text as a template. It works on a copy, because only text itself may see the templates that it
// defines.
func (e *engine) tpl(parent *template.Template, text string, data any) (string, error) {
	if !strings.Contains(text, "{{") {
		return strings.ReplaceAll(text, noValue, ""), nil
	}
	t, err := parent.Clone()
	if err != nil {
		return "", errors.Wrap(err, "cannot copy templates")
	}
	// A copy loses the option: https://github.com/golang/go/issues/43022.
	e.bind(t.Option("missingkey=zero"))
	// A text that is blank or only defines templates does not replace the template of its name, so it gets a new one.
	if t, err = t.New(engineName).Parse(text); err != nil {
		return "", err
	}
	out, err := e.run(t, data)
	return strings.ReplaceAll(out, noValue, ""), err
}

// noting returns a function that calls fn and records that the rendering is not pure.
func (e *engine) noting(fn any) any {
	v := reflect.ValueOf(fn)
	return reflect.MakeFunc(v.Type(), func(args []reflect.Value) []reflect.Value {
		e.impure = true
		if v.Type().IsVariadic() {
			return v.CallSlice(args)
		}
		return v.Call(args)
	}).Interface()
}

func required(msg string, v any) (any, error) {
	if v == nil || v == "" {
		return v, &failure{msg: msg}
	}
	return v, nil
}
