// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

func TestDryRun(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	k := key("Deployment", "apps", "web")
	b.s.edit(k, func(u *unstructured.Unstructured) {
		a := u.GetAnnotations()
		a["mine"], a[object.AnnotationReleaseName] = "x", "other"
		u.SetAnnotations(a)
		if err := unstructured.SetNestedField(u.Object, int64(3), "spec", "replicas"); err != nil {
			t.Fatal(err)
		}
	})
	w := b.begun(s)
	pl, err := w.composer.Compose(t.Context(), &w.parts[0], b.inventory(s).Parts["web"])
	if err != nil {
		t.Fatal(err)
	}
	var o *object.Desired
	for i := range pl.Objects {
		if pl.Objects[i].Ref == k {
			o = &pl.Objects[i]
		}
	}
	live, err := w.client.Get(t.Context(), o.GVK(), k)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := w.client.DryRunDifferences(t.Context(), o, live)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"metadata.annotations.meta.helm.sh/release-name", "spec.replicas"}, fields); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if got := b.s.objects[k].u().GetResourceVersion(); got != live.GetResourceVersion() {
		t.Errorf("a dry run changes nothing, resource version %s became %s", live.GetResourceVersion(), got)
	}
	b.s.remove(k)
	if u, err := w.client.DryRun(t.Context(), o, ssa.Create); err != nil || object.RefOf(u) != k {
		t.Errorf("of a new object: %v, %v", u, err)
	}
	if b.s.objects[k] != nil {
		t.Error("a dry run creates nothing")
	}
}
