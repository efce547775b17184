// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// allowed returns the SPDX identifiers of the licenses that any linked module can have.
func allowed() []string {
	return []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}
}

// An exception is what a person found out about the licenses of a module.
type exception struct {
	// licenses are exactly those that the module must have.
	licenses []string
	// reviewed contains the digests of text that a person read, by the path of its file in the module.
	reviewed map[string]string
	reason   string
}

// exceptions returns the modules that have other licenses, or other text in their license files.
func exceptions() map[string]exception {
	return map[string]exception{
		"github.com/cyphar/filepath-securejoin": {
			licenses: []string{"BSD-3-Clause", "MPL-2.0"}, reviewed: map[string]string{"COPYING.md": "4abaf3cb0b4ac5d5"},
			reason: "It is used without changes, as the MPL requires. The text says that each file names its license.",
		},
		"github.com/gardener/component-spec/bindings-go": {
			reason: "The license, Apache-2.0, is in the root of the repository, of which the module is a subdirectory.",
		},
		"github.com/opencontainers/go-digest": {
			licenses: []string{"Apache-2.0", "CC-BY-SA-4.0"}, reviewed: map[string]string{"LICENSE.docs": "9746cca0f146a457"},
			reason: "CC-BY-SA-4.0 is for the documentation, which is not linked.",
		},
		"go.yaml.in/yaml/v3": {
			licenses: []string{"Apache-2.0", "MIT"}, reviewed: map[string]string{"LICENSE": "f641b4162c875471"},
			reason: "The text says which files have which license.",
		},
		"sigs.k8s.io/yaml": {
			licenses: []string{"Apache-2.0", "BSD-3-Clause", "MIT"}, reviewed: map[string]string{"LICENSE": "c6f92d83e5a43a31"},
			reason: "The text says which files have which license.",
		},
	}
}

// faults returns a sorted list of the modules that cannot be distributed, with the reasons, and of unused exceptions.
func faults(found map[string]licensing, known map[string]exception) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(found)) {
		l := found[path]
		if e, ok := known[path]; ok {
			out = append(out, e.faults(path, l)...)
			continue
		}
		if why := forbidden(l); why != "" {
			out = append(out, path+": "+why)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(known)) {
		if _, ok := found[path]; !ok {
			out = append(out, path+": it is not linked: remove it from exceptions")
		}
	}
	return out
}

// faults returns how the licenses of a module differ from the exception.
func (e exception) faults(path string, l licensing) []string {
	if forbidden(l) == "" {
		return []string{path + ": its licenses are allowed: remove it from exceptions"}
	}
	var out []string
	if !slices.Equal(e.licenses, l.licenses) {
		out = append(out, fmt.Sprintf("%s: its licenses are %s, want %s as in exceptions", path, l, licensing{licenses: e.licenses}))
	}
	for _, file := range slices.Sorted(maps.Keys(l.unknown)) {
		if got := digest(l.unknown[file]); got != e.reviewed[file] {
			out = append(out, fmt.Sprintf("%s: %s contains text that was not reviewed, with the digest %s: %s", path, file, got, shorten(l.unknown[file])))
		}
	}
	for _, file := range slices.Sorted(maps.Keys(e.reviewed)) {
		if _, ok := l.unknown[file]; !ok {
			out = append(out, fmt.Sprintf("%s: %s contains no text to review: remove it from exceptions", path, file))
		}
	}
	return out
}

// forbidden returns why a module with these licenses cannot be distributed, or an empty string.
func forbidden(l licensing) string {
	for _, file := range slices.Sorted(maps.Keys(l.unknown)) {
		return fmt.Sprintf("%s is not a known license: %s", file, shorten(l.unknown[file]))
	}
	if len(l.licenses) == 0 {
		return "the module has no license file"
	}
	for _, name := range l.licenses {
		if !slices.Contains(allowed(), name) {
			return "the license " + name + " is not allowed"
		}
	}
	return ""
}

// digest identifies a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// shorten returns the beginning of a text.
func shorten(text string) string {
	const most = 100
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
