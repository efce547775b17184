// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

func twenty() *Bundle {
	templates := append([]string{}, webTemplates...)
	for i := range 15 {
		templates = append(templates, configMap(fmt.Sprintf("c%d", i)))
	}
	return bundleOf(install("web", templates...))
}

// BenchmarkObserveAtRest observes a bundle of 20 objects, none of which has changed.
func BenchmarkObserveAtRest(b *testing.B) {
	x := newBench(b)
	s := twenty()
	x.reconcile(s)
	known := map[cluster.ObjectRef]cluster.ObjectState{}
	inv := x.inventory(s)
	for _, k := range append([]cluster.ObjectRef{key("Secret", DefaultNamespace, s.Name)}, keysOf(inv)...) {
		known[k], _ = x.c.Get(k)
	}
	c := &still{fakeCluster: x.c, known: known}
	b.ReportAllocs()
	for b.Loop() {
		if o, err := x.Observe(b.Context(), c, s); err != nil || o.Ready != 20 {
			b.Fatal(o, err)
		}
	}
}

func keysOf(inv *inventory.Inventory) []cluster.ObjectRef {
	out := make([]cluster.ObjectRef, 0, len(inv.Objects))
	for i := range inv.Objects {
		out = append(out, inv.Objects[i].Ref())
	}
	return out
}

// A still cluster has a watch that costs next to nothing.
type still struct {
	*fakeCluster

	known map[cluster.ObjectRef]cluster.ObjectState
}

func (s *still) Cache() cluster.Cache { return s }

func (s *still) Get(k cluster.ObjectRef) (cluster.ObjectState, bool) {
	sum, ok := s.known[k]
	return sum, ok
}

// BenchmarkApplyInstall installs a chart of five objects in an empty cluster. It measures the server as well.
func BenchmarkApplyInstall(b *testing.B) {
	s := bundleOf(install("web", webTemplates...))
	b.ReportAllocs()
	x := newBench(b)
	for i := 0; b.Loop(); i++ {
		x.s = newFakeServer()
		x.c = newFakeCluster(b, x.s)
		x.c.config.Host = fmt.Sprintf("http://fake-%d", i)
		x.apply(s)
	}
}

// BenchmarkApplyThousand installs a chart of 1,000 objects in an empty cluster. It measures the server as well.
func BenchmarkApplyThousand(b *testing.B) {
	s := bundleOf(install("web", many(1000)))
	b.ReportAllocs()
	x := newBench(b)
	for i := 0; b.Loop(); i++ {
		x.s = newFakeServer()
		x.c = newFakeCluster(b, x.s)
		x.c.config.Host = fmt.Sprintf("http://fake-%d", i)
		x.apply(s)
	}
}
