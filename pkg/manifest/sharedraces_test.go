// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestSharedCRDOlder checks that a bundle does not become the owner of a CRD that has more than its own, which it would drop.
func TestSharedCRDOlder(t *testing.T) {
	b := newBench(t)
	b.reconcile(webOf(twoSizes, "{name: v2, served: true, storage: false}"))
	b.reconcile(gatewayOf(oneSize))
	survives := b.custom()
	b.takeAll(webOf(twoSizes))
	b.reconcile(gatewayOf(oneSize))
	b.wantShared("older", &shared{HandedOver: "web", Users: []string{byGateway}, Labelled: true})
	b.wantReady("older", gatewayOf(oneSize))
	newer := gatewayOf(twoSizes, "{name: v2, served: true, storage: false}")
	b.reconcile(newer)
	b.wantShared("newer", &shared{Owner: "gw", Labelled: true})
	survives("newer", true)

	// If it is removed before, it is the last one, and takes the CRD along.
	b = newBench(t)
	b.reconcile(webOf(twoSizes))
	b.reconcile(gatewayOf(oneSize))
	b.takeAll(webOf(twoSizes))
	b.custom()
	if r := b.take(gatewayOf(oneSize)); r.Gone || r.State != Warning {
		t.Errorf("the custom resource does not block the removal: %+v", r)
	}
	b.takeAll(gatewayOf(oneSize), ForceRemoval())
	b.wantShared("the last one is gone", nil)
}

// TestSharedCRDRemovals checks removals of the owner and the user at the same time: whatever the order of their steps is, the CRD goes
// with the last one.
func TestSharedCRDRemovals(t *testing.T) {
	for order := range 1 << 6 {
		b := newBench(t)
		b.reconcile(webOf(oneSize))
		b.reconcile(gatewayOf(oneSize))
		for step := range 6 {
			if order>>step&1 == 0 {
				b.take(webOf(oneSize))
			} else {
				b.take(gatewayOf(oneSize))
			}
		}
		b.takeAll(webOf(oneSize))
		b.takeAll(gatewayOf(oneSize))
		if diff := cmp.Diff([]string{"Namespace apps"}, b.s.keys()); diff != "" {
			t.Fatalf("order %b: left: -want, +got:\n%s", order, diff)
		}
	}
}

// TestSharedCRDRaces checks requests of two bundles that cross: what one decides is fenced by the version of the CRD that it saw.
func TestSharedCRDRaces(t *testing.T) {
	third := func() *Bundle {
		s := gatewayOf(oneSize)
		s.Name, s.Owner = "team-c-gw", "Manifest team-c/gw"
		s.Installs[0].Namespace = "default"
		return s
	}
	cases := map[string]struct {
		reason string
		given  func(b *bench)
		// at is the method of the request for the CRD before which meanwhile happens, once.
		at        string
		act       func(b *bench)
		meanwhile func(b *bench)
		want      *shared
	}{
		"Begins": {
			reason: "A bundle begins to use the CRD right before it is deleted.",
			given:  func(b *bench) { b.reconcile(webOf(oneSize)) },
			at:     http.MethodDelete, act: func(b *bench) { b.takeAll(webOf(oneSize)) }, meanwhile: func(b *bench) { b.reconcile(gatewayOf(oneSize)) },
			want: &shared{HandedOver: "web", Users: []string{byGateway}, Labelled: true},
		},
		"Ends": {
			reason: "The last user goes right before the CRD is handed over.",
			given:  func(b *bench) { b.reconcile(webOf(oneSize)); b.reconcile(gatewayOf(oneSize)) },
			at:     http.MethodPatch, act: func(b *bench) { b.takeAll(webOf(oneSize)) }, meanwhile: func(b *bench) { b.takeAll(gatewayOf(oneSize)) },
		},
		"BothGo": {
			reason: "The owner hands the CRD over right before the last user goes. It goes with the user.",
			given:  func(b *bench) { b.reconcile(webOf(oneSize)); b.reconcile(gatewayOf(oneSize)) },
			at:     "mark", act: func(b *bench) { b.takeAll(gatewayOf(oneSize)) }, meanwhile: func(b *bench) { b.takeAll(webOf(oneSize)) },
		},
		"BothGoEarlier": {
			reason: "The owner hands the CRD over after the last user read it for the first time. It goes with the user.",
			given:  func(b *bench) { b.reconcile(webOf(oneSize)); b.reconcile(gatewayOf(oneSize)) },
			at:     "look", act: func(b *bench) { b.takeAll(gatewayOf(oneSize)) }, meanwhile: func(b *bench) { b.takeAll(webOf(oneSize)) },
		},
		"Claims": {
			reason: "Another user becomes the owner right before.",
			given: func(b *bench) {
				b.reconcile(webOf(oneSize))
				b.reconcile(gatewayOf(oneSize))
				b.reconcile(third())
				b.takeAll(webOf(oneSize))
			},
			at: http.MethodPatch, act: func(b *bench) { b.reconcile(third()) }, meanwhile: func(b *bench) { b.reconcile(gatewayOf(oneSize)) },
			want: &shared{Owner: "gw", Users: []string{"Manifest team-c/gw"}, Labelled: true},
		},
		"Installs": {
			reason: "Both install it at the same time.",
			given:  func(*bench) {},
			at:     http.MethodPatch, act: func(b *bench) { b.reconcile(webOf(oneSize)) }, meanwhile: func(b *bench) { b.reconcile(gatewayOf(oneSize)) },
			want: &shared{Owner: "gw", Users: []string{"Manifest team-a/web"}, Labelled: true},
		},
		"Stale": {
			reason: "Another process removes the bundle right before this one marks the CRD.",
			given:  func(b *bench) { b.reconcile(webOf(oneSize)) },
			at:     "mark", meanwhile: func(b *bench) { b.takeAll(gatewayOf(oneSize)) },
			act: func(b *bench) {
				if _, err := b.Apply(b.t.Context(), b.c, gatewayOf(oneSize)); err == nil {
					b.t.Error("the step of a bundle that was removed does not fail")
				}
			},
			want: &shared{Owner: "web", Labelled: true},
		},
		"Deleted": {
			reason: "The CRD is deleted right before the bundle marks it.",
			given:  func(b *bench) { b.reconcile(webOf(oneSize)); b.s.took() },
			at:     "mark", act: func(b *bench) { b.reconcile(gatewayOf(oneSize)) }, meanwhile: func(b *bench) { b.takeAll(webOf(oneSize)) },
			want: &shared{Owner: "gw", Labelled: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			tc.given(b)
			other := &bench{t: t, s: b.s, c: newFakeCluster(t, b.s)}
			other.restart()
			var met atomic.Bool
			b.c.before = func(r *http.Request) {
				is := r.Method == tc.at || tc.at == "mark" && strings.HasPrefix(r.URL.Query().Get("fieldManager"), object.DefaultFieldManager+"-") ||
					tc.at == "look" && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata;")
				if is && strings.HasSuffix(r.URL.Path, "/widgets.example.org") && met.CompareAndSwap(false, true) {
					tc.meanwhile(other)
				}
			}
			tc.act(b)
			if !met.Load() {
				t.Errorf("\n%s\nit did not happen", tc.reason)
			}
			b.wantShared(tc.reason, tc.want)
		})
	}
}

// TestSharedCRDCrash checks that a process may end at any write: the CRD and custom resources survive the owner, and the mark and the
// CRD go with the last one.
func TestSharedCRDCrash(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for n := range 12 {
			b := newBench(t)
			b.reconcile(webOf(oneSize))
			steps := []func(){
				func() { _, _ = b.Apply(t.Context(), b.c, gatewayOf(oneSize)) },
				func() { b.reconcile(gatewayOf(oneSize)) },
				func() { _, _ = b.Remove(t.Context(), b.c, webOf(oneSize)) },
				func() { b.takeAll(webOf(oneSize)) },
				func() { _, _ = b.Apply(t.Context(), b.c, gatewayOf(oneSize)) },
				func() { b.reconcile(gatewayOf(oneSize)) },
			}
			survives := func(string, bool) {}
			for i, step := range steps {
				if i%2 == 0 {
					b.c.cutAfter(n, lost)
				} else {
					b.restart()
				}
				step()
				if i == 1 {
					survives = b.custom()
				}
			}
			survives("in the end", true)
			b.wantShared("in the end", &shared{Owner: "gw", Labelled: true})
			b.c.cutAfter(n, lost)
			_, _ = b.Remove(t.Context(), b.c, gatewayOf(oneSize), ForceRemoval())
			b.restart()
			b.takeAll(gatewayOf(oneSize), ForceRemoval())
			b.wantShared("all are gone", nil)
			if t.Failed() {
				t.Fatalf("cut after %d writes, response lost %t", n, lost)
			}
		}
	}
}

// TestSharedCRDLabel checks that a CRD that another tool labels is used without the label of the engine.
func TestSharedCRDLabel(t *testing.T) {
	b := newBench(t)
	u := manifestOf(t, crdWith(oneSize))
	u.SetLabels(map[string]string{object.LabelManagedBy: "kyma"})
	b.s.put(u.Object)
	b.s.editAs("kyma/Apply", widgetsCRD, func(u *unstructured.Unstructured) {
		u.SetLabels(map[string]string{object.LabelManagedBy: "kyma-operator"})
	})
	b.reconcile(gatewayOf(oneSize))
	b.wantShared("installed", &shared{Users: []string{byGateway}})
	b.wantReady("installed", gatewayOf(oneSize))
	b.takeAll(gatewayOf(oneSize))
	b.wantShared("removed", &shared{})
}
