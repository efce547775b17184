// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// stateMetrics is the part of the format of kube-state-metrics that the chart uses, according to its documentation. Its module is not
// available to the tests.
type stateMetrics struct {
	Kind string `json:"kind"`
	Spec struct {
		Resources []stateResource `json:"resources"`
	} `json:"spec"`
}

type stateResource struct {
	GroupVersionKind struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	} `json:"groupVersionKind"`
	MetricNamePrefix string              `json:"metricNamePrefix"`
	LabelsFromPath   map[string][]string `json:"labelsFromPath"`
	Metrics          []stateMetric       `json:"metrics"`
}

type stateMetric struct {
	Name string `json:"name"`
	Help string `json:"help"`
	Each struct {
		Type     string    `json:"type"`
		Gauge    *stateSum `json:"gauge"`
		StateSet *stateSum `json:"stateSet"`
		Info     *stateSum `json:"info"`
	} `json:"each"`
}

// A stateSum contains the fields of all types of metrics. check knows which ones a type has.
type stateSum struct {
	Path           []string            `json:"path"`
	LabelsFromPath map[string][]string `json:"labelsFromPath"`
	ValueFrom      []string            `json:"valueFrom"`
	NilIsZero      bool                `json:"nilIsZero"`
	LabelName      string              `json:"labelName"`
	List           []string            `json:"list"`
}

var metricName = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// check returns what is wrong with a metric of a kind with this schema.
func (m *stateMetric) check(root *apiextensionsv1.JSONSchemaProps) error {
	if !metricName.MatchString(m.Name) || !strings.HasSuffix(m.Help, ".") {
		return fmt.Errorf("bad name or help: %+v", m)
	}
	var set *stateSum
	var types []string
	switch {
	case m.Each.Type == "Gauge" && m.Each.StateSet == nil && m.Each.Info == nil:
		set, types = m.Each.Gauge, []string{"integer", "number", "string"}
	case m.Each.Type == "StateSet" && m.Each.Gauge == nil && m.Each.Info == nil:
		set, types = m.Each.StateSet, []string{"string"}
	case m.Each.Type == "Info" && m.Each.Gauge == nil && m.Each.StateSet == nil:
		set, types = m.Each.Info, []string{"object"}
	}
	if set == nil {
		return fmt.Errorf("the type %q does not match: %+v", m.Each.Type, m.Each)
	}
	return set.check(root, m.Each.Type, types)
}

func (s *stateSum) check(root *apiextensionsv1.JSONSchemaProps, kind string, types []string) error {
	each, err := fieldAt(root, s.Path)
	if err != nil {
		return err
	}
	if each.Type == "array" {
		// There is a metric for each item.
		each = each.Items.Schema
	}
	for label, path := range s.LabelsFromPath {
		if _, err := fieldAt(each, path); err != nil || !metricName.MatchString(label) {
			return fmt.Errorf("label %q: %w", label, err)
		}
	}
	value, err := fieldAt(each, s.ValueFrom)
	if err != nil {
		return err
	}
	if !slices.Contains(types, value.Type) {
		return fmt.Errorf("%v%v has type %s, and a %s needs one of %v", s.Path, s.ValueFrom, value.Type, kind, types)
	}
	var enum []string
	for _, v := range value.Enum {
		enum = append(enum, strings.Trim(string(v.Raw), `"`))
	}
	if want := (kind == "StateSet"); want != (s.LabelName != "") || want != (len(s.List) > 0) || want && !slices.Equal(s.List, enum) {
		return fmt.Errorf("%v has the values %v: %+v", s.Path, enum, s)
	}
	return nil
}

// fieldAt returns the schema of a field of an object.
func fieldAt(root *apiextensionsv1.JSONSchemaProps, path []string) (*apiextensionsv1.JSONSchemaProps, error) {
	at := root
	for i, name := range path {
		next, ok := at.Properties[name]
		if !ok {
			return nil, fmt.Errorf("there is no field %v", path[:i+1])
		}
		at = &next
	}
	return at, nil
}

// schemaOf returns the schema of a kind, with the metadata that objects of it can have.
func schemaOf(t *testing.T, dir, kind string) (plural string, root *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(data, crd); err != nil {
			t.Fatal(err)
		}
		if crd.Spec.Names.Kind != kind {
			continue
		}
		root = crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		text := apiextensionsv1.JSONSchemaProps{Type: "string"}
		labels := map[string]apiextensionsv1.JSONSchemaProps{v1alpha1.LabelKymaName: text, v1alpha1.LabelModuleName: text, v1alpha1.LabelChannel: text}
		metadata := map[string]apiextensionsv1.JSONSchemaProps{"name": text, "labels": {Type: "object", Properties: labels}}
		if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
			metadata["namespace"] = text
		}
		root.Properties["metadata"] = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: metadata}
		return crd.Spec.Names.Plural, root
	}
	t.Fatalf("there is no kind %s", kind)
	return "", nil
}

// TestKubeStateMetrics checks the format of the configuration of kube-state-metrics, that each field that it names exists, and that the
// ClusterRole grants what it needs.
func TestKubeStateMetrics(t *testing.T) {
	h := newHelm(t)
	objects := h.template(t, "kubeStateMetrics.enabled=true", `kubeStateMetrics.labels={"team": "a"}`)
	m := objects["ConfigMap "+release+"-kube-state-metrics"]
	if m == nil || m.GetLabels()["team"] != "a" || m.GetLabels()["app.kubernetes.io/component"] != "kube-state-metrics" {
		t.Fatalf("want a ConfigMap with labels, got %v", m)
	}
	text, _, _ := unstructured.NestedString(m.Object, "data", "config.yaml")
	c := &stateMetrics{}
	if err := yaml.UnmarshalStrict([]byte(text), c); err != nil || c.Kind != "CustomResourceStateMetrics" {
		t.Fatalf("%v\n%s", err, text)
	}
	seen, kinds := map[string]bool{}, map[string]bool{}
	for _, r := range c.Spec.Resources {
		plural, schema := schemaOf(t, filepath.Join(h.chart, "..", "..", "package", "crds"), r.GroupVersionKind.Kind)
		if kinds[plural] || r.GroupVersionKind.Group != v1alpha1.Group || r.GroupVersionKind.Version != v1alpha1.Version {
			t.Errorf("a kind that is listed twice, or not known: %+v", r.GroupVersionKind)
		}
		kinds[plural] = true
		common := stateMetric{Name: "common", Help: "Labels."}
		common.Each.Type, common.Each.Info = "Info", &stateSum{LabelsFromPath: r.LabelsFromPath}
		for _, m := range append(r.Metrics, common) {
			name := r.MetricNamePrefix + "_" + m.Name
			if err := m.check(schema); err != nil || seen[name] || !metricName.MatchString(name) {
				t.Errorf("%s: listed twice: %t, %v", name, seen[name], err)
			}
			seen[name] = true
		}
		_, namespaced := schema.Properties["metadata"].Properties["namespace"]
		if _, ok := r.LabelsFromPath["namespace"]; ok != namespaced || r.LabelsFromPath["name"] == nil {
			t.Errorf("%s: the labels do not identify an object: %v", plural, r.LabelsFromPath)
		}
	}
	want := map[string][]string{
		v1alpha1.Group:         slices.Sorted(maps.Keys(kinds)),
		"apiextensions.k8s.io": {"customresourcedefinitions"},
	}
	got := map[string][]string{}
	for _, rule := range rulesOf(t, objects, "ClusterRole "+release+"-kube-state-metrics") {
		got[rule.APIGroups[0]] = slices.Sorted(slices.Values(rule.Resources))
		if diff := cmp.Diff([]string{"list", "watch"}, rule.Verbs); diff != "" {
			t.Errorf("verbs: -want, +got:\n%s", diff)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources that kube-state-metrics can read: -want, +got:\n%s", diff)
	}
	if h.template(t)["ConfigMap "+release+"-kube-state-metrics"] != nil {
		t.Error("want no ConfigMap by default")
	}
}

// TestStateMetricCheck checks that mistakes in the configuration are found.
func TestStateMetricCheck(t *testing.T) {
	_, schema := schemaOf(t, filepath.Join(newHelm(t).chart, "..", "..", "package", "crds"), v1alpha1.KymaKind)
	cases := map[string]struct {
		reason string
		metric string
		want   string
	}{
		"Good":    {"A gauge of each condition is accepted.", `{type: Gauge, gauge: {path: [status, conditions], labelsFromPath: {type: [type]}, valueFrom: [status]}}`, ""},
		"Path":    {"A field that does not exist is found.", `{type: Gauge, gauge: {path: [status, nope]}}`, "there is no field [status nope]"},
		"Value":   {"A value that does not exist is found.", `{type: Gauge, gauge: {path: [status, conditions], valueFrom: [nope]}}`, "there is no field [nope]"},
		"Label":   {"A label of a field that does not exist is found.", `{type: Info, info: {labelsFromPath: {a: [nope]}}}`, "there is no field [nope]"},
		"Object":  {"An object is not a number.", `{type: Gauge, gauge: {path: [status, conditions]}}`, "has type object"},
		"Missing": {"A state that is not listed is found.", `{type: StateSet, stateSet: {path: [status, atProvider, state], labelName: state, list: [Ready]}}`, "has the values"},
		"Type":    {"The type must match.", `{type: Info, gauge: {path: [status]}}`, `the type "Info" does not match`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &stateMetric{}
			if err := yaml.UnmarshalStrict([]byte("{name: a, help: A., each: "+tc.metric+"}"), m); err != nil {
				t.Fatal(err)
			}
			if err := m.check(schema); (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\ncheck(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
