// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

func newSet(edit ...func(*v1alpha1.KymaSet)) *v1alpha1.KymaSet {
	s := &v1alpha1.KymaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "fleet", UID: "uid"},
		Spec:       v1alpha1.KymaSetSpec{ProviderConfigs: &v1alpha1.ProviderConfigSelection{}},
	}
	s.Spec.Template.Spec.ForProvider.Channel = "regular"
	for _, e := range edit {
		e(s)
	}
	return s
}

func withModule(values string) func(*v1alpha1.KymaSet) {
	return func(s *v1alpha1.KymaSet) {
		s.Spec.Template.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: "a", Values: &runtime.RawExtension{Raw: []byte(values)}}}
	}
}

func newCluster() Cluster {
	return Cluster{
		Namespace: "team-a", Name: "one",
		Labels: map[string]string{"ring": "fast", "example.org/region": "eu"}, Annotations: map[string]string{"note": "a $(b) c"},
	}
}

// TestParameters checks the templates of strings.
func TestParameters(t *testing.T) {
	cases := map[string]struct {
		reason, in, want, err string
	}{
		"None":        {reason: "Other text stays as it is.", in: "a$b)c", want: "a$b)c"},
		"Name":        {reason: "The name of the cluster is a parameter.", in: "x-$(cluster.name)-y", want: "x-one-y"},
		"Namespace":   {reason: "The namespace of the cluster is a parameter.", in: "$(cluster.namespace)/$(cluster.name)", want: "team-a/one"},
		"Label":       {reason: "Keys of labels may have a prefix.", in: "$(cluster.labels['example.org/region'])", want: "eu"},
		"Annotation":  {reason: "Values are not expanded again, so that the owner of a cluster cannot read other parameters.", in: "$(cluster.annotations['note'])", want: "a $(b) c"},
		"Escaped":     {reason: "Values can contain the syntax of a shell.", in: "$$(date) $(cluster.name)", want: "$(date) one"},
		"Twice":       {reason: "Only the last dollar before a parenthesis escapes it.", in: "$$$(date)", want: "$$(date)"},
		"NoLabel":     {reason: "The owner of the cluster must know the key.", in: "$(cluster.labels['zone'])", err: `cluster team-a/one has no label "zone", which template.f requires: set it, or change the template`},
		"NoNote":      {reason: "The message distinguishes annotations from labels.", in: "$(cluster.annotations['zone'])", err: `has no annotation "zone"`},
		"Unknown":     {reason: "A mistake must not become a value.", in: "$(cluster.uid)", err: `template.f: unknown parameter "cluster.uid"`},
		"NoQuotes":    {reason: "Keys are quoted.", in: "$(cluster.labels[zone])", err: "unknown parameter"},
		"EmptyKey":    {reason: "A key has characters.", in: "$(cluster.labels[''])", err: "unknown parameter"},
		"Unclosed":    {reason: "A parameter has an end.", in: "$(cluster.name", err: "no closing parenthesis"},
		"LongUnknown": {reason: "A message does not repeat a long text.", in: "$(" + strings.Repeat("x", 5000) + ")", err: `"` + strings.Repeat("x", 100) + `"`},
		"TooMuch":     {reason: "A template with many parameters must not fill the memory.", in: strings.Repeat("$(cluster.namespace)", MaxInserted/6+1), err: "insert more than 65536 bytes"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := (&expander{cluster: newCluster()}).expand("f", tc.in)
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && (!strings.Contains(err.Error(), tc.err) || len(err.Error()) > 400) {
				t.Errorf("%s\nexpand(...): want %q and error %q, got %q, %v", tc.reason, tc.want, tc.err, got, err)
			}
		})
	}
}

// TestDesiredKyma checks which fields of a template have parameters.
func TestDesiredKyma(t *testing.T) {
	cases := map[string]struct {
		reason string
		edit   func(*v1alpha1.KymaSet)
		want   string
		err    string
	}{
		"Plain": {
			reason: "The Kyma has the name of its cluster, and the marks of the KymaSet.", edit: func(*v1alpha1.KymaSet) {},
			want: `{"metadata":{"annotations":{"kyma.m.crossplane.io/kyma-set-uid":"uid"},"labels":{"kyma.m.crossplane.io/kyma-set":"fleet"},"name":"one","namespace":"team-a"},` +
				`"spec":{"forProvider":{"channel":"regular"},"providerConfigRef":{"kind":"ProviderConfig","name":"one"}}}`,
		},
		"Everywhere": {
			reason: "Labels, annotations, the channel and all strings in values have parameters, and keys do not.",
			edit: func(s *v1alpha1.KymaSet) {
				withModule(`{"n":1.50,"$(x)":[{"deep":"$(cluster.name)"},"\u0024(cluster.namespace)"]}`)(s)
				s.Spec.Template.Metadata.Labels = map[string]string{"ring": "$(cluster.labels['ring'])"}
				s.Spec.Template.Metadata.Annotations = map[string]string{"from": "$(cluster.name)"}
				s.Spec.Template.Spec.ForProvider.Channel = "$(cluster.labels['ring'])"
				s.Spec.Template.Spec.ForProvider.Modules[0].Installs = []v1alpha1.ModuleInstall{{Name: "i", Values: &runtime.RawExtension{Raw: []byte(`{"a":"$(cluster.name)"}`)}}}
			},
			want: `{"metadata":{"annotations":{"from":"one","kyma.m.crossplane.io/kyma-set-uid":"uid"},"labels":{"kyma.m.crossplane.io/kyma-set":"fleet","ring":"fast"},"name":"one","namespace":"team-a"},` +
				`"spec":{"forProvider":{"channel":"fast","modules":[{"installs":[{"name":"i","values":{"a":"one"}}],"name":"a","values":{"$(x)":[{"deep":"one"},"team-a"],"n":1.5}}]},"providerConfigRef":{"kind":"ProviderConfig","name":"one"}}}`,
		},
		"Marks": {
			reason: "A template cannot replace the marks.",
			edit: func(s *v1alpha1.KymaSet) {
				s.Spec.Template.Metadata.Labels = map[string]string{v1alpha1.LabelKymaSet: "other"}
				s.Spec.Template.Metadata.Annotations = map[string]string{v1alpha1.AnnotationKymaSetUID: "other"}
			},
			want: `{"metadata":{"annotations":{"kyma.m.crossplane.io/kyma-set-uid":"uid"},"labels":{"kyma.m.crossplane.io/kyma-set":"fleet"},"name":"one","namespace":"team-a"},` +
				`"spec":{"forProvider":{"channel":"regular"},"providerConfigRef":{"kind":"ProviderConfig","name":"one"}}}`,
		},
		"BadChannel": {
			reason: "The API server would refuse the channel with a message that does not name its origin.",
			edit:   func(s *v1alpha1.KymaSet) { s.Spec.Template.Spec.ForProvider.Channel = "No $(cluster.name)" },
			err:    `template.spec.forProvider.channel: "No one" of cluster team-a/one is not a valid name of a channel`,
		},
		"BadLabel": {
			reason: "An annotation can have any text, and a label cannot.",
			edit: func(s *v1alpha1.KymaSet) {
				s.Spec.Template.Metadata.Labels = map[string]string{"note": "$(cluster.annotations['note'])"}
			},
			err: `template.metadata.labels["note"]: "a $(b) c" of cluster team-a/one is not a valid value of a label`,
		},
		"MissingInValues": {
			reason: "The message names the module.", edit: withModule(`{"a":{"b":"$(cluster.labels['zone'])"}}`),
			err: `has no label "zone", which template.spec.forProvider.modules[a].values requires`,
		},
		"NoJSON": {reason: "Values are JSON.", edit: withModule(`{"$(a":`), err: "template.spec.forProvider.modules[a].values is not valid JSON"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set := newSet(tc.edit)
			before := set.DeepCopy()
			k, err := DesiredKyma(set, newCluster())
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s\nDesiredKyma(...): want error %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, jsonOf(t, k)); diff != "" {
				t.Errorf("%s\nDesiredKyma(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, set); diff != "" {
				t.Errorf("DesiredKyma(...) changed the KymaSet, which the cache owns:\n%s", diff)
			}
		})
	}
}

func jsonOf(t *testing.T, k *v1alpha1.Kyma) string {
	t.Helper()
	m, err := encode(k)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTemplateFields checks that a template has the same fields as a Kyma.
func TestTemplateFields(t *testing.T) {
	names := func(v any) map[string]string {
		out := map[string]string{}
		for f := range reflect.TypeOf(v).Fields() {
			out[f.Tag.Get("json")] = f.Type.String()
		}
		return out
	}
	if diff := cmp.Diff(names(v1alpha1.KymaParameters{}), names(v1alpha1.KymaTemplateParameters{})); diff != "" {
		t.Errorf("fields of Kyma, and of the template of a KymaSet: -want, +got:\n%s", diff)
	}
}

func TestDesiredConfig(t *testing.T) {
	got := DesiredConfig(newSet(), newCluster())
	if got.Name != "one" || got.Labels["ring"] != "fast" || got.Labels[v1alpha1.LabelKymaSet] != "fleet" || got.Annotations["note"] != "" {
		t.Errorf("DesiredConfig(...): want the name and the labels of the Cluster, got %v", got.ObjectMeta)
	}
	want := &v1alpha1.SecretKeySelector{Name: "one-kubeconfig", Key: "value"}
	if diff := cmp.Diff(want, got.Spec.Credentials.SecretRef); diff != "" {
		t.Errorf("DesiredConfig(...): the Secret of Cluster API: -want, +got:\n%s", diff)
	}
}

// FuzzDesiredKyma checks that no template, and no metadata of a cluster, costs more than its size allows.
func FuzzDesiredKyma(f *testing.F) {
	f.Add(`{"a":"$(cluster.name)"}`, "$(cluster.labels['ring'])", "fast")
	f.Add(`{"$(":["$$(x)","\u0024(cluster.namespace)"]}`, "$(cluster.annotations['note'])", strings.Repeat("y", 200))
	f.Add(strings.Repeat(`[`, 200), strings.Repeat("$(cluster.annotations['note'])", 20), "z")
	f.Fuzz(func(t *testing.T, values, text, value string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 4 << 20, PerByte: 4 << 10}, len(values)+len(text)+len(value))()
		set := newSet(withModule(values))
		set.Spec.Template.Metadata.Annotations = map[string]string{"text": text}
		c := newCluster()
		c.Labels["ring"], c.Annotations["note"] = value, value
		k, err := DesiredKyma(set, c)
		if err != nil {
			return
		}
		if n := len(k.Annotations["text"]) + len(k.Spec.ForProvider.Modules[0].Values.Raw); n > 12*(len(values)+len(text))+6*MaxInserted {
			t.Errorf("want a bounded Kyma, got %d bytes of %d", n, len(values)+len(text))
		}
	})
}
