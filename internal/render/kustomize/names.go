// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

/*
Kustomize ends the process if a reference matches two objects and one of them
cannot be printed in the error message (nameref: MustYaml). The check refuses files
with objects that cannot be printed. A replacement can create such an object, if it
writes text in place of a number. So with replacements, no two objects of one kind
may ever have had the same name; and if names are not known in advance,
replacements are not allowed.
*/

// An objectName identifies the target of a reference. It has no namespace, because objects may refer across
// namespaces.
type objectName struct{ kind, name string }

// A rename is the change of a kustomization to the names of its objects.
type rename struct{ prefix, suffix string }

// named counts the names that an object has during the build.
func (c *check) named(kind, name string, renames []rename) {
	names := map[string]bool{name: true}
	for _, r := range renames {
		name = r.prefix + name
		names[name] = true
		name += r.suffix
		names[name] = true
	}
	for n := range names {
		c.names[objectName{kind, n}]++
	}
}

// renamed records that a field renames objects in a way that the check does not track.
func (f *kustomization) renamed(field string) {
	if f.check.renames == "" {
		f.check.renames = f.name + ": " + field
	}
}

// configuration records a rename if a transformer configuration may change which fields are names.
func (f *kustomization) configuration(field string, data []byte) {
	lower := bytes.ToLower(data)
	// Escapes may be part of a name.
	if bytes.ContainsAny(lower, "\\") || bytes.Contains(lower, []byte("prefix")) || bytes.Contains(lower, []byte("suffix")) {
		f.renamed(field)
	}
}

// component records a rename if a component renames objects of the kustomizations that use it.
func (f *kustomization) component(k *types.Kustomization) error {
	if k.Kind == types.ComponentKind && k.NamePrefix+k.NameSuffix != "" {
		f.renamed("namePrefix or nameSuffix of a component")
	}
	return nil
}

// writesName reports whether a replacement may change the name of an object.
func writesName(p string) bool {
	e := elements(p)
	if len(e) == 0 || e[0] != "metadata" && !wild(e[0]) {
		return len(e) == 0
	}
	return len(e) == 1 || e[1] == "name" || wild(e[1])
}

// unambiguous returns an error if replacements may cause ambiguous references.
func (c *check) unambiguous() error {
	if len(c.replacements) == 0 {
		return nil
	}
	if c.renames != "" {
		return errors.Errorf("%s cannot be combined with replacements, because a reference could become ambiguous", c.renames)
	}
	twice := slices.SortedFunc(maps.Keys(c.names), func(a, b objectName) int {
		return strings.Compare(a.kind+"/"+a.name, b.kind+"/"+b.name)
	})
	twice = slices.DeleteFunc(twice, func(n objectName) bool { return c.names[n] < 2 })
	if len(twice) == 0 {
		return nil
	}
	return errors.Errorf("replacements are not supported if two objects have or had the same name, because references to it could be ambiguous: %s %q",
		input.Line(twice[0].kind), shorten(twice[0].name))
}
