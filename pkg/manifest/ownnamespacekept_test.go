// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestNamespaceOfLeftBehind checks that an object that is left behind is not deleted with its namespace.
func TestNamespaceOfLeftBehind(t *testing.T) {
	namespace, inside := key("Namespace", "", "own"), key("ConfigMap", "own", "in")
	before := func() *Bundle {
		return bundleOf(plainOf("raw", namespaceOf("own"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: in, namespace: own}}"), plainOf("more", configMap("one")))
	}
	type outcome struct {
		Kept       []cluster.ObjectRef
		LeftBehind []string
	}
	removed := func(b *bench) outcome {
		r := b.take(before())
		out := outcome{Kept: r.Kept}
		for _, l := range r.LeftBehind {
			out.LeftBehind = append(out.LeftBehind, l.String())
		}
		return out
	}
	pruned := func(b *bench) outcome {
		r, err := b.Apply(b.t.Context(), b.c, bundleOf(plainOf("more", configMap("one"))))
		if err != nil {
			b.t.Fatal(err)
		}
		out := outcome{Kept: r.Kept}
		for _, l := range r.LeftBehind {
			out.LeftBehind = append(out.LeftBehind, l.String())
		}
		return out
	}
	retried := func(b *bench) outcome {
		b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
			if verb == "patch" && k == namespace {
				return refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError, "boom")
			}
			return nil
		}
		if r, err := b.Remove(b.t.Context(), b.c, before()); err == nil {
			b.t.Errorf("Remove(...): want an error, got %+v", r)
		}
		b.s.fault = nil
		return removed(b)
	}
	replaced := func(b *bench) {
		b.s.remove(inside)
		b.s.put(manifestOf(b.t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: in, namespace: own}}").Object)
	}
	kept := outcome{Kept: []cluster.ObjectRef{namespace}, LeftBehind: []string{"ConfigMap own/in (recreated by another client)"}}
	cases := map[string]struct {
		reason string
		harm   func(b *bench)
		act    func(b *bench) outcome
		want   outcome
		left   bool
	}{
		"Removed": {reason: "The bundle is removed.", harm: replaced, act: removed, want: kept, left: true},
		"Pruned":  {reason: "The bundle no longer contains the objects.", harm: replaced, act: pruned, want: kept, left: true},
		"Retried": {
			reason: "The call that found the object could not keep its namespace.", harm: replaced, act: retried,
			want: outcome{Kept: []cluster.ObjectRef{namespace}}, left: true,
		},
		"NothingForeign": {reason: "The namespace goes with everything that is in it.", harm: func(*bench) {}, act: removed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(before())
			tc.harm(b)
			if diff := cmp.Diff(tc.want, tc.act(b)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			for _, k := range []cluster.ObjectRef{namespace, inside} {
				if got := b.s.objects[k] != nil; got != tc.left {
					t.Errorf("\n%s\n%s exists: %t, want %t", tc.reason, k, got, tc.left)
				}
			}
			if tc.left {
				b.s.remove(inside)
			}
			b.reconcile(before()) // The bundle takes its namespace again.
			if diff := cmp.Diff(b.ID(before()), b.s.objects[namespace].u().GetLabels()[object.LabelPartOf]); diff != "" {
				t.Errorf("\n%s\nowner of the namespace: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
