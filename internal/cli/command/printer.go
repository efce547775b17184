// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/printable"
)

// A printer writes a document in a format for programs.
type printer func(w io.Writer, v any) error

// printer returns the printer for the format, or a usage error. It uses only the template printer of cli-runtime: the others
// require Kubernetes objects with a kind, and write path errors to stdout.
// See docs/decisions/0070-flags-that-kymactl-shares-with-kubectl.md.
func (o *Output) printer() (printer, error) {
	plain := map[string]printer{"json": printJSON, "yaml": printYAML}
	if o.named {
		plain["name"] = printNames
	}
	if p, ok := plain[o.format]; ok {
		return p, nil
	}
	format, text, given := strings.Cut(o.format, "=")
	if before, ok := strings.CutSuffix(format, "-file"); ok && given {
		data, err := readFile("output format "+format, text)
		if err != nil {
			return nil, err
		}
		format, text = before, string(data)
	}
	parse, ok := map[string]func(format, text string) (printer, error){
		"jsonpath": pathPrinter, "jsonpath-as-json": pathPrinter, "go-template": templatePrinter, "custom-columns": columnsPrinter,
	}[format]
	switch {
	case !ok, !given:
		return nil, Usagef("unknown output format %q: use %s", o.format, o.formats())
	case text == "":
		return nil, Usagef("output format %s: the value after = is missing", format)
	}
	return parse(format, text)
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func printYAML(w io.Writer, v any) error {
	data, err := yaml.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func printNames(w io.Writer, v any) error {
	n, ok := v.(Named)
	if !ok {
		return errors.Errorf("output format name is not supported for %T", v)
	}
	for _, name := range n.Names() {
		if _, err := io.WriteString(w, printable.Text(name, "")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func parsePath(format, path string) (*jsonpath.JSONPath, error) {
	// Like kubectl, accept .a as well as {.a}.
	if !strings.Contains(path, "{") {
		path = "{" + path + "}"
	}
	p := jsonpath.New("output").AllowMissingKeys(true)
	if err := p.Parse(path); err != nil {
		return nil, Usagef("output format %s: %s", format, err.Error())
	}
	return p, nil
}

func pathPrinter(format, path string) (printer, error) {
	p, err := parsePath(format, path)
	if err != nil {
		return nil, err
	}
	p.EnableJSONOutput(format == "jsonpath-as-json")
	return func(w io.Writer, v any) error {
		tree, err := treeOf(v)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := p.Execute(&out, tree); err != nil {
			return WithCode(ExitUsage, errors.Wrapf(err, "output format %s", format))
		}
		if !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
			out.WriteByte('\n')
		}
		_, err = out.WriteTo(w)
		return err
	}, nil
}

// templatePrinter returns a printer for a Go template, with the functions of kubectl templates.
func templatePrinter(format, text string) (printer, error) {
	p, err := printers.NewGoTemplatePrinter([]byte(text))
	if err != nil {
		return nil, Usagef("output format %s: %s", format, err.Error())
	}
	return func(w io.Writer, v any) error {
		tree, err := treeOf(v)
		if err != nil {
			return err
		}
		object, ok := tree.(map[string]any)
		if !ok {
			return errors.Errorf("%T is not an object", v)
		}
		// PrintObj also writes errors to the output.
		var out bytes.Buffer
		if err := p.PrintObj(&unstructured.Unstructured{Object: object}, &out); err != nil {
			return WithCode(ExitUsage, errors.Wrapf(err, "output format %s", format))
		}
		_, err = out.WriteTo(w)
		return err
	}, nil
}

// A column of custom-columns has a title, and a JSONPath relative to a row.
type column struct {
	title string
	path  *jsonpath.JSONPath
}

// columnsPrinter returns a printer for a table with columns such as NAME:.name,STATE:.state.
func columnsPrinter(format, text string) (printer, error) {
	var columns []column
	for spec := range strings.SplitSeq(text, ",") {
		title, path, ok := strings.Cut(spec, ":")
		if !ok || title == "" || path == "" {
			return nil, Usagef("output format %s: %q: use TITLE:PATH, such as NAME:.name", format, spec)
		}
		if !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "{") {
			path = "." + path
		}
		p, err := parsePath(format, path)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column{title, p})
	}
	return func(w io.Writer, v any) error {
		tree, err := treeOf(v)
		if err != nil {
			return err
		}
		t := newColumns(w)
		if err := writeColumns(t, columns, rowsOf(tree)); err != nil {
			return err
		}
		return t.Flush()
	}, nil
}

func writeColumns(w io.Writer, columns []column, rows []any) error {
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.title
	}
	if err := Row(w, cells...); err != nil {
		return err
	}
	for _, row := range rows {
		for i, c := range columns {
			found, err := c.path.FindResults(row)
			if err != nil {
				return WithCode(ExitUsage, errors.Wrap(err, "output format custom-columns"))
			}
			var cell bytes.Buffer
			for _, values := range found {
				if err := c.path.PrintResults(&cell, values); err != nil {
					return err
				}
			}
			cells[i] = cmp.Or(cell.String(), "<none>")
		}
		if err := Row(w, cells...); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf returns the rows of a document: the items of its list if it contains nothing but a list, otherwise the document
// itself.
func rowsOf(tree any) []any {
	if object, ok := tree.(map[string]any); ok && len(object) == 1 {
		for _, only := range object {
			if rows, ok := only.([]any); ok {
				return rows
			}
		}
	}
	return []any{tree}
}

// treeOf returns a document as decoded JSON, so that paths use the names of the JSON fields.
func treeOf(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var tree any
	err = utiljson.Unmarshal(data, &tree)
	return tree, err
}
