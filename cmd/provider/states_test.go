// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

// TestStates checks the metrics after events of an informer.
func TestStates(t *testing.T) {
	manifest := func(namespace string, uid types.UID, conditions ...xpv2.Condition) *v1alpha1.Manifest {
		m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "istio", UID: uid,
			Labels: map[string]string{v1alpha1.LabelModuleName: "istio", v1alpha1.LabelChannel: "fast"},
		}}
		m.SetConditions(conditions...)
		m.Status.AtProvider.Version = "1.0.0"
		if len(conditions) > 0 {
			m.Status.AtProvider.State = v1alpha1.StateReady
		}
		return m
	}
	ready := []xpv2.Condition{xpv2.Available(), xpv2.ReconcileSuccess()}
	const istio = `provider_kyma_modules{channel="fast",module="istio",state="`
	cases := map[string]struct {
		reason string
		events func(s *states)
		want   []string
	}{
		"Namespaces": {
			reason: "Manifests with the same name in different namespaces are counted separately.",
			events: func(s *states) {
				s.OnAdd(manifest("a", "1", ready...), true)
				s.OnAdd(manifest("b", "2"), false)
			},
			want: []string{"exists 2", "ready 1", "synced 1", istio + `Processing",version="1.0.0"} 1`, istio + `Ready",version="1.0.0"} 1`},
		},
		"Recreated": {
			reason: "An update can combine a deletion and a creation.",
			events: func(s *states) {
				s.OnAdd(manifest("a", "1", ready...), true)
				s.OnUpdate(manifest("a", "1", ready...), manifest("a", "2"))
			},
			want: []string{"exists 1", "ready 0", "synced 0", istio + `Processing",version="1.0.0"} 1`},
		},
		"Deleted": {
			reason: "A deletion that was missed is only known by the last state.",
			events: func(s *states) {
				s.OnAdd(manifest("a", "1", ready...), true)
				s.OnAdd(manifest("b", "2", ready...), true)
				s.OnDelete(manifest("a", "1", ready...))
				s.OnDelete(toolscache.DeletedFinalStateUnknown{Obj: manifest("b", "2")})
			},
			want: []string{"exists 0", "ready 0", "synced 0"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := prometheus.NewRegistry()
			m := metrics.New(r, version.Build{})
			tc.events(&states{objects: m.Objects(v1alpha1.ManifestGroupVersionKind)})
			var want strings.Builder
			for _, line := range tc.want {
				if name, value, ok := strings.Cut(line, " "); ok && !strings.Contains(name, "{") {
					line = "crossplane_managed_resource_" + name + `{gvk="kyma.m.crossplane.io/v1alpha1, Kind=Manifest"} ` + value
				}
				want.WriteString(line + "\n")
			}
			if got := samplesOf(t, r); got != want.String() {
				t.Errorf("%s\nwant:\n%sgot:\n%s", tc.reason, want.String(), got)
			}
		})
	}
}

// samplesOf returns the samples of the gauges of managed resources, sorted as in a scrape.
func samplesOf(t *testing.T, r *prometheus.Registry) string {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if m.GetGauge() == nil || f.GetName() == "provider_kyma_build_info" || f.GetName() == "provider_kyma_shards" || strings.HasPrefix(f.GetName(), "provider_kyma_target") {
				continue
			}
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			fmt.Fprintf(&out, "%s{%s} %v\n", f.GetName(), strings.Join(labels, ","), m.GetGauge().GetValue())
		}
	}
	return out.String()
}

// unavailable is a cache without informers: each request for one fails.
type unavailable struct {
	cache.Informers

	requests atomic.Int32
}

func (u *unavailable) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	u.requests.Add(1)
	return nil, errors.New("boom")
}

// TestStatesContinue checks that an error of the API server neither ends the manager nor the attempts.
func TestStatesContinue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*retryStates/2)
		defer cancel()
		u := &unavailable{}
		if err := (&states{cache: u, log: logging.NewNopLogger()}).Start(ctx); err != nil || u.requests.Load() != 3 {
			t.Errorf("want no error and three attempts, got %v and %d", err, u.requests.Load())
		}
	})
}
