// SPDX-License-Identifier: Apache-2.0

package bytelru

import (
	"reflect"
	"unsafe"
)

// perMap is the size of a map without its slots, in bytes. group is the number of slots that are allocated together.
const (
	perMap = 48
	group  = 8
)

// maxDepth limits the depth to which values are measured. Parsers return no values that are nested more deeply.
const maxDepth = 10_000

// SizeOf returns the approximate size in bytes of a value and everything that it refers to, each counted once. It stops
// counting when the size exceeds most, and does not count values that functions refer to. The value must not change during the
// call.
func SizeOf(v any, most int64) int64 {
	m := &meter{most: most, seen: map[seen]bool{}}
	r := reflect.ValueOf(v)
	if !r.IsValid() {
		return 0
	}
	m.total = int64(r.Type().Size()) //nolint:gosec // Sizes of types are small.
	m.measure(r, 0)
	return m.total
}

// A seen identifies the target of a pointer. It includes the type, because a struct and its first field have the same address.
type seen struct {
	at unsafe.Pointer
	of reflect.Type
}

// A meter adds the sizes of everything that a value refers to.
type meter struct {
	most, total int64
	seen        map[seen]bool
}

// first reports whether an address has not been measured yet. If so, it adds the size.
func (m *meter) first(at unsafe.Pointer, of reflect.Type, size int64) bool {
	s := seen{at, of}
	if at == nil || m.seen[s] {
		return false
	}
	m.seen[s] = true
	m.total += size
	return true
}

func (m *meter) measure(v reflect.Value, depth int) {
	if m.total > m.most || depth > maxDepth {
		return
	}
	switch v.Kind() {
	case reflect.String:
		m.total += int64(v.Len())
	case reflect.Pointer:
		if m.first(v.UnsafePointer(), v.Type(), sizeOf(v.Type().Elem())) {
			m.measure(v.Elem(), depth+1)
		}
	case reflect.Interface:
		m.dynamic(v.Elem(), depth)
	case reflect.Slice:
		if m.first(v.UnsafePointer(), v.Type(), int64(v.Cap())*sizeOf(v.Type().Elem())) {
			m.elements(v, depth)
		}
	case reflect.Array:
		m.elements(v, depth)
	case reflect.Map:
		m.entries(v, depth)
	case reflect.Struct:
		m.fields(v, depth)
	default:
	}
}

// dynamic adds the value of an interface, which is invalid if the interface is nil.
func (m *meter) dynamic(v reflect.Value, depth int) {
	if !v.IsValid() {
		return
	}
	if v.Kind() != reflect.Pointer && v.Kind() != reflect.Map {
		m.total += sizeOf(v.Type())
	}
	m.measure(v, depth+1)
}

func (m *meter) fields(v reflect.Value, depth int) {
	for _, f := range v.Fields() {
		m.measure(f, depth+1)
	}
}

func (m *meter) elements(v reflect.Value, depth int) {
	if plain(v.Type().Elem().Kind()) {
		return
	}
	for i := range v.Len() {
		m.measure(v.Index(i), depth+1)
	}
}

func (m *meter) entries(v reflect.Value, depth int) {
	// At least one in eight slots of a map is free, and maps grow by doubling.
	slots := group
	for slots > group && slots*7/8 < v.Len() || slots < v.Len() {
		slots *= 2
	}
	each := 1 + sizeOf(v.Type().Key()) + sizeOf(v.Type().Elem())
	if !m.first(v.UnsafePointer(), v.Type(), perMap+int64(slots)*each) {
		return
	}
	for i := v.MapRange(); i.Next() && m.total <= m.most; {
		m.measure(i.Key(), depth+1)
		m.measure(i.Value(), depth+1)
	}
}

// plain reports whether values of a kind never refer to other values.
func plain(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Complex128 }

func sizeOf(t reflect.Type) int64 { return int64(t.Size()) } //nolint:gosec // Sizes of types are small.
