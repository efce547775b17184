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
	// engineName is what all templates are associated with, and the name of text
	// given to tpl, as in Helm.
	engineName = "gotpl"

	// maxTemplateDepth is how deep templates may call each other, through
	// include, template and tpl together. Helm allows 1000 for each name.
	maxTemplateDepth = 1000

	// noValue is what text/template prints for a value that is missing.
	noValue = "<no value>"

	msgEndless = "templates call each other without an end"
)

// Options of one execution.
type Options struct {
	MaxBytes int          // That one template, and all together, may print.
	REST     *rest.Config // For lookup; nil: lookup finds nothing.
}

// Printed is what templates print.
type Printed struct {
	Files map[string]string // By the path of the template.
	Pure  bool              // The same chart and values print the same again, REST aside.
}

// Execute the templates of a chart, of whose dependencies those are left that are
// switched on, with what helm gives to them as values. It returns when ctx ends.
// The error is one line that names file and line.
func (s *Set) Execute(ctx context.Context, c *chart.Chart, values chartutil.Values, o Options) (*Printed, error) {
	e := &engine{ctx: ctx, lookup: newLookup(ctx, o.REST), max: o.MaxBytes}
	files, err := e.execute(renderables(s, c, values))
	if err == nil {
		return &Printed{Files: files, Pure: !e.impure}, nil
	}
	// A deadline shows as an error of whatever was in progress.
	if ctx.Err() != nil {
		return nil, errors.Wrap(context.Cause(ctx), "rendering was stopped")
	}
	return nil, templateError(c.Name(), err)
}

// A renderable is one template of a chart with what it sees.
type renderable struct {
	path     string // e.g. parent/charts/child/templates/a.yaml
	basePath string // e.g. parent/charts/child/templates
	source   *source
	values   map[string]any
}

// An engine executes the templates of one rendering, in one goroutine.
type engine struct {
	ctx     context.Context //nolint:containedctx // One engine is one call of execute.
	lookup  lookupFunc
	max     int // bytes that one template, and all together, may print
	printed int
	depth   int
	impure  bool
}

// templatePath is the name under which a file of c is a template.
func templatePath(c *chart.Chart, f *chart.File) string {
	return path.Join(c.ChartFullPath(), f.Name)
}

// renderables collects the templates of c and its dependencies, in the order in
// which Helm parses and executes them: deep paths first, so that definitions of a
// parent replace those of its dependencies; then by name, descending.
func renderables(set *Set, c *chart.Chart, values chartutil.Values) []renderable {
	byPath := map[string]renderable{}
	collect(set, c, values, byPath)
	return slices.SortedFunc(maps.Values(byPath), func(a, b renderable) int {
		if n := cmp.Compare(strings.Count(b.path, "/"), strings.Count(a.path, "/")); n != 0 {
			return n
		}
		return strings.Compare(b.path, a.path)
	})
}

// collect returns what templates of c see, which for its parent is an entry of
// .Subcharts.
func collect(set *Set, c *chart.Chart, values chartutil.Values, out map[string]renderable) map[string]any {
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
		sub[d.Name()] = collect(set, d, next, out)
	}

	library := strings.EqualFold(c.Metadata.Type, "library")
	for _, f := range c.Templates {
		if library && !isPartial(f.Name) {
			continue
		}
		p := templatePath(c, f)
		out[p] = renderable{
			path:     p,
			basePath: path.Join(c.ChartFullPath(), "templates"),
			source:   set.get(p, f),
			values:   next,
		}
	}
	return next
}

// isPartial reports whether a template only defines others.
func isPartial(name string) bool { return strings.HasPrefix(path.Base(name), "_") }

// execute renders all templates but partials and returns what they print.
func (e *engine) execute(rs []renderable) (map[string]string, error) {
	t := template.New(engineName).Option("missingkey=zero").Funcs(parseFuncs()).Funcs(e.funcs())
	e.bind(t)
	for _, r := range rs {
		if r.source.err != nil {
			return nil, r.source.err
		}
		for _, tree := range r.source.trees {
			if _, err := t.AddParseTree(tree.Name, tree); err != nil {
				return nil, errors.Wrapf(err, "cannot add template %q", tree.Name)
			}
		}
	}

	out := make(map[string]string, len(rs))
	for _, r := range rs {
		if isPartial(r.path) {
			continue
		}
		r.values["Template"] = chartutil.Values{"Name": r.path, "BasePath": r.basePath}
		text, err := e.run(t, r.path, r.values)
		if err != nil {
			return nil, err
		}
		e.printed += len(text)
		if e.printed > e.max {
			return nil, &positionError{name: r.path, msg: tooMuch(e.max)}
		}
		out[r.path] = strings.ReplaceAll(text, noValue, "")
	}
	return out, nil
}

// run executes one template and returns what it prints.
func (e *engine) run(t *template.Template, name string, data any) (string, error) {
	w := &boundedWriter{max: e.max}
	err := t.ExecuteTemplate(w, name, data)
	return w.String(), err
}

// funcs are the functions that belong to this rendering.
func (e *engine) funcs() template.FuncMap {
	f := template.FuncMap{
		"required": required,
		"fail":     func(msg string) (string, error) { return "", &failure{msg: msg} },
		funcLookup: e.lookup,
		funcEnter:  e.enter,
		funcLeave:  func() string { e.depth--; return "" },
		funcTick:   func() (string, error) { return "", e.ctx.Err() },
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

// bind the functions that execute other templates of t.
func (e *engine) bind(t *template.Template) {
	t.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			if t.Lookup(name) == nil {
				return "", &failure{msg: "there is no template " + strconv.Quote(name)}
			}
			return e.run(t, name, data)
		},
		funcTPL: func(text string, data any) (string, error) { return e.tpl(t, text, data) },
	})
}

// tpl executes text as a template. What it defines is seen by itself only,
// therefore it works on a copy.
func (e *engine) tpl(parent *template.Template, text string, data any) (string, error) {
	if !hasAction(text) {
		return strings.ReplaceAll(text, noValue, ""), nil
	}
	t, err := parent.Clone()
	if err != nil {
		return "", errors.Wrap(err, "cannot copy templates")
	}
	// A copy loses the option: https://github.com/golang/go/issues/43022.
	e.bind(t.Option("missingkey=zero"))

	src := parseSource(engineName, text)
	if src.err != nil {
		return "", src.err
	}
	// A text that is blank, or defines only, does not replace the template that
	// is associated with the name, therefore the new one is executed directly.
	t = t.New(engineName)
	for _, tree := range src.trees {
		if _, err := t.AddParseTree(tree.Name, tree); err != nil {
			return "", errors.Wrapf(err, "cannot add template %q", tree.Name)
		}
	}
	w := &boundedWriter{max: e.max}
	if err := t.Execute(w, data); err != nil {
		return "", err
	}
	return strings.ReplaceAll(w.String(), noValue, ""), nil
}

// enter a template. Endless recursion would end the process, not the rendering:
// Go cannot recover from a stack that is exhausted.
func (e *engine) enter() (string, error) {
	if err := e.ctx.Err(); err != nil {
		return "", err
	}
	e.depth++
	if e.depth > maxTemplateDepth {
		return "", &failure{msg: msgEndless}
	}
	return "", nil
}

// noting returns fn, but calls are noted: the rendering is not pure.
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
