// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
)

const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"

// names returns the names of the objects of each install.
func names(r *Result) map[string][]string {
	if r == nil {
		return nil
	}
	out := map[string][]string{}
	for install, objects := range r.Objects {
		for _, u := range objects {
			out[install] = append(out[install], strings.TrimSpace(u.GetKind()+" "+u.GetNamespace()+"/"+u.GetName()))
		}
	}
	return out
}

func TestModule(t *testing.T) {
	type want struct {
		objects  map[string][]string
		warnings []string
		err      string
	}
	cases := map[string]struct {
		reason  string
		subject Subject
		want    want
	}{
		"Empty": {
			reason: "This check does not require a minimum of content.",
			want:   want{objects: map[string][]string{}},
		},
		"Whole": {
			reason: "A module with all features results in its objects, including those of crds/, and no warnings.",
			subject: Subject{
				CRDs: []archive.File{file("widgets.yaml", widgets), file("README.md", "{")},
				Installs: []Install{
					chart("operator", file("crds/gadgets.yaml", gadgets), file("values.yaml", "suffix: a"),
						file("templates/cm.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: cm-{{ .Values.suffix }}, namespace: {{ .Release.Namespace }}}}")),
					plain("raw-manifest", "{apiVersion: example.org/v1, kind: Gadget, metadata: {name: g}}"),
				},
				Config:         []config.Entry{{Name: "operator", ClientConfig: "Namespace=kyma-system", Overrides: "suffix=b"}},
				CustomResource: widget(t, "{size: 2}"),
				Readiness: []v1alpha1.ReadinessRule{
					{CEL: `object.status.state == "Ready"`},
					{CEL: "has(object.status)", For: &v1alpha1.TypeSelector{APIVersion: "example.org/v1", Kind: "Gadget"}},
				},
			},
			want: want{objects: map[string][]string{
				"operator":     {"CustomResourceDefinition /gadgets.example.org", "ConfigMap kyma-system/cm-b"},
				"raw-manifest": {"Gadget /g"},
			}},
		},
		"SkipCRDs": {
			reason: "The config determines whether crds/ is installed.",
			subject: Subject{
				Installs: []Install{chart("operator", file("crds/gadgets.yaml", gadgets), file("templates/cm.yaml", configMap))},
				Config:   []config.Entry{{Name: "operator", ClientConfig: "SkipCRDs=true"}},
			},
			want: want{objects: map[string][]string{"operator": {"ConfigMap /a"}}},
		},
		"KubeVersion": {
			reason: "A chart for an older Kubernetes version is rendered for that version.",
			subject: Subject{Installs: []Install{{Name: "c", Chart: true, Files: []archive.File{
				file("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\nkubeVersion: '>= 1.24.3 < 1.30.0'\n"),
				file("templates/cm.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ .Capabilities.KubeVersion }}}}"),
			}}}},
			want: want{objects: map[string][]string{"c": {"ConfigMap /v1.29.0"}}},
		},
		"KubeVersionOfNone": {
			reason: "A chart that supports no Kubernetes version is rejected.",
			subject: Subject{Installs: []Install{{Name: "c", Chart: true, Files: []archive.File{
				file("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\nkubeVersion: '< 1.10.0'\n"),
			}}}},
			want: want{err: `install "c": chart "c": requires Kubernetes < 1.10.0, but the cluster runs v1.37.0`},
		},
		"Template": {
			reason:  "An error in a template names the chart, file and line.",
			subject: Subject{Installs: []Install{chart("c", file("templates/cm.yaml", "a: b\nc: {{ required \"set host\" .Values.host }}\n"))}},
			want:    want{err: `install "c": chart "c": templates/cm.yaml:2: set host`},
		},
		"NoObject": {
			reason:  "The output of a template must consist of objects.",
			subject: Subject{Installs: []Install{chart("c", file("templates/cm.yaml", "{kind: ConfigMap, apiVersion: v1}"))}},
			want:    want{err: `install "c": chart "c": templates/cm.yaml: ConfigMap: metadata is missing or not an object`},
		},
		"NoChart": {
			reason:  "A chart must have a Chart.yaml.",
			subject: Subject{Installs: []Install{{Name: "c", Chart: true, Files: []archive.File{file("x.yaml", "")}}}},
			want:    want{err: `install "c": not a chart: no Chart.yaml found in the root directory of the archive or in a directory below it`},
		},
		"LongName": {
			reason:  "The length of a release name is limited.",
			subject: Subject{Installs: []Install{{Name: strings.Repeat("c", 54), Chart: true, Files: chart("c").Files}}},
			want: want{err: fmt.Sprintf(`install %[1]q: chart "c": release name %[1]q: invalid release name, must match regex `+
				`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53`, strings.Repeat("c", 54))},
		},
		"BrokenYAML": {
			reason:  "The error for invalid YAML names the file and document.",
			subject: Subject{Installs: []Install{plain("raw", configMap+"\n---\na: b: c\n")}},
			want:    want{err: `install "raw": objects.yaml: document 2 (line 3): yaml: mapping values are not allowed in this context`},
		},
		"NothingInPlain": {
			reason:  "Plain YAML without objects is rejected.",
			subject: Subject{Installs: []Install{plain("raw", "# nothing\n")}},
			want:    want{err: `install "raw": no objects found`},
		},
		"TwiceInOne": {
			reason:  "An install must not contain an object twice. An object without a namespace is in the namespace of the install.",
			subject: Subject{Installs: []Install{plain("raw", configMap, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}")}},
			want:    want{err: `install "raw": duplicate object ConfigMap default/a`},
		},
		"TwiceInTwo": {
			reason: "Only one install can contain an object. A cluster-scoped object is the same in all namespaces.",
			subject: Subject{
				Installs: []Install{
					plain("one", "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a, namespace: x}}"),
					plain("two", "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}"),
				},
				Config: []config.Entry{{Name: "two", ClientConfig: "Namespace=other"}},
			},
			want: want{err: `install "two": ClusterRole a is also part of install "one"`},
		},
		"SameNameElsewhere": {
			reason: "An object with the same name in another namespace or API group is a different object.",
			subject: Subject{
				Installs: []Install{plain("one", configMap), plain("two", configMap)},
				Config:   []config.Entry{{Name: "two", ClientConfig: "Namespace=other"}},
			},
			want: want{objects: map[string][]string{"one": {"ConfigMap /a"}, "two": {"ConfigMap /a"}}},
		},
		"ScopeByCRD": {
			reason: "A CRD of the module determines that a kind is cluster-scoped.",
			subject: Subject{
				CRDs: []archive.File{file("g.yaml", gadgets)},
				Installs: []Install{plain("one", "{apiVersion: example.org/v1, kind: Gadget, metadata: {name: g, namespace: a}}",
					"{apiVersion: example.org/v1, kind: Gadget, metadata: {name: g, namespace: b}}")},
			},
			want: want{err: `install "one": duplicate object Gadget g`},
		},
		"InstallTwice": {
			reason:  "The names of installs must be unique.",
			subject: Subject{Installs: []Install{plain("one", configMap), plain("one", configMap)}},
			want:    want{err: `install "one" is listed twice; rename or remove one of them`},
		},
		"InstallWithoutName": {
			reason:  "An install must have a name.",
			subject: Subject{Installs: []Install{plain("", configMap)}},
			want:    want{err: `install at index 0: name "" must not be empty and must not contain a colon`},
		},
		"ReleaseTwice": {
			reason: "Two charts cannot have the same release.",
			subject: Subject{
				Installs: []Install{chart("one", file("templates/cm.yaml", configMap)), chart("two", file("templates/cm.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: a}}"))},
				Config:   []config.Entry{{Name: "two", ClientConfig: "ReleaseName=one"}},
			},
			want: want{err: `install "two": its Helm release one in namespace default is also used by install "one"; set another ReleaseName for one of them`},
		},
		"ConfigOfNone": {
			reason:  "An entry of the config must name an existing install.",
			subject: Subject{Installs: []Install{plain("one", configMap), plain("two", configMap)}, Config: []config.Entry{{Name: "three"}}},
			want:    want{err: `config: entry "three" does not match any install; the installs are one, two`},
		},
		"ConfigTwice": {
			reason:  "An install can have only one entry.",
			subject: Subject{Installs: []Install{plain("one", configMap)}, Config: []config.Entry{{Name: "one"}, {Name: "one"}}},
			want:    want{err: `config: entry "one" is listed twice`},
		},
		"ConfigUnknown": {
			reason:  "Unknown keys of clientConfig are refused.",
			subject: Subject{Installs: []Install{plain("one", configMap)}, Config: []config.Entry{{Name: "one", ClientConfig: "Nonsense=1"}}},
			want:    want{err: `config: entry "one": clientConfig: Nonsense: unknown key; the keys are the fields of Helm's install action`},
		},
		"ConfigOfPlain": {
			reason:  "Plain YAML cannot have values.",
			subject: Subject{Installs: []Install{plain("one", configMap)}, Config: []config.Entry{{Name: "one", Overrides: "a=b"}}},
			want:    want{err: `config: entry "one": overrides are only supported for charts, but this install consists of plain objects; remove them`},
		},
		"Hooks": {
			reason: "Hooks are run, and are not objects of the install.",
			subject: Subject{Installs: []Install{chart("c", file("templates/a.yaml", `
apiVersion: batch/v1
kind: Job
metadata: {name: prepare, annotations: {helm.sh/hook: "pre-install,pre-upgrade"}}
---
apiVersion: v1
kind: Pod
metadata: {name: try, annotations: {helm.sh/hook: test}}
`))}},
			want: want{objects: map[string][]string{"c": nil}},
		},
		"RuleCompiles": {
			reason:  "A readiness rule must be a valid expression.",
			subject: Subject{Readiness: []v1alpha1.ReadinessRule{{CEL: "true"}, {CEL: "object.a =="}}},
			want: want{err: `readiness[1].cel: readiness rule "object.a ==": ERROR: <input>:1:12: Syntax error: mismatched input '<EOF>' expecting ` +
				`{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER} | object.a == | ...........^`},
		},
		"RuleOfType": {
			reason:  "A readiness rule must return a Boolean.",
			subject: Subject{Readiness: []v1alpha1.ReadinessRule{{CEL: "'yes'"}}},
			want:    want{err: `readiness[0].cel: readiness rule "'yes'" has type string, but must have type bool`},
		},
		"RuleEmpty": {
			reason:  "A readiness rule must not be empty.",
			subject: Subject{Readiness: []v1alpha1.ReadinessRule{{}}},
			want:    want{err: `readiness[0].cel is empty`},
		},
		"RuleLong": {
			reason:  "The API limits the length of rules.",
			subject: Subject{Readiness: []v1alpha1.ReadinessRule{{CEL: strings.Repeat(" ", 4097)}}},
			want:    want{err: `readiness[0].cel is longer than 4096 bytes`},
		},
		"RulesMany": {
			reason:  "The API limits the number of rules.",
			subject: Subject{Readiness: make([]v1alpha1.ReadinessRule, 17)},
			want:    want{err: `readiness: 17 rules exceed the maximum of 16`},
		},
		"RuleForVersion": {
			reason:  "A rule must specify a kind.",
			subject: Subject{Readiness: []v1alpha1.ReadinessRule{{CEL: "true", For: &v1alpha1.TypeSelector{APIVersion: "a/b/c", Kind: "D"}}}},
			want:    want{err: `readiness[0].for.apiVersion: "a/b/c" is not a group/version`},
		},
		"RuleForKind": {
			reason:  "A rule must specify a kind.",
			subject: Subject{Readiness: []v1alpha1.ReadinessRule{{CEL: "true", For: &v1alpha1.TypeSelector{APIVersion: "v1"}}}},
			want:    want{err: `readiness[0].for.kind is empty`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := Module(context.Background(), tc.subject)
			got := want{objects: names(r)}
			if r != nil {
				got.warnings = r.Warnings
			}
			if err != nil {
				got.err = err.Error()
			}
			if tc.want.objects == nil && tc.want.err == "" {
				t.Fatal("a case must want something")
			}
			for install, objects := range tc.want.objects {
				if objects == nil {
					// A chart with only hooks results in an install without objects.
					if _, ok := r.Objects[install]; !ok {
						t.Errorf("\n%s\ninstall %s is missing", tc.reason, install)
					}
					delete(tc.want.objects, install)
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nModule(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestModuleStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Module(ctx, Subject{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Module(...) of a context that ended: want context.Canceled, got %v", err)
	}
}

func TestModuleLeavesSubject(t *testing.T) {
	cr := object(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}, spec: {size: 2}, status: {state: x}}")
	before := cr.DeepCopy()
	s := Subject{CRDs: []archive.File{file("w.yaml", widgets)}, CustomResource: cr}
	for range 2 {
		if _, err := Module(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, cr); diff != "" {
		t.Errorf("Module(...) changed the custom resource: -before, +after:\n%s", diff)
	}
}

func TestWarningsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: Pod, metadata: {name: p%03d}, spec: {containers: [{image: 'a:1'}, {image: 'a:1'}]}}\n", i)
	}
	r, err := Module(context.Background(), Subject{Installs: []Install{plain("raw", b.String())}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Warnings); n != maxWarnings+1 || r.Warnings[n-1] != "… and 100 more warnings" || r.Warnings[0] != "image a:1 of Pod default/p000 is not pinned by digest" {
		t.Errorf("want %d sorted warnings and how many more there are, got %d: %q … %q", maxWarnings, n, r.Warnings[0], r.Warnings[n-1])
	}
}

func BenchmarkModule(b *testing.B) {
	cr := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}, "spec": map[string]any{"size": int64(2)},
	}}
	s := Subject{CRDs: []archive.File{file("w.yaml", widgets)}, CustomResource: cr, Installs: []Install{chart("c", file("templates/cm.yaml", configMap))}}
	for b.Loop() {
		if _, err := Module(context.Background(), s); err != nil {
			b.Fatal(err)
		}
	}
}
