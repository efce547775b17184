// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/module/compare"
)

// Differences is the output of module diff in JSON and YAML. Lists are sorted and
// never nil. Fields can be added, but not removed.
type Differences struct {
	From ModuleVersion `json:"from"`
	To   ModuleVersion `json:"to"`
	// Installs lists installs that were added or removed, or that have a different kind or chart.
	Installs []InstallChange `json:"installs"`
	// Objects lists changes of objects that would be installed with the default values of their charts.
	Objects []compare.ObjectChange `json:"objects"`
	// Values lists changes of the default values of charts that both versions have.
	Values []ValuesChange `json:"values"`
	// Images lists changes of the images that containers run, and of those that the descriptor lists.
	Images []ImageChange `json:"images"`
	// CRDVersions lists changes of the served versions of CRDs.
	CRDVersions []compare.VersionChange `json:"crdVersions"`
	// Problems lists the parts that could not be compared, and why.
	Problems []string `json:"problems"`
}

// A ModuleVersion is one side of a comparison.
type ModuleVersion struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// An InstallChange describes an install that differs.
type InstallChange struct {
	Change string `json:"change"` // One of added, removed and changed.
	Name   string `json:"name"`
	From   string `json:"from,omitempty"` // Kind, and for a chart its name and version.
	To     string `json:"to,omitempty"`
}

// A ValuesChange lists the changes of the default values of a chart.
type ValuesChange struct {
	Install string                `json:"install"`
	Fields  []compare.FieldChange `json:"fields"`
}

// An ImageChange describes an image that was added or removed.
type ImageChange struct {
	Change string `json:"change"`
	Image  string `json:"image"`
}

// same reports whether the comparison found no difference.
func (d *Differences) same() bool {
	return d.From.Name == d.To.Name && d.From.Version == d.To.Version &&
		len(d.Installs)+len(d.Objects)+len(d.Values)+len(d.Images)+len(d.CRDVersions) == 0
}

// A side is one of the two modules of a comparison.
type side struct {
	ModuleVersion

	installs []bundle.Install
	objects  []*unstructured.Unstructured
	images   []string
	problems []string
}

// sideOf renders a module. It fails only if nothing of the module can be rendered; other failures become problems of the side.
func sideOf(ctx context.Context, b *bundle.Bundle) (*side, error) {
	d := b.Descriptor()
	out := &side{ModuleVersion: ModuleVersion{Name: d.Name(), Version: d.Version(), Digest: b.Digest}}
	installs, err := bundle.Installs(ctx, b)
	if len(installs) == 0 && err != nil {
		return nil, errors.Wrapf(err, "%s:%s", d.Name(), d.Version())
	}
	out.installs = installs
	for i := range installs {
		in := &installs[i]
		out.objects = append(out.objects, in.Objects...)
		if in.Err != nil {
			out.problems = append(out.problems, d.Version()+": install "+in.Name+": "+line(in.Err))
		}
	}
	out.images = append(bundle.Images(out.objects), listedImages(d)...)
	return out, nil
}

// difference compares two modules.
func difference(from, to *side) *Differences {
	out := &Differences{
		From: from.ModuleVersion, To: to.ModuleVersion,
		Installs: []InstallChange{}, Objects: []compare.ObjectChange{}, Values: []ValuesChange{}, Images: []ImageChange{},
		CRDVersions: []compare.VersionChange{}, Problems: []string{},
	}
	out.Problems = append(append(out.Problems, from.problems...), to.problems...)
	out.Objects = append(out.Objects, compare.Objects(from.objects, to.objects)...)
	out.CRDVersions = append(out.CRDVersions, compare.Versions(from.objects, to.objects)...)
	added, removed := compare.Sets(from.images, to.images)
	for _, image := range added {
		out.Images = append(out.Images, ImageChange{Change: compare.Added, Image: image})
	}
	for _, image := range removed {
		out.Images = append(out.Images, ImageChange{Change: compare.Removed, Image: image})
	}
	slices.SortFunc(out.Images, func(a, b ImageChange) int { return cmp.Compare(a.Image, b.Image) })
	out.compareInstalls(from, to)
	return out
}

func (d *Differences) compareInstalls(from, to *side) {
	before, after := byName(from.installs), byName(to.installs)
	for name, a := range before {
		b, ok := after[name]
		if !ok {
			d.Installs = append(d.Installs, InstallChange{Change: compare.Removed, Name: name, From: content(a)})
			continue
		}
		if content(a) != content(b) {
			d.Installs = append(d.Installs, InstallChange{Change: compare.Changed, Name: name, From: content(a), To: content(b)})
		}
		if f := compare.Fields(a.Values, b.Values); len(f) > 0 {
			d.Values = append(d.Values, ValuesChange{Install: name, Fields: f})
		}
	}
	for name, b := range after {
		if _, ok := before[name]; !ok {
			d.Installs = append(d.Installs, InstallChange{Change: compare.Added, Name: name, To: content(b)})
		}
	}
	slices.SortFunc(d.Installs, func(a, b InstallChange) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(d.Values, func(a, b ValuesChange) int { return cmp.Compare(a.Install, b.Install) })
}

func byName(installs []bundle.Install) map[string]*bundle.Install {
	out := make(map[string]*bundle.Install, len(installs))
	for i := range installs {
		out[installs[i].Name] = &installs[i]
	}
	return out
}

// content returns the kind of an install and, for a chart, its name and version.
func content(in *bundle.Install) string {
	if in.Chart != "" {
		return in.Kind + " " + in.Chart
	}
	return in.Kind
}

// maxValue is the maximum length of a value in a table, in bytes.
const maxValue = 160

// marks maps each kind of change to the prefix of its table lines.
var marks = map[string]string{compare.Added: "+ ", compare.Removed: "- ", compare.Changed: "~ "} //nolint:gochecknoglobals // A constant table.

// table writes one line for each difference.
func (d *Differences) table(w io.Writer) error {
	p := &printer{w: w}
	if d.From.Name != d.To.Name {
		p.line("~ name: " + d.From.Name + " -> " + d.To.Name)
	}
	if d.From.Version != d.To.Version {
		p.line("~ version: " + d.From.Version + " -> " + d.To.Version)
	}
	for _, i := range d.Installs {
		switch i.Change {
		case compare.Changed:
			p.line("~ install " + i.Name + ": " + i.From + " -> " + i.To)
		default:
			p.line(marks[i.Change] + "install " + i.Name + ": " + i.From + i.To)
		}
	}
	for i := range d.Objects {
		o := &d.Objects[i]
		if len(o.Fields) == 0 {
			p.line(marks[o.Change] + o.Title())
		}
		fieldLines(p, o.Title(), o.Fields)
	}
	for _, v := range d.Values {
		fieldLines(p, "values of "+v.Install, v.Fields)
	}
	for _, i := range d.Images {
		p.line(marks[i.Change] + "image " + i.Image)
	}
	for _, v := range d.CRDVersions {
		p.line(marks[v.Change] + "version " + v.Version + " of CustomResourceDefinition " + v.CRD)
	}
	return p.err
}

func fieldLines(p *printer, title string, fields []compare.FieldChange) {
	for _, f := range fields {
		if f.Hidden {
			p.line("~ " + title + ": " + f.Path + ": changed, not shown")
			continue
		}
		p.line("~ " + title + ": " + f.Path + ": " + short(f.From) + " -> " + short(f.To))
	}
}

// short returns the text of a value, truncated after maxValue bytes.
func short(v *any) string {
	if v == nil {
		return "(none)"
	}
	s := text(*v)
	if s == "" {
		return `""`
	}
	if len(s) <= maxValue {
		return s
	}
	// The printer replaces a rune that is cut in the middle.
	return s[:maxValue] + "…"
}
