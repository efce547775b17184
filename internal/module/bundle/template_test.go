// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// TestTemplate checks that the controller can read the written template.
func TestTemplate(t *testing.T) {
	r := startRegistry(t)
	pushed := push(t, r, moduleOf("1.0.0"))
	hashed := moduleOf("2.0.0")
	hashed.Mapping = ocm.SHA256Digest
	pushedHashed := push(t, r, hashed)
	layout := layoutOf(t, "greeter", pushed)
	component := &v1alpha1.Component{Repository: r.Host() + "/modules", Name: greeter, Version: "1.0.0", NameMapping: "urlPath"}
	cases := map[string]struct {
		reason    string
		reference string
		location  ocm.Location
		channel   string
		inline    bool
		name      string
		component *v1alpha1.Component
	}{
		"Component": {reason: "The channel is that of the module.", reference: pushed.Repository + ":1.0.0", name: "greeter-fast", component: component},
		"Digest":    {reason: "A digest leads to the version.", reference: pushed.Repository + "@" + pushed.Digest, name: "greeter-fast", component: component},
		"Channel":   {reason: "A channel can be chosen.", reference: pushed.Repository + ":1.0.0", channel: "regular", name: "greeter-regular", component: component},
		"Inline":    {reason: "A descriptor holds its location.", reference: pushed.Repository + ":1.0.0", inline: true, name: "greeter-fast"},
		"Hashed": {
			reason: "The mapping of the component name is kept.", reference: pushedHashed.Repository + ":2.0.0", name: "greeter-fast",
			component: &v1alpha1.Component{Repository: r.Host() + "/modules", Name: greeter, Version: "2.0.0", NameMapping: "sha256-digest"},
		},
		"HashedInline": {reason: "The mapping is also kept in an inline descriptor.", reference: pushedHashed.Repository + ":2.0.0", inline: true, name: "greeter-fast"},
		"Layout": {
			reason: "The descriptor of a layout has the given location.", reference: layout,
			location: ocm.Location{BaseURL: r.Host() + "/modules"}, name: "greeter-fast", component: component,
		},
		"LayoutInline": {reason: "An inline descriptor also has the given location.", reference: layout, location: ocm.Location{BaseURL: r.Host() + "/modules"}, inline: true, name: "greeter-fast"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := open(t, tc.reference)
			if tc.location != (ocm.Location{}) {
				b.Location = tc.location
			}
			got, err := Template(t.Context(), b, tc.channel, tc.inline)
			if err != nil {
				t.Fatal(err)
			}
			if got.Name != tc.name || got.Labels["team"] != "greetings" || len(got.Spec.Readiness) != 1 || got.Kind != "ModuleTemplate" {
				t.Errorf("\n%s\ngot %s, %v, %v", tc.reason, got.Name, got.Labels, got.Spec.Readiness)
			}
			if diff := cmp.Diff(tc.component, got.Spec.Component); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if tc.inline == (got.Spec.Descriptor == nil) {
				t.Errorf("\n%s\ninline: want %t", tc.reason, tc.inline)
			}
			puller, err := pull.New()
			if err != nil {
				t.Fatal(err)
			}
			defer puller.Close()
			res, err := module.NewResolver(puller, archive.DefaultLimits()).Resolve(t.Context(), nil, got)
			if err != nil {
				t.Fatalf("\n%s\n%v", tc.reason, err)
			}
			if res.ModuleName != "greeter" || len(res.Resources) != 6 || res.Data == nil {
				t.Errorf("\n%s\ngot %s, %v, %s", tc.reason, res.ModuleName, res.Resources, res.Data)
			}
		})
	}
}

// TestTemplateRefuses checks templates that cannot be written.
func TestTemplateRefuses(t *testing.T) {
	r := startRegistry(t)
	pushed := push(t, r, moduleOf("1.0.0"))
	if _, err := Template(t.Context(), open(t, layoutOf(t, "greeter", pushed)), "", false); err == nil {
		t.Error("a layout is in no registry")
	}
	s, err := remote.New(pushed.Repository, nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := moduleOf("1.0.0")
	changed.Resources = changed.Resources[:1]
	other := push(t, r, changed)
	if _, err := store.Copy(t.Context(), s, pushed.Digest, s, store.CopyOptions{Tag: "latest"}); err != nil {
		t.Fatal(err)
	}
	_, err = Template(t.Context(), open(t, pushed.Repository+":latest"), "", false)
	if err == nil || !strings.Contains(err.Error(), other.Digest) {
		t.Errorf("the version leads to another module, got %v", err)
	}
	if _, err = Template(t.Context(), open(t, pushed.Repository+":latest"), "", true); err != nil {
		t.Errorf("inline is fine, got %v", err)
	}
}

// TestResolve checks that a module is resolved in the same way in a registry and in a layout, and that the placeholder for a
// layout is not shown.
func TestResolve(t *testing.T) {
	r := startRegistry(t)
	pushed := push(t, r, moduleOf("1.0.0"))
	for reference, repository := range map[string]string{
		pushed.Repository + ":1.0.0":   r.Host() + "/modules/component-descriptors",
		layoutOf(t, "greeter", pushed): nowhere + "/component-descriptors",
	} {
		b := open(t, reference)
		got, err := resolve(t.Context(), b.repositories())
		if err != nil {
			t.Fatal(err)
		}
		if got.Status.Digest != pushed.Digest || got.Status.Version != "1.0.0" || got.Status.Resources[0].Source.Repo != repository {
			t.Errorf("%s: got %+v", reference, got.Status)
		}
		installs, err := Installs(t.Context(), b)
		if err != nil || len(installs) == 0 {
			t.Fatalf("%s: got %d installs, %v", reference, len(installs), err)
		}
		data, err := json.Marshal(installs)
		if err != nil || strings.Contains(string(data), nowhere) {
			t.Errorf("%s: got %s", reference, data)
		}
	}
}

// TestReadSkeleton checks what a module can specify for its template.
func TestReadSkeleton(t *testing.T) {
	cases := map[string]struct {
		reason string
		layer  string
		want   v1alpha1.ModuleTemplateSpec
		meta   metav1.ObjectMeta
		err    string
	}{
		"Ours": {
			reason: "Fields that the provider knows are used.", layer: "apiVersion: kyma.m.crossplane.io/v1alpha1\nspec: {channel: fast, moduleName: x}",
			want: v1alpha1.ModuleTemplateSpec{Channel: "fast", ModuleName: "x"},
		},
		"Target": {
			reason: "A module cannot specify its target or its name.", layer: "spec: {channel: fast, target: control-plane, component: {name: a.org/b}}",
			want: v1alpha1.ModuleTemplateSpec{Channel: "fast"},
		},
		"Labels": {
			reason: "A module can set labels, among them its name.",
			layer:  "metadata: {name: web, namespace: team, labels: {a: b, operator.kyma-project.io/module-name: c}}",
			meta:   metav1.ObjectMeta{Labels: map[string]string{"a": "b", "operator.kyma-project.io/module-name": "c"}},
		},
		"Annotations": {
			reason: "A module cannot allow its own downgrade, or set any other annotation.",
			layer:  "metadata: {annotations: {kyma.m.crossplane.io/allow-downgrade: 1.0.0, crossplane.io/paused: \"true\", a: b}}",
		},
		"Owners": {
			reason: "A module cannot set other metadata.",
			layer:  "metadata: {finalizers: [a/b], ownerReferences: [{apiVersion: v1, kind: Pod, name: web, uid: one}]}",
		},
		"Original": {reason: "A template of the original is left alone.", layer: "apiVersion: operator.kyma-project.io/v1beta2\nspec: {channel: fast}"},
		"Empty":    {reason: "An empty document contains no fields.", layer: "{}"},
		"NoYAML":   {reason: "Invalid YAML is rejected.", layer: "a: b: c", err: "invalid YAML"},
		"NoObject": {reason: "A document that is not a ModuleTemplate is rejected.", layer: "[1]", err: "not a ModuleTemplate"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := readSkeleton([]byte(tc.layer))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("\n%s\nwant %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.meta, got.ObjectMeta); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got.Spec); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// FuzzLocate checks that no reference causes a panic or points to a layout that does not exist.
func FuzzLocate(f *testing.F) {
	for _, s := range []string{
		"reg.example.org/a/component-descriptors/example.org/x:1.0.0+b", "reg.example.org/a//example.org/x:1.0.0", "./x.tar:1.0.0",
		"C:\\x:1", "oci://h:5/a@sha256:00", "a//b//c:1", "u:p@h/a//b:1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(s))()
		at, err := locate(s)
		if err != nil {
			return
		}
		if (at.path == "") == (at.repository == "") {
			t.Errorf("%q is %+v: want either a path or a repository", s, at)
		}
		if at.repository != "" && at.tag == "" && at.digest == "" {
			t.Errorf("%q is %+v: want a tag or a digest", s, at)
		}
	})
}
