// SPDX-License-Identifier: Apache-2.0

package workflows

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// A form is a form for issues. The hosting platform ignores one that is not valid.
type form struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Labels      []string `json:"labels"`
	Body        []struct {
		Type       string `json:"type"`
		ID         string `json:"id"`
		Attributes struct {
			Label       string `json:"label"`
			Description string `json:"description"`
			Value       string `json:"value"`
			Render      string `json:"render"`
		} `json:"attributes"`
		Validations struct {
			Required bool `json:"required"`
		} `json:"validations"`
	} `json:"body"`
}

// invalid returns what is wrong with a form. Unknown keys are errors.
func invalid(text string) []string {
	var f form
	if err := yaml.UnmarshalStrict([]byte(text), &f); err != nil {
		return []string{err.Error()}
	}
	var out, ids []string
	if f.Name == "" || f.Description == "" || len(f.Body) == 0 {
		out = append(out, "it needs a name, a description and a body")
	}
	required := false
	for i, e := range f.Body {
		required = required || e.Validations.Required
		switch {
		case e.Type == "markdown" && e.Attributes.Value == "":
			out = append(out, fmt.Sprintf("element %d has no text", i))
		case e.Type == "markdown":
		case !slices.Contains([]string{"textarea", "input"}, e.Type):
			out = append(out, fmt.Sprintf("element %d has the unknown type %q", i, e.Type))
		case e.ID == "" || e.Attributes.Label == "":
			out = append(out, fmt.Sprintf("element %d needs an id and a label", i))
		case slices.Contains(ids, e.ID):
			out = append(out, fmt.Sprintf("element %d has the id of another one", i))
		}
		ids = append(ids, e.ID)
	}
	if !required {
		out = append(out, "no element is required")
	}
	return out
}

func TestForms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root(t), ".github", "ISSUE_TEMPLATE", "*.yaml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("want at least two forms, got %v, %v", files, err)
	}
	for _, file := range files {
		for _, why := range invalid(read(t, file)) {
			t.Errorf("%s: %s", filepath.Base(file), why)
		}
	}
}

func TestInvalidForms(t *testing.T) {
	const fine = "name: a\ndescription: b\nbody:\n- type: input\n  id: x\n  attributes: {label: X}\n  validations: {required: true}\n"
	cases := map[string]struct {
		reason string
		form   string
		want   []string
	}{
		"Fine":     {reason: "A form with one field is valid.", form: fine},
		"NoName":   {reason: "A form must have a name.", form: strings.TrimPrefix(fine, "name: a\n"), want: []string{"it needs a name, a description and a body"}},
		"Type":     {reason: "Only known types are shown.", form: strings.Replace(fine, "input", "inputs", 1), want: []string{`element 0 has the unknown type "inputs"`}},
		"NoID":     {reason: "Answers are identified by their field.", form: strings.Replace(fine, "  id: x\n", "", 1), want: []string{"element 0 needs an id and a label"}},
		"Twice":    {reason: "The id must be unique.", form: fine + "- type: textarea\n  id: x\n  attributes: {label: Y}\n", want: []string{"element 1 has the id of another one"}},
		"Empty":    {reason: "Without a required field, issues can be empty.", form: strings.Replace(fine, "true", "false", 1), want: []string{"no element is required"}},
		"Markdown": {reason: "Text must not be empty.", form: fine + "- type: markdown\n", want: []string{"element 1 has no text"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, invalid(tc.form)); diff != "" {
				t.Errorf("\n%s\ninvalid(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOwners checks that code is owned by teams that OWNERS.md describes.
func TestOwners(t *testing.T) {
	owners := read(t, root(t), "OWNERS.md")
	team := regexp.MustCompile(`^@[a-z0-9-]+/[a-z0-9-]+$`)
	everything := false
	for line := range strings.Lines(read(t, root(t), ".github", "CODEOWNERS")) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		everything = everything || words[0] == "*" && len(words) > 1
		for _, name := range words[1:] {
			if !team.MatchString(name) {
				t.Errorf("CODEOWNERS: %s is not a team", name)
			}
			if !strings.Contains(owners, "`"+name+"`") {
				t.Errorf("OWNERS.md does not describe %s", name)
			}
		}
	}
	if !everything {
		t.Error("CODEOWNERS: want an owner of all files, *")
	}
}

// TestRenovate checks that the rules of Renovate name files that exist, and that those for shared libraries have the modules that
// share them.
func TestRenovate(t *testing.T) {
	var config struct {
		PackageRules []struct {
			Description    string   `json:"description"`
			MatchFileNames []string `json:"matchFileNames"`
		} `json:"packageRules"`
	}
	if err := json.Unmarshal([]byte(read(t, root(t), ".github", "renovate.json")), &config); err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, rule := range config.PackageRules {
		if rule.Description == "" {
			t.Error("a rule has no description")
		}
		for _, file := range rule.MatchFileNames {
			named[file] = true
			if _, err := os.Stat(filepath.Join(root(t), file)); err != nil {
				t.Errorf("rule %q: %v", rule.Description, err)
			}
		}
	}
	modules, err := filepath.Glob(filepath.Join(root(t), "cluster", "tools", "*", "go.mod"))
	if err != nil || len(modules) == 0 {
		t.Fatal("no modules of tools", err)
	}
	for _, file := range modules {
		rel, err := filepath.Rel(root(t), file)
		if err != nil {
			t.Fatal(err)
		}
		if !named[filepath.ToSlash(rel)] {
			t.Errorf("no rule names %s", rel)
		}
	}
}
