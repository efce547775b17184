// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

const (
	maxFileLines     = 400
	maxFunctionLines = 60
)

// A pack is the part of the output of go list for a package that the tests need.
type pack struct {
	ImportPath, Dir                              string
	GoFiles, IgnoredGoFiles                      []string
	TestGoFiles, XTestGoFiles                    []string
	Imports, TestImports, XTestImports, CgoFiles []string
}

// path returns the package's path in the module.
func (p pack) path() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func packages(t *testing.T) []pack {
	t.Helper()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	// Other checks report packages that do not compile.
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pack
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pack
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			if len(all) == 0 {
				t.Fatal("go list found no package")
			}
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// sources returns the parsed files of a package by name, without its tests.
func sources(t *testing.T, p pack) map[string]*ast.File {
	t.Helper()
	return parse(t, p, slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles))
}

// parse returns parsed files of a package by name.
func parse(t *testing.T, p pack, names []string) map[string]*ast.File {
	t.Helper()
	out := map[string]*ast.File{}
	for _, name := range names {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = parsed
	}
	return out
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range imports(sources(t, p)) {
			if why := fault(p.path(), i, false); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, i, why)
			}
		}
		for _, i := range slices.Concat(p.TestImports, p.XTestImports) {
			if why := fault(p.path(), i, true); why != "" {
				t.Errorf("a test of %s imports %s: %s", p.ImportPath, i, why)
			}
		}
		r, ok := layerOf(p.path())
		if !ok {
			t.Errorf("%s is in no layer: see layers.go", p.ImportPath)
		}
		// The layer of the engine around it may import all of them.
		if below(p.path(), "pkg/manifest/internal") && r.path != p.path() {
			t.Errorf("%s needs a layer of its own: see layers.go", p.ImportPath)
		}
	}
}

// imports returns the paths that files import, sorted. It reads the files itself, because go list omits those that a build constraint
// excludes.
func imports(files map[string]*ast.File) []string {
	found := map[string]bool{}
	for _, f := range files {
		for _, i := range f.Imports {
			found[strings.Trim(i.Path.Value, `"`)] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func TestSources(t *testing.T) {
	for _, p := range packages(t) {
		ours := slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles, p.TestGoFiles, p.XTestGoFiles)
		if len(p.GoFiles) > 0 && !slices.Contains(p.GoFiles, "doc.go") {
			t.Errorf("%s has no doc.go", p.ImportPath)
		}
		for _, name := range ours {
			for _, why := range faults(t, filepath.Join(p.Dir, name)) {
				t.Errorf("%s/%s: %s", p.path(), name, why)
			}
		}
	}
}

// faults returns what is wrong with a file, unless it is generated.
func faults(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if ast.IsGenerated(parsed) {
		return nil
	}
	return check(set, parsed, data, strings.HasSuffix(file, "_test.go"))
}

func check(set *token.FileSet, parsed *ast.File, data []byte, test bool) []string {
	var out []string
	if !bytes.HasPrefix(data, []byte("// SPDX-License-Identifier: Apache-2.0\n")) {
		out = append(out, "it does not start with the licence")
	}
	if bytes.Count(data, []byte("\n")) > maxFileLines {
		out = append(out, "it is longer than 400 lines")
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || test || f.Body == nil {
			continue
		}
		if set.Position(f.Body.Rbrace).Line-set.Position(f.Body.Lbrace).Line-1 > maxFunctionLines {
			out = append(out, "function "+f.Name.Name+" is longer than 60 lines")
		}
	}
	return out
}

// TestFault checks that violations of the rules are found.
func TestFault(t *testing.T) {
	cases := map[string]struct {
		reason   string
		from, to string
		test     bool
		want     bool
	}{
		"Lower":         {reason: "A controller may import the engine.", from: "internal/controller/manifest", to: module + "/pkg/manifest"},
		"Sibling":       {reason: "A controller knows no other one.", from: "internal/controller/kyma", to: module + "/internal/controller/manifest", want: true},
		"Shared":        {reason: "Controllers share packages.", from: "internal/controller/kyma", to: module + "/internal/controller/settings"},
		"Content":       {reason: "A connection does not know what is installed.", from: "internal/target/informer", to: module + "/internal/oci", want: true},
		"Same":          {reason: "A layer may have packages inside.", from: "internal/oci", to: module + "/internal/oci/cache"},
		"Higher":        {reason: "The engine knows no controller.", from: "pkg/manifest", to: module + "/internal/controller/manifest", want: true},
		"Beside":        {reason: "Rendering does not pull.", from: "internal/render", to: module + "/internal/oci", want: true},
		"Forbidden":     {reason: "The engine knows no custom resource of ours.", from: "pkg/manifest", to: module + "/apis/v1alpha1", want: true},
		"Unknown":       {reason: "A new layer must be given a level.", from: "pkg/manifest", to: module + "/pkg/other", want: true},
		"Namesake":      {reason: "A prefix of a name is not a directory.", from: "internal/ocix", to: module + "/apis/v1alpha1", want: true},
		"TestStarts":    {reason: "Any test may start servers.", from: "internal/target", to: module + "/test/controlplane", test: true},
		"CodeStarts":    {reason: "Only tests may start servers.", from: "internal/target", to: module + "/test/controlplane", want: true},
		"Example":       {reason: "An example shows the public packages together.", from: "pkg/manifest", to: module + "/pkg/cluster/connect", test: true},
		"TargetTest":    {reason: "A test of a connection has no engine.", from: "internal/target", to: module + "/pkg/manifest", test: true, want: true},
		"TargetNoun":    {reason: "A test of a connection may import the types that it shares with the engine.", from: "internal/target/informer", to: module + "/pkg/cluster", test: true},
		"Control":       {reason: "The engine has no client of the control plane.", from: "pkg/manifest", to: "sigs.k8s.io/controller-runtime/pkg/client", want: true},
		"NoExample":     {reason: "The engine knows no connection.", from: "pkg/manifest", to: module + "/pkg/cluster/connect", want: true},
		"Outsider":      {reason: "An operator outside of the repository cannot import internal packages.", from: "examples/operator", to: module + "/internal/target/informer", want: true},
		"Public":        {reason: "An operator outside of the repository can import public packages.", from: "examples/operator", to: module + "/pkg/manifest"},
		"Library":       {reason: "Only one layer talks to registries.", from: "pkg/manifest", to: "github.com/google/go-containerregistry/pkg/v1", want: true},
		"Helm":          {reason: "Only rendering uses Helm, so that its next major version changes one layer.", from: "internal/controller/manifest", to: "helm.sh/helm/v3/pkg/chart", want: true},
		"NextHelm":      {reason: "Other layers cannot use the next version of Helm.", from: "internal/cli/module", to: "helm.sh/helm/v4/pkg/chart", want: true},
		"HelmOwner":     {reason: "Rendering can use Helm.", from: "internal/render/record", to: "helm.sh/helm/v3/pkg/release"},
		"Identity":      {reason: "Only a connection uses identities of provider-kubernetes.", from: "internal/oci/cloud", to: "github.com/crossplane-contrib/provider-kubernetes/pkg/kube/client/gke", want: true},
		"LibraryOwner":  {reason: "The layer that owns a library can use it.", from: "internal/oci", to: "github.com/google/go-containerregistry/pkg/v1"},
		"LibraryInTest": {reason: "A unit test stays plain Go.", from: "internal/oci", to: "github.com/onsi/ginkgo/v2", test: true, want: true},
		"LibrarySuite":  {reason: "Suites can use Ginkgo.", from: "test/integration", to: "github.com/onsi/ginkgo/v2", test: true},
		"Metric":        {reason: "Metrics are in one list.", from: "internal/target", to: "github.com/prometheus/client_golang/prometheus", want: true},
		"MetricInTest":  {reason: "A test reads what was counted.", from: "internal/target", to: "github.com/prometheus/client_golang/prometheus/testutil", test: true},
		"CommandLine":   {reason: "A test of a command runs the command line.", from: "internal/cli/kyma", to: module + "/internal/cli", test: true},
		"CommandRoot":   {reason: "A command does not know the command line.", from: "internal/cli/kyma", to: module + "/internal/cli", want: true},
		"CommandBeside": {reason: "A command cannot use another command.", from: "internal/cli/kyma", to: module + "/internal/cli/manifest", test: true, want: true},
		"NoCommand":     {reason: "A controller is not a command.", from: "internal/controller/kyma", to: module + "/internal/cli/lookup", want: true},
		"Other":         {reason: "Other libraries are allowed.", from: "pkg/manifest", to: "k8s.io/api/core/v1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := fault(tc.from, tc.to, tc.test); (got != "") != tc.want {
				t.Errorf("%s: fault(%q, %q) is %q", tc.reason, tc.from, tc.to, got)
			}
		})
	}
}

// TestCheck checks that faults of a file are found.
func TestCheck(t *testing.T) {
	const licence = "// SPDX-License-Identifier: Apache-2.0\n"
	cases := map[string]struct {
		reason string
		source string
		test   bool
		want   int
	}{
		"Fine":         {reason: "A short file with a license is accepted.", source: licence + "package x\n"},
		"NoLicence":    {reason: "Each file starts with the licence.", source: "package x\n", want: 1},
		"LongFile":     {reason: "A file has at most 400 lines.", source: licence + "package x\n" + strings.Repeat("\n", 400), want: 1},
		"LongFunction": {reason: "A function has at most 60 lines.", source: licence + "package x\nfunc f() {" + strings.Repeat("\n", 62) + "}\n", want: 1},
		"LongTest":     {reason: "A table may be long.", source: licence + "package x\nfunc f() {" + strings.Repeat("\n", 62) + "}\n", test: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, "x.go", tc.source, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if got := check(set, parsed, []byte(tc.source), tc.test); len(got) != tc.want {
				t.Errorf("%s: check finds %q", tc.reason, got)
			}
		})
	}
}
