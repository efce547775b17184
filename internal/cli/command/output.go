// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/crossplane-contrib/provider-kyma/internal/printable"
)

// Output formats for users.
const (
	formatTable = "table"
	formatWide  = "wide"
)

// Output writes the output of a command in the format that the user selects with -o.
type Output struct {
	format string
	// named is true if the output implements Named.
	named bool
}

// A Named document describes objects. -o name prints their names as kubectl does, such as kyma.kyma.m.crossplane.io/default.
type Named interface {
	Names() []string
}

// AddFlag adds the flags -o and --output. If path is true, it adds only --output-format, because -o is a path in these
// commands.
func (o *Output) AddFlag(f *pflag.FlagSet, path bool) {
	usage := "output `FORMAT`: " + o.formats()
	if path {
		f.StringVar(&o.format, "output-format", formatTable, usage)
		return
	}
	f.StringVarP(&o.format, "output", "o", formatTable, usage)
	// --output-format works with all commands. It is hidden here, because it duplicates -o.
	f.StringVar(&o.format, "output-format", formatTable, usage)
	_ = f.MarkHidden("output-format")
}

// AddNamedFlag adds the flags -o and --output to a command whose output implements Named.
func (o *Output) AddNamedFlag(f *pflag.FlagSet) {
	o.named = true
	o.AddFlag(f, false)
}

// formats returns the supported formats, for help and errors.
func (o *Output) formats() string {
	names := ""
	if o.named {
		names = "name, "
	}
	return "table, wide, json, yaml, " + names + "jsonpath=…, go-template=… or custom-columns=…"
}

// Table reports whether the format is for users: table or wide.
func (o *Output) Table() bool { return o.format == formatTable || o.format == formatWide }

// Wide reports whether the format is wide, with more columns.
func (o *Output) Wide() bool { return o.format == formatWide }

// Check returns a usage error if the format is unknown or invalid. Call it before the command does anything.
func (o *Output) Check() error {
	if o.Table() {
		return nil
	}
	_, err := o.printer()
	return err
}

// Write writes v to w in the selected format. For table and wide, it calls table instead, which separates columns with tabs.
func (o *Output) Write(w io.Writer, v any, table func(w io.Writer) error) error {
	if !o.Table() {
		p, err := o.printer()
		if err != nil {
			return err
		}
		// Programs get the unchanged text.
		if s, ok := w.(Screen); ok {
			w = printableCells{s}
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

// printableCells replaces non-printable characters, except for tabs and line breaks, with spaces.
type printableCells struct{ io.Writer }

// Write writes text with these replacements. text must not end within a multi-byte character.
func (p printableCells) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.Writer, printable.Text(string(text), "\t\n")); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Row writes a row of a table. Empty cells become dashes.
func Row(w io.Writer, cells ...string) error {
	for i, c := range cells {
		cells[i] = cmp.Or(printable.Text(c, ""), "-")
	}
	_, err := io.WriteString(w, strings.Join(cells, "\t")+"\n")
	return err
}
