// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// yamlDecoders returns the identifiers that decode YAML without limiting the result, by the path of their package. The linter
// forbids most of them too.
func yamlDecoders() map[string][]string {
	sigs := []string{"Unmarshal", "UnmarshalStrict", "YAMLToJSON", "YAMLToJSONStrict"}
	plain := []string{"Unmarshal", "UnmarshalStrict", "NewDecoder"}
	return map[string][]string{
		"sigs.k8s.io/yaml":                                sigs,
		"sigs.k8s.io/yaml/goyaml.v2":                      plain,
		"sigs.k8s.io/yaml/goyaml.v3":                      plain,
		"go.yaml.in/yaml/v2":                              plain,
		"go.yaml.in/yaml/v3":                              plain,
		"go.yaml.in/yaml/v4":                              plain,
		"gopkg.in/yaml.v2":                                plain,
		"gopkg.in/yaml.v3":                                plain,
		"github.com/goccy/go-yaml":                        plain,
		"github.com/ghodss/yaml":                          sigs,
		"sigs.k8s.io/kustomize/kyaml/yaml":                {"Unmarshal", "NewDecoder", "Parse", "MustParse", "ReadFile"},
		"sigs.k8s.io/kustomize/kyaml/kio":                 {"ByteReader", "ByteReadWriter", "FromBytes"},
		"k8s.io/apimachinery/pkg/util/yaml":               {"Unmarshal", "ToJSON", "NewYAMLToJSONDecoder", "NewYAMLOrJSONDecoder"},
		"k8s.io/client-go/tools/clientcmd":                {"Load", "LoadFromFile", "NewClientConfigFromBytes", "RESTConfigFromKubeConfig", "BuildConfigFromFlags"},
		"helm.sh/helm/v3/pkg/chartutil":                   {"ReadValues", "ReadValuesFile", "LoadChartfile"},
		"helm.sh/helm/v3/pkg/repo":                        {"LoadIndexFile", "LoadFile"},
		"k8s.io/apimachinery/pkg/runtime/serializer/yaml": {"NewDecodingSerializer"},
	}
}

// bounded returns the uses of decoders that follow a check of the size, by package.
func bounded() map[string][]string {
	return map[string][]string{
		"internal/yamlsize":          {"sigs.k8s.io/yaml.Unmarshal", "sigs.k8s.io/yaml.YAMLToJSON", "sigs.k8s.io/yaml.YAMLToJSONStrict", "go.yaml.in/yaml/v3.NewDecoder"},
		"internal/target/kubeconfig": {"k8s.io/client-go/tools/clientcmd.Load"},
		"internal/render/yamldoc":    {"go.yaml.in/yaml/v2.NewDecoder"},
		"internal/render/kustomize":  {"sigs.k8s.io/kustomize/kyaml/kio.ByteReader"},
	}
}

// decodersOf returns the YAML decoders that a file uses, sorted.
func decodersOf(parsed *ast.File) []string {
	var found []string
	imported := importsByName(parsed)
	ast.Inspect(parsed, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if ok && slices.Contains(yamlDecoders()[imported[x.Name]], s.Sel.Name) {
			found = append(found, imported[x.Name]+"."+s.Sel.Name)
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// TestYAMLDecoders checks that all code limits the YAML that it decodes.
func TestYAMLDecoders(t *testing.T) {
	used := map[string][]string{}
	for _, p := range packages(t) {
		// Only tests import fakeapi.
		if !belowAny(p.path(), []string{"cmd", "internal", "pkg", "apis"}) || p.path() == "pkg/manifest/internal/fakeapi" {
			continue
		}
		for name, parsed := range sources(t, p) {
			for _, d := range decodersOf(parsed) {
				if slices.Contains(bounded()[p.path()], d) {
					used[p.path()] = append(used[p.path()], d)
					continue
				}
				t.Errorf("%s/%s uses %s, which does not bound what YAML becomes; use internal/yamlsize", p.path(), name, d)
			}
		}
	}
	for p, all := range bounded() {
		for _, d := range all {
			if !slices.Contains(used[p], d) {
				t.Errorf("%s no longer uses %s: remove it from the list", p, d)
			}
		}
	}
}

// TestFindYAMLDecoders checks that each kind of use is found.
func TestFindYAMLDecoders(t *testing.T) {
	cases := map[string]struct {
		reason string
		source string
		want   []string
	}{
		"Sigs":       {reason: "Aliases are expanded.", source: `import "sigs.k8s.io/yaml"; var err = yaml.Unmarshal(nil, nil)`, want: []string{"sigs.k8s.io/yaml.Unmarshal"}},
		"Alias":      {reason: "The package may have any name.", source: `import y "sigs.k8s.io/yaml"; var f = y.YAMLToJSON`, want: []string{"sigs.k8s.io/yaml.YAMLToJSON"}},
		"Version":    {reason: "The name of a package may differ from the end of its path.", source: `import yaml "go.yaml.in/yaml/v3"; var d = yaml.NewDecoder(nil)`, want: []string{"go.yaml.in/yaml/v3.NewDecoder"}},
		"Kubeconfig": {reason: "A kubeconfig is YAML.", source: `import "k8s.io/client-go/tools/clientcmd"; var c, err = clientcmd.Load(nil)`, want: []string{"k8s.io/client-go/tools/clientcmd.Load"}},
		"Reader":     {reason: "A reader of kustomize decodes.", source: `import "sigs.k8s.io/kustomize/kyaml/kio"; var r = kio.ByteReader{}`, want: []string{"sigs.k8s.io/kustomize/kyaml/kio.ByteReader"}},
		"Write":      {reason: "Encoding YAML is allowed.", source: `import "sigs.k8s.io/yaml"; var b, err = yaml.Marshal(nil)`},
		"Ours":       {reason: "The decoder of this repository is bounded.", source: `import "github.com/crossplane-contrib/provider-kyma/internal/yamlsize"; var err = yamlsize.Limits{}.Unmarshal(nil, nil)`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+tc.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, decodersOf(parsed)); diff != "" {
				t.Errorf("%s\ndecodersOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
