// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"fmt"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// A check reads all kustomizations before kustomize does, because kustomize would fetch anything that resembles a URL.
type check struct {
	files *fileSystem
	// open has the directories whose kustomizations were checked. The value is true while one is being checked.
	open map[string]bool
}

// A kustomization is the kustomization of a directory during the check. Its errors name the file, the field and the
// value.
type kustomization struct {
	check *check
	name  string // Name of the file.
	dir   string // Directory of the file, without a leading slash.
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

// enter checks the kustomization of a directory.
func (c *check) enter(dir string) error {
	c.open[dir] = true
	defer func() { c.open[dir] = false }()
	name, err := c.kustomization(dir)
	if err != nil {
		return err
	}
	data, err := c.files.ReadFile(name)
	if err != nil {
		return errors.Wrap(err, "cannot build the kustomization")
	}
	var k types.Kustomization
	if err := k.Unmarshal(data); err != nil {
		return errors.Errorf("%s: %s", name, input.Line(err.Error()))
	}
	k.FixKustomization()
	f := &kustomization{check: c, name: name, dir: dir}
	for _, look := range []func(*types.Kustomization) error{f.unsupported, f.operands, f.generators, f.patches, f.plugins} {
		if err := look(&k); err != nil {
			return err
		}
	}
	return nil
}

// kustomization returns the name of the kustomization file of a directory, which has one of three names.
func (c *check) kustomization(dir string) (string, error) {
	var found []string
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		if name := path.Join(dir, base); c.files.content["/"+name] != nil {
			found = append(found, name)
		}
	}
	switch {
	case len(found) == 0:
		return "", errors.Errorf("directory %q has no kustomization.yaml", dir)
	case len(found) > 1:
		return "", errors.Errorf("both %s and %s exist", found[0], found[1])
	}
	return found[0], nil
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
		if err := f.resource(fmt.Sprintf("resources[%d]", i), p); err != nil {
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
	return f.filesOf("crds", k.Crds)
}

// resource checks a resource, which is a file or another kustomization.
func (f *kustomization) resource(field, value string) error {
	name, err := f.local(field, value)
	if err != nil {
		return err
	}
	if f.check.files.IsDir(name) {
		return f.enter(field, value, name)
	}
	_, err = f.file(field, value)
	return err
}

// enter checks another kustomization that this one refers to.
func (f *kustomization) enter(field, value, dir string) error {
	open, seen := f.check.open[dir]
	if open {
		return f.refuse(field, value, "refers to a kustomization that includes this one")
	}
	if seen {
		return nil
	}
	return f.check.enter(dir)
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

// file returns the name of a file in or below the directory of the kustomization, as kustomize requires.
func (f *kustomization) file(field, value string) (string, error) {
	name, err := f.local(field, value)
	if err != nil {
		return "", err
	}
	if f.check.files.IsDir(name) {
		return "", f.refuse(field, value, "is a directory")
	}
	if f.dir != "" && !strings.HasPrefix(name, f.dir+"/") {
		return "", f.refuse(field, value, "is outside of the directory of the kustomization, which kustomize does not allow; use a base instead")
	}
	return name, nil
}

// filesOf checks the files of a list.
func (f *kustomization) filesOf(field string, values []string) error {
	for i, p := range values {
		if _, err := f.file(fmt.Sprintf("%s[%d]", field, i), p); err != nil {
			return err
		}
	}
	return nil
}
