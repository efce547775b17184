// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// TestInstallAddedDuringRemoval checks that an install is applied again if it is removed from the bundle, and added again
// unchanged before all of its objects are deleted: objects that are deleted or being deleted are recreated.
func TestInstallAddedDuringRemoval(t *testing.T) {
	b := newBench(t)
	both := bundleOf(install("web", configMap("x")), install("extra", configMap("one"), configMap("held")))
	b.reconcile(both)
	held := key("ConfigMap", "apps", "held")
	b.s.edit(held, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"x/y"}) })
	b.apply(bundleOf(install("web", configMap("x"))))
	b.apply(both)
	b.s.remove(held)
	b.reconcile(both)
	for _, name := range []string{"one", "held"} {
		if b.s.uidOf(key("ConfigMap", "apps", name)) == "" {
			t.Errorf("ConfigMap %s is missing, left %q", name, b.s.keys())
		}
	}
	if o := b.observe(both); o.State != Ready || o.Total != 3 {
		t.Errorf("observation: %+v", o)
	}
}

// TestReleaseMovesTwice checks that a release leaves records only at its final location if it moves while its hooks run, and
// moves again before the first move is complete.
func TestReleaseMovesTwice(t *testing.T) {
	hooked := func(namespace string) *Bundle {
		s := bundleOf(install("web", configMap("x"), hookJob("first", "pre-install,pre-upgrade")))
		s.Installs[0].Namespace = namespace
		return s
	}
	plain := bundleOf(plainOf("web", configMap("x")))
	cases := map[string]struct {
		reason string
		to     *Bundle
		want   []string
	}{
		"Elsewhere": {reason: "The release moves to a third namespace.", to: hooked("third"), want: []string{"Secret third/sh.helm.release.v1.web.v1"}},
		"Back":      {reason: "The release moves back to its former namespace.", to: hooked("apps"), want: []string{"Secret apps/sh.helm.release.v1.web.v1"}},
		"Nowhere":   {reason: "Plain objects have no release.", to: plain},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(hooked("apps"))
			b.s.unready = true
			b.apply(hooked("other"))
			b.s.unready = false
			b.reconcile(tc.to)
			var got []string
			for _, k := range b.s.keys() {
				if strings.Contains(k, release.RecordPrefix) {
					got = append(got, k)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nrecords: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestChangedBack checks that objects get their former contents again if a change is interrupted after each write, and then reverted.
func TestChangedBack(t *testing.T) {
	valued := func(value string) *Bundle {
		return bundleOf(plainOf("web", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {k: "+value+"}\n"))
	}
	labeled := func(value string) *Bundle {
		s := bundleOf(install("web", configMap("x")))
		s.Labels = map[string]string{"k": value}
		return s
	}
	data, label := []string{"data", "k"}, []string{"metadata", "labels", "k"}
	cases := map[string]struct {
		reason  string
		of      func(value string) *Bundle
		path    []string
		changes []string
	}{
		"Content":      {reason: "A plain object is changed.", of: valued, path: data, changes: []string{"b"}},
		"ContentTwice": {reason: "A plain object is changed again before the first change is complete.", of: valued, path: data, changes: []string{"b", "c"}},
		"Labels":       {reason: "A label of the bundle is changed.", of: labeled, path: label, changes: []string{"b"}},
		"LabelsTwice":  {reason: "A label of the bundle is changed again before the first change is complete.", of: labeled, path: label, changes: []string{"b", "c"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for n := range 4 {
				b := newBench(t)
				b.reconcile(tc.of("a"))
				for _, value := range tc.changes {
					b.c.cutAfter(n, false)
					_, _ = b.Apply(t.Context(), b.c, tc.of(value))
					b.restart()
				}
				b.reconcile(tc.of("a"))
				value, _, _ := unstructured.NestedString(b.s.objects[key("ConfigMap", "apps", "x")].content, tc.path...)
				got = append(got, value)
			}
			if diff := cmp.Diff([]string{"a", "a", "a", "a"}, got); diff != "" {
				t.Errorf("\n%s\nvalues, by the number of writes: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
