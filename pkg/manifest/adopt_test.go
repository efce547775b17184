// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// setOwners applies a JSON patch that replaces the managedFields of an object, if the object has not changed.
func (s *fakeServer) setOwners(kind fakeKind, k cluster.ObjectRef, body []byte) (int, any) {
	var ops []struct {
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	var fields []metav1.ManagedFieldsEntry
	var version string
	if json.Unmarshal(body, &ops) != nil || len(ops) != 2 || json.Unmarshal(ops[0].Value, &fields) != nil || json.Unmarshal(ops[1].Value, &version) != nil {
		return 0, refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "the patch is %s", body)
	}
	o := s.objects[k]
	if o == nil {
		return 0, notFound(kind.Resource, k.Name)
	}
	if o.u().GetResourceVersion() != version {
		return 0, refusal(http.StatusConflict, metav1.StatusReasonConflict, "the object has been modified")
	}
	o.owners = map[string]*fieldpath.Set{}
	for i := range fields {
		o.owners[fields[i].Manager+"/"+string(fields[i].Operation)] = fieldset.Of(fields[i].FieldsV1)
	}
	s.touch(o)
	return http.StatusOK, o.full()
}

// deploy creates an object in the same way as another deployer.
func (s *fakeServer) deploy(u *unstructured.Unstructured, manager string) cluster.ObjectRef {
	k := s.put(u.Object)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[k].owners[manager] = fieldsOf(u.Object)
	return k
}

func TestAdoptFields(t *testing.T) {
	const old = "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: apps, name: web, annotations: {%s}, finalizers: [example.org/mine]}\ndata: {greeting: old, dropped: x}\n"
	cases := map[string]struct {
		reason      string
		manager     string
		annotations string
		dropped     bool
	}{
		"Helm":       {reason: "The engine takes over the fields that Helm set.", manager: "helm/Update", dropped: true},
		"ClientSide": {reason: "The engine takes over the fields that kubectl apply set.", manager: "kubectl-client-side-apply/Update", dropped: true},
		"ServerSide": {reason: "The engine takes over the fields that kubectl apply --server-side set.", manager: "kubectl/Apply", dropped: true},
		"Original":   {reason: "The engine takes over the fields that the original set.", manager: "module-manager/Apply", dropped: true},
		"Embedded":   {reason: "A deployer with another name is recognized by what it sets.", manager: "installer/Update", annotations: "meta.helm.sh/release-name: web", dropped: true},
		"Controller": {reason: "Fields that a controller set remain its own.", manager: "tuner/Update"},
		"Person":     {reason: "Fields that a person set remain their own.", manager: "kubectl-edit/Update"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.s.put(manifestOf(t, namespaceOf("apps")).Object)
			u := manifestOf(t, strings.Replace(old, "%s", tc.annotations, 1))
			k := b.s.deploy(u, tc.manager)
			uid := b.s.uidOf(k)
			s := bundleOf(install("web", tmplConfig))
			s.Adopt = true
			b.reconcile(s)
			got := b.s.objects[k].u()
			_, there, _ := unstructured.NestedString(got.Object, "data", "dropped")
			if there == tc.dropped {
				t.Errorf("\n%s\ndata.dropped is there: %v", tc.reason, there)
			}
			if greeting, _, _ := unstructured.NestedString(got.Object, "data", "greeting"); greeting != "hello" || got.GetUID() != uid {
				t.Errorf("\n%s\nthe object must be changed in place: %q, %s", tc.reason, greeting, got.GetUID())
			}
			if diff := cmp.Diff([]string{"example.org/mine"}, got.GetFinalizers()); diff != "" {
				t.Errorf("\n%s\nfinalizers of others stay: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAdoptOnce(t *testing.T) {
	b := newBench(t)
	b.s.put(manifestOf(t, namespaceOf("apps")).Object)
	b.s.deploy(manifestOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: apps, name: a}\ndata: {k: old}\n"), "helm/Update")
	s := bundleOf(Install{Layer: layerOf([]source.File{{Name: "a.yaml", Data: []byte(configMap("a"))}}), Name: "plain", Form: FormPlain, Namespace: "apps"})
	s.Adopt = true
	b.s.took()
	b.apply(s)
	want := []string{"patch ConfigMap apps/a", "get ConfigMap apps/a", "patch ConfigMap apps/a", "patch ConfigMap apps/a"}
	got := slices.DeleteFunc(b.s.took(), func(l string) bool { return !strings.Contains(l, "ConfigMap") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an adoption costs one request more: -want, +got:\n%s", diff)
	}
	b.reconcile(s)
	b.s.took()
	b.reconcile(s)
	if got := b.s.took(); len(got) > 0 {
		t.Errorf("and nothing at rest: %v", got)
	}
}

func TestAdoptConflict(t *testing.T) {
	b := newBench(t)
	b.s.put(manifestOf(t, namespaceOf("apps")).Object)
	k := b.s.deploy(manifestOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: apps, name: a}\ndata: {k: old, dropped: x}\n"), "helm/Update")
	patches := 0
	b.s.fault = func(verb string, on cluster.ObjectRef) *metav1.Status {
		if verb == "patch" && on == k {
			if patches++; patches == 2 {
				b.s.touch(b.s.objects[k])
			}
		}
		return nil
	}
	s := bundleOf(Install{Layer: layerOf([]source.File{{Name: "a.yaml", Data: []byte(configMap("a"))}}), Name: "plain", Form: FormPlain, Namespace: "apps"})
	s.Adopt = true
	b.apply(s)
	if _, there, _ := unstructured.NestedString(b.s.objects[k].content, "data", "dropped"); there {
		t.Error("Apply(...): fields of an object that changed meanwhile are taken over, too")
	}
}

// The next step finishes an adoption that a crash interrupted at any write.
func TestAdoptCrash(t *testing.T) {
	for n := range 6 {
		for _, lost := range []bool{false, true} {
			b := newBench(t)
			b.s.put(manifestOf(t, namespaceOf("apps")).Object)
			k := b.s.deploy(manifestOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: apps, name: web}\ndata: {greeting: old, dropped: x}\n"), "helm/Update")
			uid := b.s.uidOf(k)
			s := bundleOf(install("web", tmplConfig))
			s.Adopt = true
			b.c.cutAfter(n, lost)
			_, _ = b.Apply(t.Context(), b.c, s)
			b.restart()
			b.reconcile(s)
			if _, there, _ := unstructured.NestedString(b.s.objects[k].content, "data", "dropped"); there || b.s.uidOf(k) != uid {
				t.Errorf("after a crash at write %d (answer lost: %v): dropped is there: %v, UID %s, was %s", n, lost, there, b.s.uidOf(k), uid)
			}
		}
	}
}

// The custom resource of a module that was installed with other tools does not change, regardless of the tool that its users
// used.
func TestAdoptResource(t *testing.T) {
	for _, who := range []string{"module-manager/Apply", "kubectl/Update", "lifecycle-manager/Update"} {
		b := newBench(t)
		b.s.put(manifestOf(t, tmplCRD).Object)
		b.s.deploy(manifestOf(t, "apiVersion: example.org/v1\nkind: Widget\nmetadata: {namespace: default, name: main}\nspec: {size: 7, mode: auto}\n"), who)
		uid := b.s.uidOf(widget)
		s := widgetBundle(t, nil)
		if _, err := b.Apply(t.Context(), b.c, s); err == nil || !strings.Contains(err.Error(), "already exists and does not belong to this module") {
			t.Errorf("%s: without adopt: %v", who, err)
		}
		s.Adopt = true
		b.reconcile(s)
		if diff := cmp.Diff(map[string]any{"size": int64(7), "mode": "auto"}, b.s.objects[widget].content["spec"]); diff != "" || b.s.uidOf(widget) != uid {
			t.Errorf("%s: -want, +got:\n%s", who, diff)
		}
		if r := b.take(s); !r.Gone || b.s.uidOf(widget) != "" {
			t.Errorf("%s: removal: %+v", who, r)
		}
	}
}
