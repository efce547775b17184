// SPDX-License-Identifier: Apache-2.0

package workflows

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rhysd/actionlint"
	"sigs.k8s.io/yaml"
)

var (
	uses     = regexp.MustCompile(`(?m)^[ -]*uses:[ ]*([^#\n]*?)[ ]*(?:#[ ]*(.*))?$`)
	pinned   = regexp.MustCompile(`^[\w.-]+/[\w.-]+(?:/[\w.-]+)*@[0-9a-f]{40}$`)
	version  = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)
	target   = regexp.MustCompile(`(?m)^([a-z0-9-]+):(?:[^=]|$)`)
	matrix   = regexp.MustCompile(`\$\{\{ matrix\.(\w+) \}\}`)
	variable = regexp.MustCompile(`^[A-Z]+=\S+$`)
)

// A step is a step of a job or of an action.
type step struct {
	Uses string            `json:"uses"`
	Run  string            `json:"run"`
	With map[string]string `json:"with"`
}

type job struct {
	Uses        string `json:"uses"`
	Permissions any    `json:"permissions"`
	Timeout     any    `json:"timeout-minutes"`
	Steps       []step `json:"steps"`
	Strategy    struct{ Matrix map[string][]string }
}

// A document is what the rules read of a workflow, or of a composite action, which has no jobs.
type document struct {
	text        string
	Permissions any            `json:"permissions"`
	Jobs        map[string]job `json:"jobs"`
	Runs        struct {
		Steps []step `json:"steps"`
	} `json:"runs"`
}

// parse reads a workflow or an action.
func parse(text string) (document, error) {
	out := document{text: text}
	return out, yaml.Unmarshal([]byte(text), &out)
}

// A repository is what workflows can refer to.
type repository struct {
	// targets are those of the Makefile.
	targets []string
	// writes lists the permissions to write that a job has, as "file/job scope".
	writes []string
	// exists reports whether there is a local action.
	exists func(path string) bool
}

// targetsOf returns the targets of a Makefile.
func targetsOf(makefile string) []string {
	var out []string
	for _, m := range target.FindAllStringSubmatch(makefile, -1) {
		out = append(out, m[1])
	}
	return out
}

// lint returns what actionlint reports. It does not run other programs. For an example, project is nil.
func lint(path, text string, project *actionlint.Project) ([]string, error) {
	l, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		return nil, err
	}
	all, err := l.Lint(path, []byte(text), project)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range all {
		out = append(out, fmt.Sprintf("line %d: %s [%s]", e.Line, e.Message, e.Kind))
	}
	return out, nil
}

// breaches returns how a workflow or an action breaks the rules of this repository.
func (r repository) breaches(file string, d document) []string {
	out := r.unpinned(d)
	if !strings.HasPrefix(d.text, "# SPDX-License-Identifier: Apache-2.0\n") {
		out = append(out, "it does not start with the license")
	}
	if strings.Contains(d.text, "pull_request_target") {
		out = append(out, "pull_request_target runs the code of a pull request with the permissions of main")
	}
	if d.Jobs != nil {
		out = append(out, readOnly(d.Permissions)...)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Jobs)) {
		j := d.Jobs[name]
		for _, why := range slices.Concat(r.excessive(file+"/"+name, j), unlimited(j), r.steps(j.Steps, j)) {
			out = append(out, "job "+name+": "+why)
		}
	}
	return append(out, r.steps(d.Runs.Steps, job{})...)
}

// unpinned returns the actions that are not pinned by the digest of a commit, with its version as a comment.
func (r repository) unpinned(d document) []string {
	var out []string
	for _, m := range uses.FindAllStringSubmatch(d.text, -1) {
		action, comment := strings.Trim(m[1], `"'`), m[2]
		switch {
		case strings.HasPrefix(action, "./"):
			if !r.exists(action) {
				out = append(out, action+" does not exist")
			}
		case !pinned.MatchString(action):
			out = append(out, action+" is not pinned by the 40 digits of a commit")
		case !version.MatchString(comment):
			out = append(out, action+" has no comment with its version, such as # v1.2.3")
		}
	}
	// The pattern must find what the YAML contains.
	if found, want := len(uses.FindAllString(d.text, -1)), d.count(); found != want {
		out = append(out, fmt.Sprintf("%d of %d actions are on a line of their own", found, want))
	}
	return out
}

// count returns the number of actions and workflows that a document uses.
func (d document) count() int {
	n := 0
	steps := d.Runs.Steps
	for _, j := range d.Jobs {
		steps = append(steps, j.Steps...)
		if j.Uses != "" {
			n++
		}
	}
	for _, s := range steps {
		if s.Uses != "" {
			n++
		}
	}
	return n
}

// readOnly returns what is wrong with the permissions of a workflow, which all of its jobs have.
func readOnly(permissions any) []string {
	scopes, ok := permissions.(map[string]any)
	if !ok {
		return []string{"the permissions of the workflow must be those that all jobs need, such as contents: read"}
	}
	var out []string
	for _, scope := range slices.Sorted(maps.Keys(scopes)) {
		if scope != "contents" || scopes[scope] != "read" {
			out = append(out, fmt.Sprintf("only the jobs that need it may have the permission %s: %v", scope, scopes[scope]))
		}
	}
	return out
}

// excessive returns the permissions of a job that are not in the list.
func (r repository) excessive(name string, j job) []string {
	if j.Permissions == nil {
		return nil
	}
	scopes, ok := j.Permissions.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("the permissions %v are too many", j.Permissions)}
	}
	var out []string
	for _, scope := range slices.Sorted(maps.Keys(scopes)) {
		if scopes[scope] == "write" && !slices.Contains(r.writes, name+" "+scope) {
			out = append(out, "the permission "+scope+": write is not in the list of this test")
		}
	}
	return out
}

// unlimited returns what is wrong with the timeout of a job. By default, a job that hangs takes six hours.
func unlimited(j job) []string {
	if minutes, ok := j.Timeout.(float64); ok && minutes > 0 && minutes <= 120 || j.Uses != "" {
		return nil
	}
	return []string{"it needs timeout-minutes of at most 120"}
}

// steps returns what is wrong with steps of a job, or of an action.
func (r repository) steps(all []step, j job) []string {
	var out []string
	for _, s := range all {
		if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
			out = append(out, "actions/checkout must not leave the token in the clone: set persist-credentials: false")
		}
		if s.Run == "" {
			continue
		}
		for line := range strings.Lines(strings.TrimSpace(s.Run)) {
			for _, command := range j.expand(strings.TrimSpace(line)) {
				if why := r.foreign(command); why != "" {
					out = append(out, why)
				}
			}
		}
	}
	return out
}

// expand returns a command for each value of the matrix that it contains. Only a single variable is replaced.
func (j job) expand(command string) []string {
	m := matrix.FindStringSubmatch(command)
	if m == nil {
		return []string{command}
	}
	var out []string
	for _, value := range j.Strategy.Matrix[m[1]] {
		out = append(out, strings.ReplaceAll(command, m[0], value))
	}
	return out
}

// foreign returns why a command must not be in a workflow, or an empty string. A person can run the same make targets. What only
// the hosted repository needs is listed here.
func (r repository) foreign(command string) string {
	if command == "exit 1" || strings.HasPrefix(command, `gh release create "$VERSION" --draft `) && !strings.ContainsAny(command, ";|&<>`(") {
		return ""
	}
	words := strings.Fields(command)
	if len(words) < 2 || words[0] != "make" {
		return fmt.Sprintf("%q is not a make target", command)
	}
	if strings.Contains(command, "${{") {
		return fmt.Sprintf("%q contains an expression, which could contain commands: use env", command)
	}
	for _, w := range words[1:] {
		if !variable.MatchString(w) && !slices.Contains(r.targets, w) {
			return fmt.Sprintf("%q: the Makefile has no target %s", command, w)
		}
	}
	return ""
}

// commands returns all commands of a document, with the values of matrices.
func (d document) commands() []string {
	var out []string
	for _, j := range d.Jobs {
		for _, s := range j.Steps {
			for line := range strings.Lines(s.Run) {
				out = append(out, j.expand(strings.TrimSpace(line))...)
			}
		}
	}
	return out
}
