// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

var (
	testKind = schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "K"}
	created  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// TestObjects checks the metrics after each of several changes.
func TestObjects(t *testing.T) {
	at := func(uid types.UID, change func(o *Object)) Object {
		o := Object{UID: uid, Created: created}
		change(&o)
		return o
	}
	none := func(*Object) {}
	synced := func(o *Object) { o.Reconciled, o.Synced = true, true }
	ready := func(o *Object) { o.Reconciled, o.Synced, o.Ready = true, true, true }
	failed := func(o *Object) { o.Reconciled = true }
	cases := map[string]struct {
		reason                  string
		change                  func(o *Objects)
		exists, ready, synced   float64
		reconciles, readinesses uint64
		deletions               uint64
	}{
		"New":   {reason: "A new object exists.", change: func(o *Objects) { o.Set(at("a", none), false) }, exists: 1},
		"Ready": {reason: "The first time is observed.", change: func(o *Objects) { o.Set(at("a", none), false); o.Set(at("a", ready), false) }, exists: 1, ready: 1, synced: 1, reconciles: 1, readinesses: 1},
		"Again": {reason: "Only the first time is observed.", change: func(o *Objects) {
			o.Set(at("a", ready), false)
			o.Set(at("a", failed), false)
			o.Set(at("a", ready), false)
		}, exists: 1, ready: 1, synced: 1, reconciles: 1, readinesses: 1},
		"Failed":   {reason: "The number of Ready objects decreases when an object stops being Ready.", change: func(o *Objects) { o.Set(at("a", ready), false); o.Set(at("a", failed), false) }, exists: 1, reconciles: 1, readinesses: 1},
		"Existing": {reason: "It is unknown when an object that existed before was Ready first.", change: func(o *Objects) { o.Set(at("a", synced), true); o.Set(at("a", ready), false) }, exists: 1, ready: 1, synced: 1},
		"Two":      {reason: "Objects are told apart by their UID.", change: func(o *Objects) { o.Set(at("a", ready), false); o.Set(at("b", synced), false) }, exists: 2, ready: 1, synced: 2, reconciles: 2, readinesses: 1},
		"Deleted": {reason: "A deleted object is not counted, and the duration of the deletion is observed.", change: func(o *Objects) {
			o.Set(at("a", ready), false)
			o.Set(at("a", func(o *Object) { ready(o); o.Deleted = created }), false)
			o.Delete("a")
			o.Delete("a")
		}, reconciles: 1, readinesses: 1, deletions: 1},
		"Forgotten": {reason: "Another process counts the deletion of an object that it has taken over.", change: func(o *Objects) {
			o.Set(at("a", func(o *Object) { ready(o); o.Deleted = created }), true)
			o.Forget("a")
			if o.Has("a") {
				o.Set(at("a", ready), false)
			}
			o.Delete("a")
		}},
		"Reset": {reason: "Another process counts the objects from now on.", change: func(o *Objects) { o.Set(at("a", ready), false); o.Reset() }, reconciles: 1, readinesses: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := New(prometheus.NewRegistry(), version.Build{})
			o := m.Objects(testKind)
			tc.change(o)
			for what, got := range map[string][2]float64{
				"exists":       {testutil.ToFloat64(m.objects.exists), tc.exists},
				"ready":        {testutil.ToFloat64(m.objects.ready), tc.ready},
				"synced":       {testutil.ToFloat64(m.objects.synced), tc.synced},
				"reconciled":   {float64(samples(t, m.objects.firstReconcile)), float64(tc.reconciles)},
				"become ready": {float64(samples(t, m.objects.firstReady)), float64(tc.readinesses)},
				"deleted":      {float64(samples(t, m.objects.delete)), float64(tc.deletions)},
			} {
				if got[0] != got[1] {
					t.Errorf("%s\n%s: got %v, want %v", tc.reason, what, got[0], got[1])
				}
			}
		})
	}
}

// samples returns the number of samples of the only histogram of a vector.
func samples(t *testing.T, v prometheus.Collector) uint64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(v)
	families, err := r.Gather()
	if err != nil || len(families) != 1 || len(families[0].GetMetric()) != 1 {
		t.Fatalf("want one histogram, got %v, %v", families, err)
	}
	return families[0].GetMetric()[0].GetHistogram().GetSampleCount()
}

// TestMostModules checks that the number of series is limited, whatever the labels are.
func TestMostModules(t *testing.T) {
	r := prometheus.NewRegistry()
	o := New(r, version.Build{}).Objects(testKind)
	for i := range 3 * mostModules {
		id := strconv.Itoa(i)
		o.Set(Object{UID: types.UID(id), Created: created, Module: &Module{Name: "m" + id, State: []string{"Ready", "Processing", "Error", "Warning", "Deleting"}[i%5]}}, true)
	}
	got, err := testutil.GatherAndCount(r, "provider_kyma_modules")
	if err != nil || got > mostModules || got < mostModules-otherSeries {
		t.Errorf("want at most %d series, got %d: %v", mostModules, got, err)
	}
}

// TestModules checks the series of modules after changes of their Manifests.
func TestModules(t *testing.T) {
	r := prometheus.NewRegistry()
	m := New(r, version.Build{})
	m.modules.most = 2
	o := m.Objects(testKind)
	set := func(uid types.UID, l Module) { o.Set(Object{UID: uid, Created: created, Module: &l}, true) }
	const help = "# HELP provider_kyma_modules Number of modules in clusters, by module, version, channel and state. " +
		"There are at most 2,000 combinations; others are counted with the value other in the labels module, version and channel.\n# TYPE provider_kyma_modules gauge\n"
	steps := []struct {
		reason string
		change func()
		want   []string
	}{
		{reason: "Modules with the same labels have one series.", change: func() {
			set("a", Module{"istio", "1", "fast", "Ready"})
			set("b", Module{"istio", "1", "fast", "Ready"})
		}, want: []string{`{channel="fast",module="istio",state="Ready",version="1"} 2`}},
		{reason: "A module that changes is counted with its new labels.", change: func() { set("b", Module{"istio", "2", "fast", "Error"}) }, want: []string{
			`{channel="fast",module="istio",state="Ready",version="1"} 1`, `{channel="fast",module="istio",state="Error",version="2"} 1`,
		}},
		{reason: "Above the limit, only the state is kept.", change: func() { set("c", Module{"x", "1", "", "Ready"}) }, want: []string{
			`{channel="fast",module="istio",state="Ready",version="1"} 1`, `{channel="fast",module="istio",state="Error",version="2"} 1`,
			`{channel="other",module="other",state="Ready",version="other"} 1`,
		}},
		{reason: "A series without modules is removed.", change: func() { o.Delete("b"); o.Delete("c") }, want: []string{
			`{channel="fast",module="istio",state="Ready",version="1"} 1`,
		}},
		{reason: "There is room again.", change: func() { set("c", Module{"x", "1", "", "Ready"}) }, want: []string{
			`{channel="fast",module="istio",state="Ready",version="1"} 1`, `{channel="",module="x",state="Ready",version="1"} 1`,
		}},
	}
	for _, s := range steps {
		s.change()
		want := strings.Builder{}
		want.WriteString(help)
		for _, line := range s.want {
			want.WriteString("provider_kyma_modules" + line + "\n")
		}
		if err := testutil.GatherAndCompare(r, strings.NewReader(want.String()), "provider_kyma_modules"); err != nil {
			t.Errorf("%s\n%v", s.reason, err)
		}
	}
	o.Reset()
	if n := testutil.CollectAndCount(m.modules.vector); n != 0 {
		t.Errorf("after a reset, want no series, got %d", n)
	}
}

// BenchmarkSet measures a change of one of many objects.
func BenchmarkSet(b *testing.B) {
	o := New(nil, version.Build{}).Objects(testKind)
	for i := range 30_000 {
		o.Set(Object{UID: types.UID(string(rune(i))), Module: &Module{Name: "istio", Version: "1", State: "Ready"}}, true)
	}
	states := [2]*Module{{Name: "istio", Version: "1", State: "Ready"}, {Name: "istio", Version: "1", State: "Processing"}}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		o.Set(Object{UID: types.UID(string(rune(1))), Module: states[i%2]}, false)
	}
}
