// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func metadata(i, version int) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace:       fmt.Sprintf("namespace-%d", i%50),
		Name:            fmt.Sprintf("release-%d-configuration", i),
		UID:             types.UID(fmt.Sprintf("5ee7a2ab-6bd4-4d0a-8d3a-%012d", i)),
		ResourceVersion: strconv.Itoa(version),
		Labels:          labels(fmt.Sprintf("applyset-%043d-v1", i/5)),
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "test", Operation: metav1.ManagedFieldsOperationApply,
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:a":{},"f:b":{}}},"f:data":{"f:x":{},"f:y":{}}}`),
		}},
	}}
}

// BenchmarkEvent measures the cost of an event for an object that did not change.
func BenchmarkEvent(b *testing.B) {
	c := New(newFake(), mapping, fakeInterpreter{})
	defer c.Close()
	k := c.kind(secrets.GroupKind())
	b.ReportAllocs()
	m := metadata(1, 1)
	for i := 0; b.Loop(); i++ {
		m.ResourceVersion = strconv.Itoa(i)
		if err := k.seen(m); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemory measures the memory of one watched object.
func BenchmarkMemory(b *testing.B) {
	const n = 50_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c := New(newFake(), mapping, fakeInterpreter{}, WithLimits(Limits{Objects: n, Bytes: 1 << 30, Total: 1 << 30}))
		k := c.kind(secrets.GroupKind())
		for i := range n {
			if err := k.seen(metadata(i, i)); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/object")
		runtime.KeepAlive(c)
		c.Close()
	}
}
