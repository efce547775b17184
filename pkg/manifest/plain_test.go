// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// plainOf returns an install of plain objects from documents, in namespace apps.
func plainOf(name string, documents ...string) Install {
	return Install{
		Layer: layerOf([]source.File{{Name: "all.yaml", Data: []byte(strings.Join(documents, "---\n"))}, {Name: "README.md", Data: []byte("no: {yaml")}}),
		Name:  name, Form: FormPlain, Namespace: "apps",
	}
}

// TestDigestsStay checks that bundles that an earlier version installed are not applied again.
func TestDigestsStay(t *testing.T) {
	s := bundleOf(Install{Name: "web", Namespace: "apps", Values: map[string]any{"a": "b"}, Layer: source.Layer{Digest: "oci-ref sha256:1"}})
	s.CRDs = &source.Layer{Digest: "crds x"}
	s.Resource = manifestOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}")
	want := map[object.PartID]string{
		object.PartCRDs: "f060a5c46932a4ec796f3c9ad2527206", "web": "9a9dbe262ca84f9787595111b05e31e8", object.PartResource: "6feee50b74e4e7a4fa0952741ab30d61",
	}
	got := func() map[object.PartID]string {
		t.Helper()
		parts, err := s.Parts()
		if err != nil {
			t.Fatal(err)
		}
		out := map[object.PartID]string{}
		for _, p := range parts {
			out[p.Name] = p.Digest
		}
		return out
	}
	if diff := cmp.Diff(want, got()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	s.Config = &source.Layer{Digest: "config x"}
	with := got()
	if with["web"] == want["web"] || with[object.PartCRDs] != want[object.PartCRDs] || with[object.PartResource] != want[object.PartResource] {
		t.Errorf("a config changes installs, and nothing else: %v", with)
	}
	s.Config.Digest = "config y"
	if got()["web"] == with["web"] {
		t.Error("another config must be applied")
	}
}

func TestPlainCountsRequests(t *testing.T) {
	b := newBench(t)
	for _, n := range []string{"apps", DefaultNamespace} {
		b.s.put(manifestOf(t, namespaceOf(n)).Object)
	}
	s := bundleOf(plainOf("raw", configMap("one"), "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: ServiceAccount, metadata: {name: two}}\n", tmplDeploy))
	r := b.apply(s)
	if got := b.s.took(); len(got) != 5 {
		t.Errorf("plain objects must take 2 requests more than there are objects, got %q", got)
	}
	if r.Created != 3 || !slices.Equal(r.Installed, []string{"raw"}) {
		t.Errorf("result: %+v", r)
	}
	want := observe.Observation{Exists: true, UpToDate: true, State: Ready, Ready: 3, Total: 3, Parts: []observe.PartState{{Install: "raw", Phase: observe.PhaseReady, State: Ready}}}
	if diff := cmp.Diff(want, b.observe(s)); diff != "" {
		t.Errorf("observation: -want, +got:\n%s", diff)
	}
	keys := []string{"ConfigMap apps/one", "Deployment apps/web", "Namespace apps", "Secret kyma-system/team-a-web", "ServiceAccount apps/two"}
	if diff := cmp.Diff(keys, b.s.keys()); diff != "" {
		t.Errorf("there must be no Helm release: -want, +got:\n%s", diff)
	}
	if l := b.s.objects[key("ConfigMap", "apps", "one")].u(); l.GetLabels()[object.LabelHelmManagedBy] != "" || l.GetAnnotations()[object.AnnotationReleaseName] != "" {
		t.Errorf("no object must look like one of Helm: %v", l.Object["metadata"])
	}
	b.apply(s)
	if got := b.s.took(); got != nil {
		t.Errorf("at rest there must be no requests, got %q", got)
	}
	b.s.edit(key("ConfigMap", "apps", "one"), func(u *unstructured.Unstructured) { u.Object["data"] = map[string]any{"k": "x"} })
	if r := b.apply(s); len(r.Repaired) != 1 || len(r.Installed) != 0 {
		t.Errorf("drift must be repaired, and nothing else: %+v", r)
	}
	b.s.took()
	if r := b.take(s); !r.Gone {
		t.Fatalf("removal: %+v", r)
	}
	for _, l := range b.s.took() {
		if strings.Contains(l, "Secret apps/") {
			t.Errorf("there is no release to delete: %s", l)
		}
	}
}

func TestPlainRefusals(t *testing.T) {
	cases := map[string]struct {
		reason string
		raw    Install
		want   string
	}{
		"Values": {reason: "Plain objects have no values.", raw: func() Install {
			in := plainOf("raw", configMap("a"))
			in.Values = map[string]any{"a": "b"}
			return in
		}(), want: "raw: values are only supported for charts, but this install is plain objects; remove them"},
		"Nothing":  {reason: "An install without objects is hardly intended.", raw: plainOf("raw", "# nothing\n"), want: "raw: no objects found"},
		"NoObject": {reason: "The error must name file, document and field.", raw: plainOf("raw", configMap("a"), "kind: ConfigMap\n"), want: "raw: all.yaml: document 2 (line 6): apiVersion is missing or not a string"},
		"Twice":    {reason: "Of two equal objects, a random one would be applied.", raw: plainOf("raw", configMap("a"), configMap("a")), want: "raw: duplicate object ConfigMap apps/a"},
		"NoKind":   {reason: "The error must name the kind.", raw: plainOf("raw", "apiVersion: example.org/v1\nkind: Gadget\nmetadata: {name: a}\n"), want: "raw: Gadget a: the cluster does not serve kind Gadget in example.org/v1"},
		"Form":     {reason: "An unknown form is an error of the caller.", raw: func() Install { in := plainOf("raw", configMap("a")); in.Form = "x"; return in }(), want: `install "raw": unknown form "x"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(tc.raw, install("good", configMap("good")))
			_, err := b.Apply(t.Context(), b.c, s)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if name != "Form" && b.s.uidOf(key("ConfigMap", "apps", "good")) == "" {
				t.Errorf("\n%s\nthe other install must continue", tc.reason)
			}
		})
	}
}

// TestForm changes the form of an install under the same name, with and without interruptions.
func TestForm(t *testing.T) {
	chart := func() *Bundle { return bundleOf(install("web", configMap("both"), configMap("chart"))) }
	raw := func() *Bundle { return bundleOf(plainOf("web", configMap("both"), configMap("raw"))) }
	const parent, release = "Secret kyma-system/team-a-web", "Secret apps/sh.helm.release.v1.web.v"
	cases := map[string]struct {
		reason  string
		bundles []*Bundle
		want    []string
		parts   inventory.Part
	}{
		"ToPlain": {
			reason:  "The release ends, with all its revisions.",
			bundles: []*Bundle{chart(), func() *Bundle { s := chart(); s.Installs[0].Values = map[string]any{"a": "b"}; return s }(), raw()},
			want:    []string{"ConfigMap apps/both", "ConfigMap apps/raw", parent},
		},
		"ToChart": {
			reason:  "A release begins.",
			bundles: []*Bundle{raw(), chart()},
			want:    []string{"ConfigMap apps/both", "ConfigMap apps/chart", release + "1", parent},
			parts:   inventory.Part{Namespace: "apps", Chart: "web", Version: "1.0.0", Revision: 1},
		},
		"AndBack": {
			reason:  "A release that ended starts again.",
			bundles: []*Bundle{chart(), raw(), chart()},
			want:    []string{"ConfigMap apps/both", "ConfigMap apps/chart", release + "1", parent},
			parts:   inventory.Part{Namespace: "apps", Chart: "web", Version: "1.0.0", Revision: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for _, s := range tc.bundles {
				uid := b.s.uidOf(key("ConfigMap", "apps", "both"))
				b.reconcile(s)
				if got := b.s.uidOf(key("ConfigMap", "apps", "both")); uid != "" && got != uid {
					t.Errorf("\n%s\nConfigMap both was recreated", tc.reason)
				}
			}
			last := tc.bundles[len(tc.bundles)-1]
			got := slices.DeleteFunc(b.s.keys(), func(k string) bool { return k == "Namespace apps" })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ncluster: -want, +got:\n%s", tc.reason, diff)
			}
			rec := b.inventory(last).Parts["web"]
			rec.Invalidate()
			if diff := cmp.Diff(tc.parts, rec); diff != "" {
				t.Errorf("\n%s\nrecord: -want, +got:\n%s", tc.reason, diff)
			}
			if name := b.s.objects[key("ConfigMap", "apps", "both")].u().GetAnnotations()[object.AnnotationReleaseName]; (name == "web") != (tc.parts.Revision > 0) {
				t.Errorf("\n%s\nannotation of the release: %q", tc.reason, name)
			}
			b.restart()
			if o := b.observe(last); !o.UpToDate || o.State != Ready {
				t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
			}
			if r := b.take(last); !r.Gone {
				t.Fatalf("\n%s\nremoval: %+v", tc.reason, r)
			}
			if left := slices.DeleteFunc(b.s.keys(), func(k string) bool { return k == "Namespace apps" }); len(left) != 0 {
				t.Errorf("\n%s\nleft after removal: %q", tc.reason, left)
			}
		})
	}
}

// TestFormHalfWay returns to the chart after the change to plain objects failed halfway: the history must continue.
func TestFormHalfWay(t *testing.T) {
	b := newBench(t)
	chart := bundleOf(install("web", tmplConfig, tmplDeploy))
	b.reconcile(chart)
	b.s.fault = forbid("Deployment")
	raw := bundleOf(plainOf("web", strings.ReplaceAll(strings.ReplaceAll(tmplConfig, "{{ .Values.greeting }}", "raw"), "{{ .Release.Revision }}", "0"), tmplDeploy))
	if _, err := b.Apply(t.Context(), b.c, raw); err == nil {
		t.Fatal("the change must fail")
	}
	b.s.fault = nil
	b.restart()
	b.reconcile(chart)
	if got := b.s.objects[key("ConfigMap", "apps", "web")].content["data"].(map[string]any)["greeting"]; got != "hello" {
		t.Errorf("greeting after the way back: want hello, got %v", got)
	}
	rec := b.inventory(chart).Parts["web"]
	rec.Invalidate()
	want := inventory.Part{Namespace: "apps", Chart: "web", Version: "1.0.0", Revision: 1}
	if diff := cmp.Diff(want, rec); diff != "" {
		t.Errorf("record: -want, +got:\n%s", diff)
	}
	if r := b.take(chart); !r.Gone {
		t.Fatalf("removal: %+v", r)
	}
	if left := slices.DeleteFunc(b.s.keys(), func(k string) bool { return k == "Namespace apps" }); len(left) != 0 {
		t.Errorf("left after removal: %q", left)
	}
}
