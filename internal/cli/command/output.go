// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"cmp"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/pflag"
)

// Formats for people.
const (
	formatTable = "table"
	formatWide  = "wide"
)

// Output is in which format a command writes what it found.
type Output struct {
	format string
	// named says that what is written has names.
	named bool
}

// A Named document is about objects, which -o name writes as kubectl does: kyma.kyma.m.crossplane.io/default.
type Named interface {
	Names() []string
}

// AddFlag adds -o, --output, or only --output-format to commands whose -o is a
// path.
func (o *Output) AddFlag(f *pflag.FlagSet, path bool) {
	usage := "`FORMAT` of stdout: " + o.formats()
	if path {
		f.StringVar(&o.format, "output-format", formatTable, usage)
		return
	}
	f.StringVarP(&o.format, "output", "o", formatTable, usage)
	// So that the longer name works with all commands; it is not shown, as it adds nothing.
	f.StringVar(&o.format, "output-format", formatTable, usage)
	_ = f.MarkHidden("output-format")
}

// AddNamedFlag adds -o, --output to commands that write Named documents only.
func (o *Output) AddNamedFlag(f *pflag.FlagSet) {
	o.named = true
	o.AddFlag(f, false)
}

// formats that there are.
func (o *Output) formats() string {
	names := ""
	if o.named {
		names = "name, "
	}
	return "table, wide, json, yaml, " + names + "jsonpath=…, go-template=… or custom-columns=…"
}

// Table says whether people are to read it.
func (o *Output) Table() bool { return o.format == formatTable || o.format == formatWide }

// Wide says whether people want to read more of it.
func (o *Output) Wide() bool { return o.format == formatWide }

// Check the format, before anything is done.
func (o *Output) Check() error {
	if o.Table() {
		return nil
	}
	_, err := o.printer()
	return err
}

// Write v in the format. Table writes it for people; columns are separated by
// tabs.
func (o *Output) Write(w io.Writer, v any, table func(w io.Writer) error) error {
	if !o.Table() {
		p, err := o.printer()
		if err != nil {
			return err
		}
		return p(w, v)
	}
	t := newColumns(w)
	if err := table(printableCells{t}); err != nil {
		return err
	}
	return t.Flush()
}

func newColumns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 8, 3, ' ', 0) }

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
