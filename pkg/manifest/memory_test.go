// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strconv"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// TestMemoriesAreBounded checks that the state that the engine keeps between calls is limited by its size, and that losing it
// only costs a request.
func TestMemoriesAreBounded(t *testing.T) {
	b := newBench(t)
	s := hookedWeb("one")
	empty := b.memories.Size()
	b.reconcile(s)
	if grown := b.memories.Size() - empty; grown < 2*perResult {
		t.Errorf("want the inventory to count, got %d bytes", grown)
	}

	const limit = 4 << 20
	b.memories = bytelru.New[bundleKey, *memory]("test", limit)
	for i := range 100 {
		m := b.memoryOf(b.c, &Bundle{Name: strconv.Itoa(i)})
		m.stored.Inventory = &inventory.Inventory{Objects: make([]inventory.Entry, 1000)}
		b.measure(bundleKey{cluster: b.c.Identity(), name: strconv.Itoa(i)}, m)
	}
	if size := b.memories.Size(); size > limit || size < limit/2 {
		t.Errorf("want at most %d bytes, got %d", limit, size)
	}
	if o := b.observe(s); !o.UpToDate {
		t.Errorf("want a bundle whose memory is lost to be up to date, got %+v", o)
	}
}

func TestMemoryOfGoneObjects(t *testing.T) {
	b := newBench(t)
	names := []string{"a", "b", "c", "d"}
	for _, n := range names {
		s := bundleOf(plainOf("raw", configMap(n)))
		s.Readiness = []Rule{{CEL: "true", For: cluster.ObjectRef{Kind: "ConfigMap"}.GroupKind()}}
		b.reconcile(s)
		b.observe(s)
		b.s.remove(key("ConfigMap", "default", n))
		b.s.remove(key("ConfigMap", "apps", n))
		b.reconcile(s)
	}
	s := bundleOf(plainOf("raw", configMap("e")))
	b.reconcile(s)
	m := b.memoryOf(b.c, s)
	if len(m.evaluations) > 1 || len(m.repairs) > 1 || len(m.reports) > 1 {
		t.Errorf("objects that are gone are remembered: %d evaluations, %d contentions, %d reports", len(m.evaluations), len(m.repairs), len(m.reports))
	}
}
