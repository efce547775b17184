// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/pflag"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"
)

const jsonPathPrefix = "jsonpath="

// Output is in which format a command writes what it found.
type Output struct {
	format string
}

// AddFlag adds -o, --output, or only --output-format to commands whose -o is a
// path.
func (o *Output) AddFlag(f *pflag.FlagSet, path bool) {
	const usage = "`FORMAT` of stdout: table, json, yaml, or jsonpath=…"
	if path {
		f.StringVar(&o.format, "output-format", "table", usage)
		return
	}
	f.StringVarP(&o.format, "output", "o", "table", usage)
	// So that the longer name works with all commands; it is not shown, as it adds nothing.
	f.StringVar(&o.format, "output-format", "table", usage)
	_ = f.MarkHidden("output-format")
}

// Table says whether people are to read it.
func (o *Output) Table() bool { return o.format == "table" }

// Check the format, before anything is done.
func (o *Output) Check() error {
	switch path, ok := strings.CutPrefix(o.format, jsonPathPrefix); {
	case o.format == "table", o.format == "json", o.format == "yaml":
		return nil
	case !ok:
		return Usagef("unknown output format %q: want table, json, yaml or jsonpath=…", o.format)
	default:
		_, err := parsePath(path)
		return err
	}
}

// Write v in the format. Table writes it for people; columns are separated by
// tabs.
func (o *Output) Write(w io.Writer, v any, table func(w io.Writer) error) error {
	if err := o.Check(); err != nil {
		return err
	}
	switch path, ok := strings.CutPrefix(o.format, jsonPathPrefix); {
	case ok:
		return writePath(w, path, v)
	case o.format == "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(v)
	case o.format == "yaml":
		data, err := yaml.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', 0)
	if err := table(printableCells{t}); err != nil {
		return err
	}
	return t.Flush()
}

// printableCells writes what does nothing to a terminal. Rows and columns stay.
type printableCells struct{ io.Writer }

// Write whole texts only: a character must not be cut.
func (p printableCells) Write(text []byte) (int, error) {
	clean := bytes.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
	if _, err := p.Writer.Write(clean); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Row writes one row of a table. An empty cell is a dash.
func Row(w io.Writer, cells ...string) error {
	for i, c := range cells {
		cells[i] = cmp.Or(Printable(c), "-")
	}
	_, err := io.WriteString(w, strings.Join(cells, "\t")+"\n")
	return err
}

func parsePath(path string) (*jsonpath.JSONPath, error) {
	// As kubectl, which takes .a as well as {.a}.
	if !strings.Contains(path, "{") {
		path = "{" + path + "}"
	}
	p := jsonpath.New("output").AllowMissingKeys(true)
	if err := p.Parse(path); err != nil {
		return nil, Usagef("output format jsonpath: %s", err.Error())
	}
	return p, nil
}

// writePath goes through JSON, so that paths name fields as they are shown.
func writePath(w io.Writer, path string, v any) error {
	p, err := parsePath(path)
	if err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var tree any
	if err := utiljson.Unmarshal(data, &tree); err != nil {
		return err
	}
	if err := p.Execute(w, tree); err != nil {
		return WithCode(ExitUsage, errors.Wrap(err, "output format jsonpath"))
	}
	_, err = io.WriteString(w, "\n")
	return err
}
