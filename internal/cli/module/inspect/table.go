// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/internal/printable"
)

// A printer writes lines. It stops at the first error, which it keeps in err.
type printer struct {
	w   io.Writer
	err error
}

// line writes one line. Tabs separate the columns. It omits empty columns at the end.
func (p *printer) line(columns ...string) {
	if p.err != nil {
		return
	}
	for i := range columns {
		columns[i] = printable.Text(columns[i], "")
	}
	_, p.err = io.WriteString(p.w, strings.TrimRight(strings.Join(columns, "\t"), "\t")+"\n")
}

// field writes a name and a value, or nothing if the value is empty.
func (p *printer) field(name, value string) {
	if value != "" {
		p.line(name, value)
	}
}

// section writes a title after an empty line.
func (p *printer) section(title string) {
	p.line()
	p.line(title)
}

// line returns the text of an error on one line.
func line(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// size formats a number of bytes with a binary unit.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	f, i := float64(n)/unit, 0
	for f >= unit && i < 3 {
		f, i = f/unit, i+1
	}
	return fmt.Sprintf("%.1f %ciB", f, "KMGT"[i])
}

// table writes the inspection as a tree.
func (i *Inspection) table(w io.Writer) error {
	p := &printer{w: w}
	p.field("NAME", i.Name)
	p.field("VERSION", i.Version)
	p.field("PROVIDER", i.Provider)
	p.field("REPOSITORY", i.Repository)
	p.field("LAYOUT", i.Layout)
	p.field("TAG", i.Tag)
	p.field("DIGEST", i.Digest)
	for _, s := range i.Sources {
		p.line("SOURCE", strings.Join(strings.Fields(s.Repository+" "+s.Ref+" "+s.Commit), " "))
	}
	for _, l := range i.Labels {
		p.line("LABEL", l.Name+"="+text(l.Value))
	}
	for _, r := range i.References {
		p.line("REFERENCE", r.Component+":"+r.Version)
	}
	i.resources(p)
	i.signatures(p)
	i.installs(p)
	if len(i.Images) > 0 {
		p.section("IMAGES")
	}
	for _, image := range i.Images {
		p.line(image)
	}
	return p.err
}

// text returns a string unchanged, and any other value as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(data)
}

func (i *Inspection) resources(p *printer) {
	if len(i.Resources) == 0 {
		return
	}
	p.line()
	p.line("RESOURCE", "TYPE", "SIZE", "DIGEST", "WHERE")
	for _, r := range i.Resources {
		bytes, digest, where := "-", r.Digest, r.Where
		if r.Size != nil {
			bytes, where = size(*r.Size), "layer"
		}
		if digest == "" {
			digest = "none"
		}
		p.line(r.Name, r.Type, bytes, digest, where)
	}
}

func (i *Inspection) signatures(p *printer) {
	p.line()
	if len(i.Signatures) == 0 {
		p.line("SIGNATURES: none")
		return
	}
	p.line("SIGNATURES, not verified here: use kymactl module verify")
	for _, s := range i.Signatures {
		p.line(s.Name, s.Algorithm, "of "+s.Digest)
	}
}

func (i *Inspection) installs(p *printer) {
	p.section("INSTALLS")
	if i.Error != "" {
		p.line("unknown: " + i.Error)
	}
	for n := range i.Installs {
		in := &i.Installs[n]
		children := make([]string, 0, len(in.Objects)+1)
		for _, o := range in.Objects {
			children = append(children, o.Kind+" "+strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"))
		}
		if in.Error != "" {
			children = append(children, "cannot be rendered: "+in.Error)
		}
		branch(p, "", in.title(), n == len(i.Installs)-1, children)
	}
}

// title returns the line of an install in the tree.
func (i *InstallSummary) title() string {
	out := i.Kind
	if i.Name != i.Kind {
		out += " " + i.Name
	}
	if i.Chart != "" {
		out += " (" + i.Chart + ")"
	}
	return out
}

// branch writes a branch of a tree with its leaves.
func branch(p *printer, indent, title string, last bool, leaves []string) {
	mark, more := "├─ ", "│  "
	if last {
		mark, more = "└─ ", "   "
	}
	p.line(indent + mark + title)
	for n, leaf := range leaves {
		mark := "├─ "
		if n == len(leaves)-1 {
			mark = "└─ "
		}
		p.line(indent + more + mark + leaf)
	}
}
