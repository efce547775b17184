// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	licenseclassifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// maxRemainder is the number of words that a license file can contain besides licenses and copyright notices, such as a title.
const maxRemainder = 40

var (
	licenseFile = regexp.MustCompile(`(?i)^(un)?licen[cs]es?\b|^licen[cs]e[-_.]|^copying\b`)
	sourceFile  = regexp.MustCompile(`(?i)\.(go|s|c|h|py|sh|json|ya?ml|tmpl|tpl|html)$`)
	copyright   = regexp.MustCompile(`(?i)^\W*(copyright\b|\(c\)|©|all rights reserved\W*$)`)
)

// A licensing is what the license files of a module contain.
type licensing struct {
	// licenses are SPDX identifiers, sorted.
	licenses []string
	// unknown contains the other text of files that contain more than known licenses, by their path in the module.
	unknown map[string]string
}

// String returns the licenses, joined as in an SPDX expression.
func (l licensing) String() string {
	if len(l.licenses) == 0 {
		return "none"
	}
	return strings.Join(l.licenses, " AND ")
}

// A classifier recognises licenses.
type classifier struct{ corpus *licenseclassifier.Classifier }

func newClassifier() (*classifier, error) {
	corpus, err := assets.DefaultClassifier()
	return &classifier{corpus: corpus}, errors.Wrap(err, "cannot read the texts of licenses")
}

// read reads the license files of a module that apply to its packages.
func (c *classifier) read(m module) (licensing, error) {
	files, err := licenseFiles(m)
	if err != nil {
		return licensing{}, err
	}
	out := licensing{unknown: map[string]string{}}
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // The file is in the module cache.
		if err != nil {
			return licensing{}, errors.Wrap(err, "cannot read a license")
		}
		licenses, remainder := c.classify(string(data))
		out.licenses = append(out.licenses, licenses...)
		if len(licenses) == 0 || len(strings.Fields(remainder)) > maxRemainder {
			out.unknown[filepath.ToSlash(strings.TrimPrefix(file, m.root+string(filepath.Separator)))] = remainder
		}
	}
	slices.Sort(out.licenses)
	out.licenses = slices.Compact(out.licenses)
	return out, nil
}

// licenseFiles returns the license files in the directories of the linked packages, and in the directories above them in the
// module, sorted.
func licenseFiles(m module) ([]string, error) {
	seen := map[string]bool{}
	var out []string
	for _, dir := range m.packages {
		for ; !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			entries, err := os.ReadDir(dir)
			if err != nil {
				return nil, errors.Wrap(err, "cannot read a module")
			}
			for _, e := range entries {
				if isLicense(e) {
					out = append(out, filepath.Join(dir, e.Name()))
				}
			}
			if dir == m.root {
				break
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

func isLicense(e fs.DirEntry) bool {
	return e.Type().IsRegular() && licenseFile.MatchString(e.Name()) && !sourceFile.MatchString(e.Name())
}

// classify returns the SPDX identifiers of the licenses in a text, and the text that is neither part of a license nor a copyright
// notice.
func (c *classifier) classify(text string) (licenses []string, remainder string) {
	lines := strings.Split(text, "\n")
	for _, m := range c.corpus.Match([]byte(text)).Matches {
		if m.MatchType != "License" && m.MatchType != "Header" {
			continue
		}
		licenses = append(licenses, m.Name)
		for i := m.StartLine - 1; i < m.EndLine && i < len(lines); i++ {
			lines[i] = ""
		}
	}
	lines = slices.DeleteFunc(lines, copyright.MatchString)
	return licenses, strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}
