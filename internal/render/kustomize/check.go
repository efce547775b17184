// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// maxKustomization bounds a kustomization.yaml, in bytes, because it is parsed.
const maxKustomization = 1 << 20

// A check reads all kustomizations before kustomize does, because kustomize would fetch anything that resembles a
// URL, and can neither be stopped nor bounded.
type check struct {
	files  *fileSystem
	visits int
	bytes  int // Size of the files read.

	// Number of objects, number and maximum size of the objects of each kind, and maximum size of all.
	objects int
	counts  map[string]int
	sizes   map[string]int
	largest int

	// Additions of the kustomizations to objects, for multiplication when the number of objects is known.
	perObject    int
	steps        int
	replacements []types.Replacement
	vars         []types.Var
	text         []byte // Text that may use variables.

	// names counts the objects that have or had a name; renames is the first field that makes these counts
	// unreliable.
	names   map[objectName]int
	renames string
}

// A kustomization is the kustomization of a directory during the check. Its errors name the file, the field and the
// value.
type kustomization struct {
	check *check
	name  string // Name of the file.
	dir   string // Directory of the file, without a leading slash.
	up    []string
	// renames apply to the names of its objects, the innermost first.
	renames []rename
}

func (f *kustomization) refuse(field, value, why string) error {
	return errors.Errorf("%s: %s: %q %s", f.name, field, shorten(value), why)
}

// shorten truncates a value for a message.
func shorten(s string) string {
	const most = 120
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// enter checks the kustomization of a directory; up lists the directories that led to it.
func (c *check) enter(dir string, up []string, outer []rename) error {
	c.visits++
	if c.visits > maxKustomizations {
		return errors.Errorf("more than %d kustomizations to build, including repeated uses", maxKustomizations)
	}
	if len(up) >= maxDepth {
		return errors.Errorf("kustomizations are nested more than %d levels deep", maxDepth)
	}
	name, data, err := c.kustomization(dir)
	if err != nil {
		return err
	}
	if _, err := c.nodes(name, data); err != nil {
		return err
	}
	var k types.Kustomization
	if err := k.Unmarshal(data); err != nil {
		return errors.Errorf("%s: %s", name, input.Line(err.Error()))
	}
	k.FixKustomization()
	f := &kustomization{
		check: c, name: name, dir: dir, up: append(slices.Clone(up), dir),
		renames: append([]rename{{k.NamePrefix, k.NameSuffix}}, outer...),
	}
	for _, look := range []func(*types.Kustomization) error{f.unsupported, f.component, f.operands, f.generators, f.patches, f.plugins, f.additions} {
		if err := look(&k); err != nil {
			return err
		}
	}
	return nil
}

// kustomization returns the name and content of the kustomization file of a directory, which has one of three names.
func (c *check) kustomization(dir string) (string, []byte, error) {
	var found []string
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		if name := path.Join(dir, base); c.files.content["/"+name] != nil {
			found = append(found, name)
		}
	}
	switch {
	case len(found) == 0:
		return "", nil, errors.Errorf("directory %q has no kustomization.yaml", dir)
	case len(found) > 1:
		return "", nil, errors.Errorf("both %s and %s exist", found[0], found[1])
	}
	data, err := c.read(found[0])
	if err == nil && len(data) > maxKustomization {
		err = errors.Errorf("%s is larger than %d bytes", found[0], maxKustomization)
	}
	return found[0], data, err
}

// read returns the content of a file. Each read counts towards the limit, because kustomize reads the file the same number of
// times.
func (c *check) read(name string) ([]byte, error) {
	if err := c.files.ctx.Err(); err != nil {
		return nil, errors.Wrap(err, "cannot build the kustomization")
	}
	data := c.files.content["/"+name]
	if c.bytes += len(data); c.bytes > maxRead {
		return nil, errors.Errorf("the files of the kustomization are together larger than %d bytes", maxRead)
	}
	if len(data) > input.MaxFile {
		return nil, errors.Errorf("%s is larger than %d bytes", name, input.MaxFile)
	}
	return data, nil
}

// unsupported returns an error for fields that would execute, change or fetch something.
func (f *kustomization) unsupported(k *types.Kustomization) error {
	switch {
	case len(k.HelmCharts) > 0:
		return f.refuse("helmCharts", k.HelmCharts[0].Name, "is not supported, because commands are not executed; use a separate install for the chart")
	case k.HelmGlobals != nil:
		return f.refuse("helmGlobals", k.HelmGlobals.ChartHome, "is not supported, because commands are not executed")
	}
	for _, field := range []string{"path", "version"} {
		if v, ok := k.OpenAPI[field]; ok {
			return f.refuse("openapi."+field, v, "is not supported, because a schema applies to the whole process; use patches with op and path instead")
		}
	}
	return nil
}

// operands checks the resources, components and CRDs: objects and other kustomizations.
func (f *kustomization) operands(k *types.Kustomization) error {
	for i, p := range k.Resources {
		field := fmt.Sprintf("resources[%d]", i)
		name, err := f.local(field, p)
		if err != nil {
			return err
		}
		if f.check.files.IsDir(name) {
			if err := f.enter(field, p, name); err != nil {
				return err
			}
			continue
		}
		if err := f.object(field, p); err != nil {
			return err
		}
	}
	for i, p := range k.Components {
		field := fmt.Sprintf("components[%d]", i)
		name, err := f.local(field, p)
		if err != nil {
			return err
		}
		if !f.check.files.IsDir(name) {
			return f.refuse(field, p, "is not a directory")
		}
		if err := f.enter(field, p, name); err != nil {
			return err
		}
	}
	for i, p := range k.Crds {
		if _, err := f.parsed(fmt.Sprintf("crds[%d]", i), p); err != nil {
			return err
		}
	}
	return nil
}

// enter checks another kustomization that this one refers to.
func (f *kustomization) enter(field, value, dir string) error {
	if slices.Contains(f.up, dir) {
		return f.refuse(field, value, "refers to a kustomization that includes this one")
	}
	return f.check.enter(dir, f.up, f.renames)
}

// local returns the path of a value relative to the root of the files, or an error if it is not an existing local
// path.
func (f *kustomization) local(field, value string) (string, error) {
	if why := remote(value); why != "" {
		return "", f.refuse(field, value, why)
	}
	name := path.Join(f.dir, value)
	if name == ".." || strings.HasPrefix(name, "../") {
		return "", f.refuse(field, value, "is outside of the layer")
	}
	if name == "." {
		name = ""
	}
	if !f.check.files.Exists(name) {
		return "", f.refuse(field, value, "does not exist")
	}
	return name, nil
}

// remote returns why a value is not a local path, or "". It is stricter than kustomize, which treats github.com/a/b,
// git::a, user@host:path and any scheme as a remote.
func remote(value string) string {
	lower := strings.ToLower(value)
	switch {
	case value == "":
		return "is empty"
	case strings.HasPrefix(value, "/"), strings.Contains(value, `\`):
		return "must be a relative path with slashes"
	case strings.ContainsAny(value, ":@?"), strings.HasPrefix(lower, "github.com/"), strings.Contains(value, "_git/"):
		return "is a URL or a git reference, which is not fetched; add the files instead"
	case strings.ContainsAny(value, "\x00\n\r"):
		return "is not a path"
	}
	return ""
}

// file returns the name and content of a file in or below the directory of the kustomization, as kustomize requires.
func (f *kustomization) file(field, value string) (string, []byte, error) {
	name, err := f.local(field, value)
	if err != nil {
		return "", nil, err
	}
	if f.check.files.IsDir(name) {
		return "", nil, f.refuse(field, value, "is a directory")
	}
	if f.dir != "" && !strings.HasPrefix(name, f.dir+"/") {
		return "", nil, f.refuse(field, value, "is outside of the directory of the kustomization, which kustomize does not allow; use a base instead")
	}
	data, err := f.check.read(name)
	return name, data, err
}

// parsed returns the content of a YAML file that kustomize parses, after checking it.
func (f *kustomization) parsed(field, value string) ([]byte, error) {
	name, data, err := f.file(field, value)
	if err != nil {
		return nil, err
	}
	_, err = f.check.nodes(name, data)
	return data, err
}

// object checks and counts the objects of a file.
func (f *kustomization) object(field, value string) error {
	name, data, err := f.file(field, value)
	if err != nil {
		return err
	}
	nodes, err := f.check.nodes(name, data)
	if err != nil {
		return err
	}
	f.check.text = append(f.check.text, data...)
	for _, n := range nodes {
		if err := f.check.count(n.kind, len(n.json)); err != nil {
			return err
		}
		f.check.named(n.kind, n.name, f.renames)
	}
	return nil
}

// count counts an object.
func (c *check) count(kind string, size int) error {
	c.objects++
	c.counts[kind]++
	c.sizes[kind] = max(c.sizes[kind], size)
	c.largest = max(c.largest, size)
	if c.objects > maxObjects {
		return errors.Errorf("more than %d objects", maxObjects)
	}
	return nil
}
