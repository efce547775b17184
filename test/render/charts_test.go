// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/sandbox"
)

const (
	releaseName      = "rel"
	releaseNamespace = "team"
	kubeVersion      = "v1.36.3"
)

// A feature is a chart that uses one feature of charts, with its install settings.
type feature struct {
	// files contains files in the format of the function files. Chart.yaml is optional.
	files string
	// values is the values file of the user, and set is their --set option.
	values, set string
	// apis lists the APIs of the cluster in addition to Helm's defaults.
	apis []string
	// fails is true if the chart must be rejected.
	fails bool
}

// A rendering is the result of rendering a chart, in a form that can be compared: JSON with normalized numbers.
type rendering struct {
	Objects []any
	Hooks   []hook
}

type hook struct {
	Path, Events, Policies string
	Weight                 int
	Object                 any
}

const chartYAML = "== Chart.yaml\napiVersion: v2\nname: app\nversion: 1.2.3\nappVersion: \"9.0\"\n"

// TestChart checks that charts render to the same objects and hooks as with helm template, in the same order.
func TestChart(t *testing.T) {
	helm, err := tools.Path(t.Context(), tools.Helm)
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(t, sandbox.Options{Spares: 1})
	for name, f := range chartFeatures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files(chartYAML + f.files)
			dir := filepath.Join(t.TempDir(), "app")
			write(t, dir, tree)
			want, failed := helmTemplate(t, helm, dir, f)
			got, notes, err := ours(t, p, tree, f)
			if (failed != "") != f.fails || (err != nil) != f.fails {
				t.Fatalf("want failure: %v; helm: %q; ours: %v", f.fails, failed, err)
			}
			if f.fails {
				return
			}
			if len(want.Objects)+len(want.Hooks) == 0 {
				t.Fatal("helm prints nothing")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-helm, +ours:\n%s", diff)
			}
			checkNotes(t, want, notes)
		})
	}
}

// checkNotes compares the notes, which helm template does not print, with the text in data.notes of a ConfigMap of the chart.
func checkNotes(t *testing.T, want rendering, notes string) {
	t.Helper()
	printed := ""
	for _, o := range want.Objects {
		if data, ok := o.(map[string]any)["data"].(map[string]any); ok && data["notes"] != nil {
			printed, _ = data["notes"].(string)
		}
	}
	if printed != notes {
		t.Errorf("notes: helm: %q, ours: %q", printed, notes)
	}
}

// helmTemplate renders the chart in a directory with helm. If helm rejects the chart, it returns the message.
func helmTemplate(t *testing.T, helm, dir string, f feature) (rendering, string) {
	t.Helper()
	root := t.TempDir()
	write(t, root, map[string]string{"user.yaml": f.values})
	args := []string{
		"template", releaseName, dir, "--namespace", releaseNamespace, "--kube-version", kubeVersion,
		"--include-crds", "--values", filepath.Join(root, "user.yaml"),
	}
	if f.set != "" {
		args = append(args, "--set", f.set)
	}
	for _, a := range f.apis {
		args = append(args, "--api-versions", a)
	}
	cmd := exec.CommandContext(t.Context(), helm, args...)
	cmd.Env = []string{"HOME=" + root}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return rendering{}, err.Error() + ": " + stderr.String()
	}
	return printed(t, stdout.String()), ""
}

// Lines in the output of helm template: a new template file, and a new object.
var (
	sourceLine = regexp.MustCompile(`(?m)^---\n# Source: `)
	separator  = regexp.MustCompile(`(?m)^---`)
)

// TestRealChart checks the same for third-party charts.
func TestRealChart(t *testing.T) {
	helm, err := tools.Path(t.Context(), tools.Helm)
	if err != nil {
		t.Fatal(err)
	}
	crossplane, err := tools.ModuleDir(t.Context(), tools.Crossplane, "github.com/crossplane/crossplane/v2")
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{"Crossplane": filepath.Join(crossplane, "cluster", "charts", "crossplane")}
	for name, c := range map[string]tools.Chart{
		"Gatekeeper": tools.GatekeeperChart, "GatekeeperPrevious": tools.GatekeeperPreviousChart,
		"Kyverno": tools.KyvernoChart, "KyvernoPrevious": tools.KyvernoPreviousChart,
	} {
		if dirs[name], err = tools.ChartDir(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	p := newPool(t, sandbox.Options{Spares: 1})
	for name, dir := range dirs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, failed := helmTemplate(t, helm, dir, feature{})
			if failed != "" {
				t.Fatal(failed)
			}
			got, _, err := ours(t, p, read(t, dir), feature{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-helm, +ours:\n%s", diff)
			}
		})
	}
}

// read reads the files in a directory and its subdirectories.
func read(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(os.DirFS(root), name)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// printed parses the output of helm template. Each template file begins with a comment that names it, and contains one object
// or a list. Files in crds/ can contain several objects.
func printed(t *testing.T, text string) rendering {
	t.Helper()
	var out rendering
	for _, doc := range sourceLine.Split(text, -1) {
		source, body, _ := strings.Cut(doc, "\n")
		for _, part := range separator.Split(body, -1) {
			for _, o := range flat(decode(t, part)) {
				if _, ok := hookOf(source, o); ok {
					// Helm creates the object from the text without the line break that is printed here.
					h, _ := hookOf(source, decode(t, strings.TrimSuffix(part, "\n")))
					out.Hooks = append(out.Hooks, h)
					continue
				}
				out.Objects = append(out.Objects, o)
			}
		}
	}
	return out
}

// decode decodes one document into the types of JSON, without converting numbers.
func decode(t *testing.T, doc string) map[string]any {
	t.Helper()
	j, err := yaml.YAMLToJSON([]byte(doc))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, doc)
	}
	return fromJSON(t, j)
}

func fromJSON(t *testing.T, j []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(j))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%v in:\n%s", err, j)
	}
	// The API server treats missing labels and null in the same way.
	meta, _ := out["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		if v, ok := meta[field]; ok && v == nil {
			delete(meta, field)
		}
	}
	return out
}

// flat returns an object, or the items of a list.
func flat(o map[string]any) []map[string]any {
	kind, _ := o["kind"].(string)
	items, ok := o["items"].([]any)
	if len(o) == 0 {
		return nil
	}
	if !ok || !strings.HasSuffix(kind, "List") {
		return []map[string]any{o}
	}
	var out []map[string]any
	for _, i := range items {
		if m, ok := i.(map[string]any); ok {
			out = append(out, flat(m)...)
		}
	}
	return out
}

// hookOf returns the hook of an object, according to its annotations.
func hookOf(source string, o map[string]any) (hook, bool) {
	meta, _ := o["metadata"].(map[string]any)
	a, _ := meta["annotations"].(map[string]any)
	events, ok := a["helm.sh/hook"].(string)
	if !ok {
		return hook{}, false
	}
	policies, _ := a["helm.sh/hook-delete-policy"].(string)
	text, _ := a["helm.sh/hook-weight"].(string)
	// Anything that is not a number counts as 0.
	weight, _ := strconv.Atoi(text)
	return hook{Path: source, Events: tidy(events), Policies: tidy(policies), Weight: weight, Object: o}, true
}

// tidy normalizes a comma-separated list. test-success is the old name of test.
func tidy(list string) string {
	var out []string
	for s := range strings.SplitSeq(list, ",") {
		out = append(out, strings.TrimSuffix(strings.ToLower(strings.TrimSpace(s)), "-success"))
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// inputs returns files by name, in order.
func inputs(tree map[string]string) []input.File {
	var out []input.File
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		out = append(out, input.File{Name: name, Data: []byte(tree[name])})
	}
	return out
}

// ours is what this provider makes of a chart, and its notes.
func ours(t *testing.T, p *sandbox.Pool, tree map[string]string, f feature) (rendering, string, error) {
	t.Helper()
	c, err := render.Load(inputs(tree))
	if err != nil {
		return rendering{}, "", err
	}
	settings, err := config.Entry{Name: "app", Overrides: f.set}.Parse()
	if err != nil {
		return rendering{}, "", err
	}
	o := render.Options{
		ReleaseName: releaseName, Namespace: releaseNamespace, KubeVersion: kubeVersion, Overrides: settings.Overrides,
		APIVersions: append(slices.Clone(f.apis), chartutil.DefaultVersionSet...),
	}
	if err := yaml.Unmarshal([]byte(f.values), &o.Values); err != nil {
		t.Fatal(err)
	}
	r, err := p.Chart(t.Context(), "", c, o)
	if err != nil {
		return rendering{}, "", err
	}
	var out rendering
	for _, u := range slices.Concat(r.CRDs, r.Objects) {
		j, err := json.Marshal(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		out.Objects = append(out.Objects, fromJSON(t, j))
	}
	for _, h := range r.Hooks {
		out.Hooks = append(out.Hooks, hook{
			Path: h.Path, Events: tidy(strings.Join(h.Events, ",")), Policies: tidy(strings.Join(h.DeletePolicies, ",")),
			Weight: h.Weight, Object: decode(t, h.Manifest),
		})
	}
	return out, r.Notes, nil
}
