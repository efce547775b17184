// SPDX-License-Identifier: Apache-2.0

package notes

import (
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const unreleased = "Unreleased"

// heading matches the heading of a version, such as "## [1.2.3] - 2026-01-02".
var heading = regexp.MustCompile(`^## \[?v?([^\]\s]+)\]?(\s|$)`)

// link matches the target of a link.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Of returns the section of a version, or of the changes that are not released yet if the version has none. It fails if both are
// empty. Links to files of the repository become links to base, because the notes are shown in another place.
func Of(changelog, version, base string) (string, error) {
	sections := split(changelog)
	text := sections[strings.TrimPrefix(version, "v")]
	if text == "" {
		text = sections[unreleased]
	}
	if text == "" {
		return "", errors.Errorf("CHANGELOG.md has no changes for %s, and none below [%s]: add what changed", version, unreleased)
	}
	absolute := link.ReplaceAllStringFunc(text, func(found string) string {
		target := link.FindStringSubmatch(found)[1]
		if strings.Contains(target, "://") || strings.HasPrefix(target, "#") {
			return found
		}
		return "](" + base + "/" + target + ")"
	})
	return absolute + "\n", nil
}

// split returns the text of each section, without space around it, by its version. A section without a list is empty.
func split(changelog string) map[string]string {
	out := map[string]string{}
	version := ""
	lines := map[string][]string{}
	for line := range strings.Lines(changelog) {
		if m := heading.FindStringSubmatch(line); m != nil {
			version = m[1]
			continue
		}
		lines[version] = append(lines[version], line)
	}
	delete(lines, "")
	for v, l := range lines {
		text := strings.TrimSpace(strings.Join(l, ""))
		if strings.Contains("\n"+text, "\n- ") {
			out[v] = text
		}
	}
	return out
}
