// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/utils"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// maxFeeding bounds the replacements that copy a field that another replacement writes to: each may double its size.
const maxFeeding = 4

// maxReplacements bounds the replacements, because they are compared with each other.
const maxReplacements = 200

// A node is an object as kustomize reads it.
type node struct {
	kind, name string
	json       []byte
}

// nodes parses YAML with kustomize's reader, but checks aliases first: kustomize would not stop at an alias that
// contains itself. Each document must be convertible to JSON, because kustomize ends the process if it cannot print
// an object.
func (c *check) nodes(name string, data []byte) ([]node, error) {
	if err := (yamlsize.Limits{Bytes: input.MaxFile}).Check(data); err != nil {
		return nil, errors.Wrap(err, name)
	}
	docs, err := (&kio.ByteReader{Reader: bytes.NewReader(data), OmitReaderAnnotations: true, DisableUnwrapping: true}).Read()
	if err != nil {
		return nil, errors.Errorf("%s: %s", name, input.Line(err.Error()))
	}
	var out []node
	for _, d := range docs {
		m := &meter{open: map[*yaml.Node]bool{}, sizes: map[*yaml.Node]int{}}
		if m.size(d.YNode()) > input.MaxFile {
			return nil, errors.Errorf("%s is larger than %d bytes when its aliases are expanded", name, input.MaxFile)
		}
		if m.endless {
			return nil, errors.Errorf("%s: an alias contains itself", name)
		}
		if err := d.DeAnchor(); err != nil {
			return nil, errors.Errorf("%s: %s", name, input.Line(err.Error()))
		}
		j, err := d.MarshalJSON()
		if err != nil {
			return nil, errors.Errorf("%s: %s", name, input.Line(err.Error()))
		}
		out = append(out, objectNodes(j)...)
	}
	return out, nil
}

// objectNodes returns the object, or the items of a list.
func objectNodes(j []byte) []node {
	var o struct {
		Kind     string            `json:"kind"`
		Items    []json.RawMessage `json:"items"`
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	// Kustomize rejects content of the wrong type.
	_ = json.Unmarshal(j, &o)
	if len(o.Items) == 0 {
		return []node{{o.Kind, o.Metadata.Name, j}}
	}
	out := make([]node, 0, len(o.Items))
	for _, item := range o.Items {
		o.Items = nil
		o.Kind, o.Metadata.Name = "", ""
		_ = json.Unmarshal(item, &o)
		out = append(out, node{o.Kind, o.Metadata.Name, item})
	}
	return out
}

// A meter measures nodes with their aliases expanded, and detects an alias inside its own anchor. It stops counting
// above the limit.
type meter struct {
	open    map[*yaml.Node]bool
	sizes   map[*yaml.Node]int
	endless bool
}

func (m *meter) size(n *yaml.Node) int {
	if n == nil || m.open[n] {
		m.endless = m.endless || n != nil
		return 0
	}
	if size, ok := m.sizes[n]; ok {
		return size
	}
	if n.Kind == yaml.AliasNode {
		return m.size(n.Alias)
	}
	if n.Anchor != "" {
		m.open[n] = true
		defer delete(m.open, n)
	}
	size := 4 + len(n.Value)
	for _, c := range n.Content {
		size = min(size+m.size(c), input.MaxFile+1)
	}
	if n.Anchor != "" {
		m.sizes[n] = size
	}
	return size
}

// patch checks a patch, which applies to several objects if many is true. A JSON patch must not use copy: a few
// copies of an object into itself exceed any memory.
func (f *kustomization) patch(field, text string, many bool) error {
	j, err := yamlsize.Limits{Bytes: input.MaxFile}.JSON([]byte(text))
	if yamlsize.Exceeds(err) {
		return errors.Wrapf(err, "%s: %s", f.name, field)
	}
	f.check.steps++
	if many {
		f.check.perObject += len(text)
	}
	f.check.text = append(f.check.text, text...)
	if err != nil || !bytes.HasPrefix(j, []byte("[")) {
		// It is a strategic merge patch of one or more documents.
		_, err := f.check.nodes(f.name+": "+field, []byte(text))
		return err
	}
	var ops []struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(j, &ops); err != nil {
		return errors.Errorf("%s: %s is not a valid JSON patch: %s", f.name, field, input.Line(err.Error()))
	}
	for i, op := range ops {
		if op.Op == "copy" {
			return f.refuse(fmt.Sprintf("%s[%d].op", field, i), op.Op, "is not supported, because it can multiply the size "+
				"of an object: write the value instead")
		}
	}
	return nil
}

// additions records what the kustomization adds to each object.
func (f *kustomization) additions(k *types.Kustomization) error {
	c := f.check
	size := len(k.NamePrefix) + len(k.NameSuffix) + len(k.Namespace)
	pairs := []map[string]string{k.CommonLabels, k.CommonAnnotations} //nolint:staticcheck // It is still in use.
	places := 8
	for _, l := range k.Labels {
		pairs = append(pairs, l.Pairs)
		places += len(l.FieldSpecs)
	}
	for _, p := range pairs {
		for key, value := range p {
			size += len(key) + len(value)
		}
	}
	for i, p := range k.Configurations {
		field := fmt.Sprintf("configurations[%d]", i)
		data, err := f.parsed(field, p)
		if err != nil {
			return err
		}
		f.configuration(field, data)
		places += bytes.Count(data, []byte("path"))
	}
	c.perObject += size * places
	vars := k.Vars //nolint:staticcheck // They are still in use.
	c.steps += len(k.Images) + len(k.Replicas) + len(k.Labels) + len(vars)
	c.vars = append(c.vars, vars...)
	for _, v := range vars {
		if v.Name == "" || len(strings.Fields(v.Name)) != 1 {
			return f.refuse("vars", v.Name, "must be a name")
		}
	}
	return nil
}

// bounded returns an error if the result may exceed the limits.
func (c *check) bounded() error {
	if c.steps*c.objects > maxSteps {
		return errors.Errorf("too many patches, images and other transformations (%d) for %d objects", c.steps, c.objects)
	}
	if len(c.replacements) > maxReplacements {
		return errors.Errorf("more than %d replacements", maxReplacements)
	}
	if err := c.unambiguous(); err != nil {
		return err
	}
	growth := c.perObject * c.objects
	for _, v := range c.vars {
		uses := bytes.Count(c.text, []byte("$("+v.Name+")"))
		growth += min(uses*c.sizeOf(v.ObjRef.Kind), maxGrowth+1)
	}
	feeding := 0
	for _, r := range c.replacements {
		growth += c.growth(r)
		if c.fed(r) {
			feeding++
		}
	}
	if growth > maxGrowth {
		return errors.Errorf("patches, labels, variables and replacements could add more than %d bytes: select fewer objects", maxGrowth)
	}
	if feeding > maxFeeding {
		return errors.Errorf("more than %d replacements copy fields that other replacements write", maxFeeding)
	}
	return nil
}

// growth returns the maximum growth by a replacement, in bytes.
func (c *check) growth(r types.Replacement) int {
	size, out := 0, 0
	switch {
	case r.SourceValue != nil:
		size = len(*r.SourceValue)
	case r.Source != nil:
		size = c.sizeOf(r.Source.Kind)
	}
	for _, t := range r.Targets {
		n := max(len(t.FieldPaths), 1) * c.countOf(t)
		out += min(n*size, maxGrowth+1)
	}
	return out
}

// sizeOf returns the size of the largest object of a kind, or of all kinds if kind is empty.
func (c *check) sizeOf(kind string) int {
	if kind == "" {
		return c.largest
	}
	return c.sizes[kind]
}

// countOf returns how many objects a replacement may write to. The kind of a target may be a regular expression.
func (c *check) countOf(t *types.TargetSelector) int {
	if t == nil || t.Select == nil || t.Select.Kind == "" {
		return c.objects
	}
	if n, ok := c.counts[t.Select.Kind]; ok {
		return n
	}
	return c.objects
}

// fed reports whether a replacement copies a field that a replacement writes to.
func (c *check) fed(r types.Replacement) bool {
	if r.Source == nil {
		return false
	}
	from := r.Source.FieldPath
	if from == "" {
		from = types.DefaultReplacementFieldPath
	}
	for _, other := range c.replacements {
		for _, t := range other.Targets {
			for _, to := range t.FieldPaths {
				if feeds(from, to, t.Options != nil && t.Options.Delimiter != "") {
					return true
				}
			}
		}
	}
	return false
}

// feeds reports whether writing to the field to enlarges the field from: if to is inside from, or, if adds reports
// that the value is added to text, also if the fields are the same, or from is YAML in that text.
func feeds(from, to string, adds bool) bool {
	f, t := elements(from), elements(to)
	for i := range min(len(f), len(t)) {
		if f[i] != t[i] && !wild(f[i]) && !wild(t[i]) {
			return false
		}
	}
	return len(f) < len(t) || adds
}

// elements returns the elements of the path of a field, which may begin with a dot.
func elements(p string) []string {
	return slices.DeleteFunc(utils.SmarterPathSplitter(p, "."), func(e string) bool { return e == "" })
}

// wild reports whether an element may match several.
func wild(e string) bool {
	return e == "-" || strings.ContainsAny(e, "*[]\\") || strings.Trim(e, "0123456789") == ""
}
