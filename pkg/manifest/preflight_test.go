// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// crdWith returns a CRD with a schema for the spec of Widgets in v1, and more versions.
func crdWith(spec string, versions ...string) string {
	v := append([]string{fmt.Sprintf(`{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: %s}}}}`, spec)}, versions...)
	return strings.Replace(tmplCRD, "[{name: v1, served: true, storage: true}]", "["+strings.Join(v, ", ")+"]", 1)
}

const (
	anySize  = "{type: object, properties: {size: {type: integer}}}"
	bigSize  = `{type: object, properties: {size: {type: integer, minimum: 3}}}`
	sameSize = `{type: object, description: in other words, properties: {size: {type: integer, description: how large}}}`
)

func widgetNamed(t testing.TB, name string) map[string]any {
	t.Helper()
	return manifestOf(t, strings.ReplaceAll(fmt.Sprintf(tmplWidget, name), "name: "+name, "namespace: default, name: "+name)).Object
}

func TestPreflight(t *testing.T) {
	crdsOf := func(text string) *Bundle {
		s := bundleOf(install("web", configMap("one")))
		l := layerOf([]source.File{{Name: "widgets.yaml", Data: []byte(text)}})
		s.CRDs = &l
		return s
	}
	inChart := func(text string) *Bundle {
		return bundleOf(install("web", "crds/"+text, configMap("one")), install("extra", configMap("two")))
	}
	upgrade := func(s *Bundle) *Bundle {
		for i := range s.Installs {
			in := install(s.Installs[i].Name, configMap("new-"+s.Installs[i].Name))
			if i == 0 && s.CRDs == nil {
				continue
			}
			s.Installs[i] = in
		}
		return s
	}
	cases := map[string]struct {
		reason  string
		of      func(text string) *Bundle
		was, is string
		// stored are the versions in the status of the CRD in which objects are stored.
		stored []any
		want   []string // Parts of the message; empty for success.
		news   []string // ConfigMaps of the new version that exist in the end.
	}{
		"Same": {
			reason: "A new description does not make an object invalid.", of: crdsOf, was: anySize, is: sameSize, news: []string{"new-web"},
		},
		"Invalid": {
			reason: "The error names objects that would be invalid, and no install is applied.", of: crdsOf, was: anySize, is: bigSize,
			want: []string{"crds: CustomResourceDefinition widgets.example.org: 6 of 7 objects would be invalid under version v1 of the new CRD: " +
				"Widget default/w0 (spec.size: invalid value: spec.size in body should be greater than or equal to 3), ", "w4", " and 1 more; fix these objects first"},
		},
		"OfAChart": {
			reason: "If objects would be invalid under a CRD of a chart, other installs are not applied either.", of: inChart, was: anySize, is: bigSize,
			want: []string{"web: CustomResourceDefinition widgets.example.org: 6 of 7 objects would be invalid"},
		},
		"Stored": {
			reason: "A version in which objects are stored must stay.", of: crdsOf, was: anySize, is: anySize, stored: []any{"v1", "v1beta1"},
			want: []string{"crds: CustomResourceDefinition widgets.example.org: objects might be stored in version v1beta1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(tc.of(crdWith(tc.was)))
			for i := range 6 {
				b.s.put(widgetNamed(t, fmt.Sprintf("w%d", i)))
			}
			big := widgetNamed(t, "x-big")
			big["spec"].(map[string]any)["size"] = int64(5)
			b.s.put(big)
			crd := key("CustomResourceDefinition", "", "widgets.example.org")
			if tc.stored != nil {
				o := b.s.objects[crd].content["status"].(map[string]any)
				o["storedVersions"] = tc.stored
			}
			// A label is a change, too.
			text := strings.Replace(crdWith(tc.is), "metadata: {", "metadata: {labels: {new: yes-it-is}, ", 1)
			s := upgrade(tc.of(text))
			p, perr := b.Plan(t.Context(), b.c, s)
			_, err := b.Apply(t.Context(), b.c, s)
			for _, w := range tc.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("\n%s\nerror %v, want %q", tc.reason, err, w)
				}
				if perr != nil || len(p.Problems) != 1 || !strings.Contains(p.Problems[0], w) || len(p.Changes) > 0 {
					t.Errorf("\n%s\nplan %+v, %v, want %q", tc.reason, p, perr, w)
				}
			}
			if len(tc.want) == 0 && err != nil {
				t.Errorf("\n%s\nerror: %v", tc.reason, err)
			}
			var news []string
			for _, k := range b.s.keys() {
				if n, ok := strings.CutPrefix(k, "ConfigMap apps/"); ok && strings.HasPrefix(n, "new-") {
					news = append(news, n)
				}
			}
			if diff := cmp.Diff(tc.news, news); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if _, changed := b.s.objects[crd].u().GetLabels()["new"]; changed == (len(tc.want) > 0) {
				t.Errorf("\n%s\nthe CRD changed: %v", tc.reason, changed)
			}
			if o := b.observe(s); len(tc.want) > 0 && (o.State != Error || o.UpToDate) {
				t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
			}
		})
	}
}

// A refused change is applied once the objects are changed.
func TestPreflightHeals(t *testing.T) {
	b := newBench(t)
	b.reconcile(bundleOf(install("web", "crds/"+crdWith(anySize))))
	k := b.s.put(widgetNamed(t, "small"))
	s := bundleOf(install("web", "crds/"+crdWith(bigSize)))
	if _, err := b.Apply(t.Context(), b.c, s); err == nil {
		t.Fatal("it must be refused")
	}
	b.s.edit(k, func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["size"] = int64(4) })
	b.reconcile(s)
	if o := b.observe(s); o.State != Ready {
		t.Errorf("observation: %+v", o)
	}
}

// A CRD that another client changed is not restored if objects would be invalid then. Everything else is restored.
func TestPreflightOfRepair(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", "crds/"+crdWith(bigSize), configMap("one")))
	b.reconcile(s)
	crd, config := key("CustomResourceDefinition", "", "widgets.example.org"), key("ConfigMap", "apps", "one")
	versions := func(text string) any {
		return manifestOf(t, text).Object["spec"].(map[string]any)["versions"]
	}
	b.s.edit(crd, set(versions(crdWith(anySize)), "spec", "versions"))
	small := b.s.put(widgetNamed(t, "small"))
	b.s.remove(config)
	const want = "web: CustomResourceDefinition widgets.example.org: drift is not repaired: 1 of 1 objects would be invalid " +
		"under version v1 of the new CRD: Widget default/small (spec.size: invalid value: spec.size in body should be greater than or equal to 3); fix these objects first"

	p, err := b.Plan(t.Context(), b.c, s)
	if diff := cmp.Diff([]string{want}, p.Problems); diff != "" || err != nil {
		t.Errorf("plan: %v, -want, +got:\n%s", err, diff)
	}
	for range 2 {
		if _, err := b.Apply(t.Context(), b.c, s); err == nil || err.Error() != want {
			t.Errorf("error: want %s\ngot %v", want, err)
		}
		b.restart()
	}
	if _, err := b.Apply(t.Context(), b.c, s); err == nil {
		t.Error("it must be refused")
	}
	if b.s.uidOf(config) == "" {
		t.Error("what else differs must be repaired")
	}
	if o := b.observe(s); o.State != Error || o.Message != want || o.UpToDate {
		t.Errorf("observation: %+v", o)
	}

	b.s.edit(small, set(int64(4), "spec", "size"))
	b.reconcile(s)
	if o := b.observe(s); o.State != Ready || !strings.Contains(fmt.Sprint(b.s.objects[crd].content["spec"]), "minimum:3") {
		t.Errorf("in the end: %+v", o)
	}
}

// A kept CRD is checked when the bundle contains it again.
func TestPreflightOfKept(t *testing.T) {
	b := newBench(t)
	of := func(spec string) *Bundle {
		return bundleOf(install("web", "crds/"+kept(crdWith(spec)), configMap("one")))
	}
	b.reconcile(of(anySize))
	b.s.put(widgetNamed(t, "small"))
	if r := b.take(of(anySize)); !r.Gone {
		t.Fatalf("removal: %+v", r)
	}
	_, err := b.Apply(t.Context(), b.c, of(bigSize))
	if err == nil || !strings.Contains(err.Error(), "1 of 1 objects would be invalid") || b.s.uidOf(key("ConfigMap", "apps", "one")) != "" {
		t.Errorf("error: %v", err)
	}
	b.reconcile(of(sameSize))
}

// If no CRD changes, the check sends no requests.
func TestPreflightIsFree(t *testing.T) {
	b := newBench(t)
	in := func(v string) *Bundle {
		return bundleOf(install("web", "crds/"+crdWith(anySize), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+v+"}\n"))
	}
	asked := func() []string {
		return slices.DeleteFunc(b.s.took(), func(r string) bool {
			return !strings.Contains(r, "CustomResourceDefinition") && !strings.Contains(r, "Widget")
		})
	}
	b.reconcile(in("one"))
	if diff := cmp.Diff([]string{"patch CustomResourceDefinition widgets.example.org"}, asked()); diff != "" {
		t.Errorf("install: -want, +got:\n%s", diff)
	}
	b.reconcile(in("two"))
	if got := asked(); len(got) > 0 {
		t.Errorf("upgrade: %q", got)
	}
}
