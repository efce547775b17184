// SPDX-License-Identifier: Apache-2.0

package workflows

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rhysd/actionlint"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// writes returns the permissions to write that jobs have.
func writes() []string {
	return []string{
		"codeql.yaml/go security-events", "codeql.yaml/workflows security-events",
		"release.yaml/publish contents", "release.yaml/release id-token", "release.yaml/release packages",
	}
}

func root(t *testing.T) string {
	t.Helper()
	out, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// ours returns this repository, and its workflows and actions by path.
func ours(t *testing.T) (repository, map[string]document) {
	t.Helper()
	dir := root(t)
	r := repository{targets: targetsOf(read(t, dir, "Makefile")), writes: writes(), exists: func(path string) bool {
		_, err := os.Stat(filepath.Join(dir, path, "action.yaml"))
		return err == nil
	}}
	all := map[string]document{}
	for _, pattern := range []string{"workflows/*", "actions/*/*"} {
		files, err := filepath.Glob(filepath.Join(dir, ".github", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf(".github/%s: no files, %v", pattern, err)
		}
		for _, file := range files {
			d, err := parse(read(t, file))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all[file] = d
		}
	}
	return r, all
}

func TestWorkflows(t *testing.T) {
	r, all := ours(t)
	project, err := actionlint.NewProject(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for file, d := range all {
		name := filepath.Base(file)
		for _, why := range r.breaches(name, d) {
			t.Errorf("%s: %s", name, why)
		}
		if d.Jobs == nil {
			continue
		}
		found, err := lint(file, d.text, project)
		if err != nil {
			t.Fatal(err)
		}
		for _, why := range found {
			t.Errorf("%s: %s", name, why)
		}
	}
}

// TestPermissions checks that the list of permissions contains no permission that a job no longer has.
func TestPermissions(t *testing.T) {
	_, all := ours(t)
	var got []string
	for file, d := range all {
		for name, j := range d.Jobs {
			scopes, _ := j.Permissions.(map[string]any)
			for scope, access := range scopes {
				if access == "write" {
					got = append(got, filepath.Base(file)+"/"+name+" "+scope)
				}
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(writes(), got); diff != "" {
		t.Errorf("permissions: -want as in writes, +got:\n%s", diff)
	}
}

// TestOneVersion checks that all workflows use the same version of an action.
func TestOneVersion(t *testing.T) {
	_, all := ours(t)
	versions := map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(all)) {
		for _, m := range uses.FindAllStringSubmatch(all[file].text, -1) {
			path, commit, _ := strings.Cut(m[1], "@")
			parts := strings.SplitN(path, "/", 3)
			if len(parts) < 2 || parts[0] == "." {
				continue
			}
			name, got := parts[0]+"/"+parts[1], commit+" # "+m[2]
			if want, ok := versions[name]; ok && want != got {
				t.Errorf("%s: %s is at %s, and at %s in other workflows", filepath.Base(file), name, got, want)
			}
			versions[name] = got
		}
	}
}

// TestToolchain checks that all workflows use the toolchain in go.mod, with which a release can be built again. See cluster/release.
func TestToolchain(t *testing.T) {
	_, all := ours(t)
	found := 0
	for file, d := range all {
		installs, files := strings.Count(d.text, "uses: actions/setup-go@"), strings.Count(d.text, "go-version-file: go.mod\n")
		if installs != files || strings.Contains(d.text, "go-version:") {
			t.Errorf("%s: want go-version-file: go.mod for each of %d uses of setup-go, got %d", filepath.Base(file), installs, files)
		}
		found += installs
	}
	if found == 0 {
		t.Error("no workflow installs Go, so the test proves nothing")
	}
}

// TestEverythingRuns checks that all tests of the local continuous integration run in the hosted one too.
func TestEverythingRuns(t *testing.T) {
	_, all := ours(t)
	var run []string
	for _, d := range all {
		run = append(run, d.commands()...)
	}
	line := regexp.MustCompile(`(?m)^test: ([a-z0-9 -]+?) ##`).FindStringSubmatch(read(t, root(t), "Makefile"))
	if line == nil {
		t.Fatal("the Makefile has no target test")
	}
	for _, name := range append(strings.Fields(line[1]), "lint", "check-diff", "vulncheck") {
		if !slices.Contains(run, "make "+name) {
			t.Errorf("no workflow runs make %s", name)
		}
	}
}

// workflow returns a workflow that follows all rules, with replacements.
func workflow(replacements ...string) string {
	return strings.NewReplacer(replacements...).Replace(`# SPDX-License-Identifier: Apache-2.0
name: Example
on:
  push:
permissions:
  contents: read
jobs:
  example:
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    strategy:
      matrix:
        suite: [test, lint]
    steps:
    - uses: actions/checkout@0123456789012345678901234567890123456789 # v1.2.3
      with: {persist-credentials: false}
    - uses: ./local
    - run: make build N=1
    - run: make ${{ matrix.suite }}
`)
}

func TestBreaches(t *testing.T) {
	r := repository{
		targets: targetsOf("X := 1\nbuild: x ## Builds.\ntest:\nlint: build\n\techo no:\n"), writes: []string{"x.yaml/example packages"},
		exists: func(path string) bool { return path == "./local" },
	}
	const commit = "actions/checkout@0123456789012345678901234567890123456789"
	const job = "    runs-on: ubuntu-24.04\n"
	cases := map[string]struct {
		reason string
		change []string
		want   []string
	}{
		"Fine":           {reason: "The example follows all rules."},
		"NoLicense":      {reason: "Each file starts with the license.", change: []string{"# SPDX-License-Identifier: Apache-2.0\n", ""}, want: []string{"it does not start with the license"}},
		"Tag":            {reason: "The owner of an action can move a tag.", change: []string{commit, "actions/checkout@v1.2.3"}, want: []string{"actions/checkout@v1.2.3 is not pinned by the 40 digits of a commit"}},
		"Short":          {reason: "A short commit can become ambiguous.", change: []string{commit, "actions/checkout@0123456"}, want: []string{"actions/checkout@0123456 is not pinned by the 40 digits of a commit"}},
		"NoVersion":      {reason: "A person must see which version a commit is.", change: []string{" # v1.2.3", ""}, want: []string{commit + " has no comment with its version, such as # v1.2.3"}},
		"MajorVersion":   {reason: "Renovate must know the exact version.", change: []string{" # v1.2.3", " # v1"}, want: []string{commit + " has no comment with its version, such as # v1.2.3"}},
		"Hidden":         {reason: "An action that the pattern does not find is not checked.", change: []string{"- uses: ./local", "- {uses: ./local}"}, want: []string{"1 of 2 actions are on a line of their own"}},
		"NoAction":       {reason: "A local action must exist.", change: []string{"./local", "./other"}, want: []string{"./other does not exist"}},
		"NoPermissions":  {reason: "By default, a token may have all permissions.", change: []string{"permissions:\n  contents: read\n", ""}, want: []string{"the permissions of the workflow must be those that all jobs need, such as contents: read"}},
		"AllPermissions": {reason: "A workflow does not need everything.", change: []string{"permissions:\n  contents: read\n", "permissions: write-all\n"}, want: []string{"the permissions of the workflow must be those that all jobs need, such as contents: read"}},
		"Write":          {reason: "Only the job that writes may write.", change: []string{"contents: read", "contents: write"}, want: []string{"only the jobs that need it may have the permission contents: write"}},
		"JobWrite":       {reason: "A permission of a job is reviewed.", change: []string{job, job + "    permissions: {packages: write, id-token: write}\n"}, want: []string{"job example: the permission id-token: write is not in the list of this test"}},
		"JobAll":         {reason: "A job does not need everything.", change: []string{job, job + "    permissions: write-all\n"}, want: []string{"job example: the permissions write-all are too many"}},
		"NoTimeout":      {reason: "A job that hangs must end.", change: []string{"    timeout-minutes: 10\n", ""}, want: []string{"job example: it needs timeout-minutes of at most 120"}},
		"LongTimeout":    {reason: "A job that hangs must end soon.", change: []string{"minutes: 10\n", "minutes: 360\n"}, want: []string{"job example: it needs timeout-minutes of at most 120"}},
		"NoTarget":       {reason: "A target must exist.", change: []string{"make build", "make biuld"}, want: []string{`job example: "make biuld N=1": the Makefile has no target biuld`}},
		"NoTargetMatrix": {reason: "Targets of a matrix must exist.", change: []string{"[test, lint]", "[test, tset]"}, want: []string{`job example: "make tset": the Makefile has no target tset`}},
		"Command":        {reason: "A person could not run the same.", change: []string{"make build N=1", "go build ./..."}, want: []string{`job example: "go build ./..." is not a make target`}},
		"Second":         {reason: "Each command is checked.", change: []string{"make build N=1", "|\n        make build\n        curl example.org"}, want: []string{`job example: "curl example.org" is not a make target`}},
		"Joined":         {reason: "Commands cannot be joined.", change: []string{"make build N=1", "make build && ls"}, want: []string{`job example: "make build && ls": the Makefile has no target &&`}},
		"Expression":     {reason: "The name of a branch can contain commands.", change: []string{"N=1", "N=${{ github.ref }}"}, want: []string{`job example: "make build N=${{ github.ref }}" contains an expression, which could contain commands: use env`}},
		"Credentials":    {reason: "Later steps must not find the token.", change: []string{"persist-credentials: false", "fetch-depth: 0"}, want: []string{"job example: actions/checkout must not leave the token in the clone: set persist-credentials: false"}},
		"Target":         {reason: "Code of a pull request must not have permissions.", change: []string{"  push:", "  pull_request_target:"}, want: []string{"pull_request_target runs the code of a pull request with the permissions of main"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, err := parse(workflow(tc.change...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, r.breaches("x.yaml", d)); diff != "" {
				t.Errorf("\n%s\nbreaches(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAction checks that the steps of composite actions follow the rules too.
func TestAction(t *testing.T) {
	const action = "# SPDX-License-Identifier: Apache-2.0\nruns:\n  using: composite\n  steps:\n  - uses: a/b@main\n  - run: curl example.org\n    shell: bash\n"
	d, err := parse(action)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a/b@main is not pinned by the 40 digits of a commit", `"curl example.org" is not a make target`}
	if diff := cmp.Diff(want, repository{}.breaches("action.yaml", d)); diff != "" {
		t.Errorf("breaches(...): -want, +got:\n%s", diff)
	}
}

// TestLint checks that actionlint runs, with examples of what only it finds.
func TestLint(t *testing.T) {
	cases := map[string]struct {
		reason string
		change []string
		want   string
	}{
		"Fine":    {reason: "The example has no mistakes.", change: []string{"    - uses: ./local\n", ""}},
		"Key":     {reason: "Keys that don't exist are found.", change: []string{"    - uses: ./local\n", "", "timeout-minutes", "timeout"}, want: "unexpected key \"timeout\""},
		"Context": {reason: "Values that don't exist are found.", change: []string{"    - uses: ./local\n", "", "matrix.suite", "matrix.suites"}, want: "property \"suites\" is not defined"},
		"Runner":  {reason: "Runners that don't exist are found.", change: []string{"    - uses: ./local\n", "", "ubuntu-24.04", "ubuntu-1.0"}, want: "label \"ubuntu-1.0\" is unknown"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := lint("<stdin>", workflow(tc.change...), nil)
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(got, "\n"); (tc.want == "") != (all == "") || !strings.Contains(all, tc.want) {
				t.Errorf("%s\nlint(...): want %q, got %q", tc.reason, tc.want, all)
			}
		})
	}
}
