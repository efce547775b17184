// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestSharedPartRepaired checks that a repair, or a change of labels, of an install that contains a CRD of a later install neither takes
// the CRD nor forgets that the install contains it: if the later install drops the CRD, it stays.
func TestSharedPartRepaired(t *testing.T) {
	drop := func(s *Bundle) { s.Installs[1] = plainOf("later", configMap("y")) }
	cases := map[string]struct {
		reason string
		// change changes the cluster and the bundle. Afterwards, the later install drops the CRD.
		change func(b *bench, s *Bundle)
	}{
		"Repair": {
			reason: "Both installs are repaired in one step.",
			change: func(b *bench, s *Bundle) {
				b.s.remove(key("ConfigMap", "apps", "x"))
				b.s.remove(key("ConfigMap", "apps", "y"))
				b.reconcile(s)
			},
		},
		"RepairOfCRD": {
			reason: "The CRD is repaired as well.",
			change: func(b *bench, s *Bundle) {
				b.s.remove(key("ConfigMap", "apps", "x"))
				b.s.edit(widgetsCRD, set("x", "metadata", "labels", "team"))
				b.reconcile(s)
			},
		},
		"Labels": {
			reason: "The labels of all objects change.",
			change: func(b *bench, s *Bundle) {
				s.Labels = map[string]string{"team": "c"}
				b.reconcile(s)
			},
		},
		"AtOnce": {
			reason: "The first install is repaired in the step in which the later one drops the CRD.",
			change: func(b *bench, s *Bundle) {
				b.s.remove(key("ConfigMap", "apps", "x"))
				drop(s)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("first", configMap("x")), plainOf("later", tmplCRD, configMap("y")))
			b.reconcile(s)
			s.Installs[0] = install("first", "crds/"+tmplCRD, configMap("x"))
			b.reconcile(s)
			uid := b.s.uidOf(widgetsCRD)
			tc.change(b, s)
			if en := b.inventory(s).Find(widgetsCRD); en == nil || en.Part != "later" {
				t.Errorf("%s\nthe CRD must belong to the later install: %+v", tc.reason, en)
			}
			drop(s)
			b.reconcile(s)
			if diff := cmp.Diff(uid, b.s.uidOf(widgetsCRD)); diff != "" {
				t.Errorf("%s\nUID of the CRD: -want, +got:\n%s", tc.reason, diff)
			}
			b.wantReady(tc.reason, s)
		})
	}
}

// TestSharedPartInherits checks that an install that keeps a CRD of a removed install is neither upgraded nor runs its hooks: its content is
// the same.
func TestSharedPartInherits(t *testing.T) {
	b := newBench(t)
	release := func() string {
		name, _, _ := unstructured.NestedString(b.s.objects[widgetsCRD].content, "metadata", "annotations", object.AnnotationReleaseName)
		return name
	}
	heir := install("heir", "crds/"+tmplCRD, configMap("y"), hookJob("first", "pre-upgrade"), hookJob("last", "post-upgrade"))
	s := bundleOf(install("owner", "crds/"+tmplCRD, configMap("x")), heir)
	b.reconcile(s)
	if en := b.inventory(s).Find(widgetsCRD); en == nil || en.Part != "owner" {
		t.Fatalf("the CRD must belong to the first install: %+v", en)
	}
	uid := b.s.uidOf(widgetsCRD)
	s.Installs = s.Installs[1:]
	b.s.took()
	b.reconcile(s)
	for _, request := range b.s.took() {
		if strings.Contains(request, " Job ") || strings.Contains(request, "heir.v2") {
			t.Errorf("the other install is upgraded: %s", request)
		}
	}
	inv := b.inventory(s)
	if en := inv.Find(widgetsCRD); en == nil || en.Part != "heir" || inv.Parts["heir"].Revision != 1 {
		t.Errorf("want the CRD in revision 1 of the other install, got %+v in %+v", en, inv.Parts)
	}
	if diff := cmp.Diff(uid, b.s.uidOf(widgetsCRD)); diff != "" {
		t.Errorf("UID of the CRD: -want, +got:\n%s", diff)
	}
	b.wantReady("The other install has the CRD.", s)
	if diff := cmp.Diff("heir", release()); diff != "" {
		t.Errorf("release of the CRD: -want, +got:\n%s", diff)
	}
}

// TestSharedPartInheritsDuringRepair checks that an install that is repaired in the step in which it inherits a CRD applies the CRD in the
// next step.
func TestSharedPartInheritsDuringRepair(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("owner", "crds/"+tmplCRD, configMap("x")), install("heir", "crds/"+tmplCRD, configMap("y")))
	b.reconcile(s)
	s.Installs[0] = install("owner", configMap("x"))
	b.s.remove(key("ConfigMap", "apps", "y"))
	b.reconcile(s)
	name, _, _ := unstructured.NestedString(b.s.objects[widgetsCRD].content, "metadata", "annotations", object.AnnotationReleaseName)
	if diff := cmp.Diff("heir", name); diff != "" {
		t.Errorf("release of the CRD: -want, +got:\n%s", diff)
	}
	b.wantReady("The other install has the CRD.", s)
}
