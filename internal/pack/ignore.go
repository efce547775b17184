// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"io/fs"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	ignoreFile = ".helmignore"
	// maxIgnore bounds the .helmignore file, in bytes.
	maxIgnore = 64 << 10
)

// A rule is a line of a .helmignore, whose syntax is similar to a .gitignore.
type rule struct {
	pattern     string // In the syntax of path.Match.
	directories bool   // It applies only to directories.
	whole       bool   // It applies to the whole path rather than its last element.
	negated     bool   // It ignores everything that it does not match.
}

type rules []rule

// readIgnore reads the rules of a chart. They begin with those that Helm always applies.
func readIgnore(fsys fs.FS, dir string) (rules, error) {
	out := rules{{pattern: "templates/.?*", whole: true}}
	name := path.Join(dir, ignoreFile)
	if _, err := fs.Stat(fsys, name); errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	data, err := ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	if len(data) > maxIgnore {
		return nil, errors.Errorf("%s: file is larger than the limit of %d bytes", name, maxIgnore)
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r, err := parseRule(line)
		if err != nil {
			return nil, errors.Wrap(err, name)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseRule(line string) (rule, error) {
	if strings.Contains(line, "**") {
		return rule{}, errors.Errorf("pattern %q: ** is not supported by Helm", line)
	}
	var r rule
	text, negated := strings.CutPrefix(line, "!")
	text, r.directories = strings.CutSuffix(text, "/")
	text, rooted := strings.CutPrefix(text, "/")
	r.pattern, r.negated, r.whole = text, negated, rooted || strings.Contains(text, "/")
	if _, err := path.Match(r.pattern, "x"); err != nil || text == "" {
		return rule{}, errors.Errorf("invalid pattern %q", line)
	}
	return r, nil
}

// match reports whether a path, relative to the chart, is ignored, which is the case if any rule ignores it.
func (rs rules) match(name string, directory bool) bool {
	for _, r := range rs {
		if r.ignores(name, directory) {
			return true
		}
	}
	return false
}

func (r rule) ignores(name string, directory bool) bool {
	subject := name
	if !r.whole {
		subject = path.Base(name)
	}
	// parseRule has checked the pattern.
	matches, _ := path.Match(r.pattern, subject)
	matches = matches && (directory || !r.directories)
	return matches != r.negated
}
