// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
)

// An apply is a server-side apply of spec.forProvider by a field manager.
type apply struct {
	manager     string
	forProvider string
	force       bool
}

// TestAppliers checks which parts of spec.forProvider several field managers can own: entries of the lists of a Kyma, but only the
// whole of a Manifest, because the order of its installs matters, and because a Kyma that applies it owns all of it.
func TestAppliers(t *testing.T) {
	const (
		a    = "installs: [{name: a, source: {type: raw, inline: 'kind: ConfigMap'}}]"
		b    = "installs: [{name: b, source: {type: raw, inline: 'kind: Secret'}}]"
		both = "installs: [{name: b, source: {type: raw, inline: 'kind: Secret'}}, {name: a, source: {type: raw, inline: 'kind: ConfigMap'}}]"
	)
	cases := map[string]struct {
		reason  string
		kind    string
		applies []apply
		// conflict is the conflict of the last apply, or empty if it has none.
		conflict string
		// want contains fields of the object afterwards. A field with the value nil must not exist.
		want map[string]any
	}{
		"InstallsOfTwo": {
			reason: "The order of the installs of two managers would not be defined.", kind: "Manifest",
			applies:  []apply{{manager: "one", forProvider: a}, {manager: "two", forProvider: b}},
			conflict: `conflict with "one": .spec.forProvider`,
			want:     map[string]any{"spec.forProvider.installs[0].name": "a", "spec.forProvider.installs[1]": nil},
		},
		"InstallsForced": {
			reason: "A manager that takes over the list gets all of it.", kind: "Manifest",
			applies: []apply{{manager: "one", forProvider: a}, {manager: "two", forProvider: b, force: true}},
			want:    map[string]any{"spec.forProvider.installs[0].name": "b", "spec.forProvider.installs[1]": nil},
		},
		"InstallsOrdered": {
			reason: "The list has the order of the last apply.", kind: "Manifest",
			applies: []apply{{manager: "one", forProvider: a}, {manager: "one", forProvider: both}},
			want:    map[string]any{"spec.forProvider.installs[0].name": "b", "spec.forProvider.installs[1].name": "a"},
		},
		"OtherFieldOfManifest": {
			reason: "No other manager can add a field, which the Kyma would not know of.", kind: "Manifest",
			applies:  []apply{{manager: "one", forProvider: a}, {manager: "two", forProvider: a + "\nversion: 1.0.0"}},
			conflict: `conflict with "one": .spec.forProvider`,
			want:     map[string]any{"spec.forProvider.version": nil},
		},
		"FieldLeftOut": {
			reason: "A field that the manager does not apply anymore is removed, regardless of who set it.", kind: "Manifest",
			applies: []apply{{manager: "one", forProvider: a + "\nversion: 1.0.0"}, {manager: "two", forProvider: b, force: true}},
			want:    map[string]any{"spec.forProvider.version": nil},
		},
		"ModulesOfTwo": {
			reason: "Each manager enables its own modules.", kind: "Kyma",
			applies: []apply{{manager: "one", forProvider: "modules: [{name: a}]"}, {manager: "two", forProvider: "modules: [{name: b}]"}},
			want:    map[string]any{"spec.forProvider.modules[0].name": "a", "spec.forProvider.modules[1].name": "b"},
		},
		"ModuleDisabled": {
			reason: "Each manager disables only its own modules.", kind: "Kyma",
			applies: []apply{
				{manager: "one", forProvider: "modules: [{name: a}]"}, {manager: "two", forProvider: "modules: [{name: b}]"},
				{manager: "one", forProvider: "channel: fast"},
			},
			want: map[string]any{"spec.forProvider.modules[0].name": "b", "spec.forProvider.modules[1]": nil, "spec.forProvider.channel": "fast"},
		},
		"InstallsOfModule": {
			reason: "The values of the installs of a module have no order.", kind: "Kyma",
			applies: []apply{
				{manager: "one", forProvider: "modules: [{name: a, installs: [{name: left, values: {p: 1}}]}]"},
				{manager: "two", forProvider: "modules: [{name: a, installs: [{name: right, values: {q: 2}}]}]"},
			},
			want: map[string]any{
				"spec.forProvider.modules[0].installs[0]": map[string]any{"name": "left", "values": map[string]any{"p": int64(1)}},
				"spec.forProvider.modules[0].installs[1]": map[string]any{"name": "right", "values": map[string]any{"q": int64(2)}},
			},
		},
		"FieldsOfTwo": {
			reason: "One manager chooses the channel, and another one the modules.", kind: "Kyma",
			applies: []apply{{manager: "one", forProvider: "channel: fast"}, {manager: "two", forProvider: "modules: [{name: b}]"}},
			want:    map[string]any{"spec.forProvider.modules[0].name": "b", "spec.forProvider.channel": "fast"},
		},
		"SameField": {
			reason: "Two managers cannot choose different channels.", kind: "Kyma",
			applies:  []apply{{manager: "one", forProvider: "channel: fast"}, {manager: "two", forProvider: "channel: slow"}},
			conflict: `conflict with "one": .spec.forProvider.channel`,
			want:     map[string]any{"spec.forProvider.channel": "fast"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			object := "applied-" + strings.ToLower(name)
			t.Cleanup(func() {
				if err := of(tc.kind).Delete(context.Background(), object, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			})
			for i, step := range tc.applies {
				got := ""
				if err := applyAs(t, tc.kind, object, step); err != nil {
					got = err.Error()
				}
				want := ""
				if i == len(tc.applies)-1 {
					want = tc.conflict
				}
				if got == "" != (want == "") || !strings.HasSuffix(got, want) {
					t.Fatalf("\n%s\napply %d: want conflict %q, got %q", tc.reason, i, want, got)
				}
			}
			o, err := of(tc.kind).Get(t.Context(), object, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]any{}
			for path := range tc.want {
				if got[path], err = fieldpath.Pave(o.Object).GetValue(path); err != nil && !fieldpath.IsNotFound(err) {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want fields, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// applyAs applies spec.forProvider of an object as a field manager.
func applyAs(t *testing.T, kind, name string, a apply) error {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/" + version, "kind": kind}}
	o.SetName(name)
	forProvider := map[string]any{}
	if err := yaml.Unmarshal([]byte(a.forProvider), &forProvider); err != nil {
		t.Fatal(err)
	}
	o.Object["spec"] = map[string]any{
		"providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": "c"},
		"forProvider":       forProvider,
	}
	_, err := of(kind).Apply(t.Context(), name, o, metav1.ApplyOptions{FieldManager: a.manager, Force: a.force})
	return err
}
