// SPDX-License-Identifier: Apache-2.0

package bytelru

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/heaptest"
)

func TestCache(t *testing.T) {
	const kib = 1 << 10
	value := func(size int) string { return strings.Repeat("x", size) }
	type put struct {
		key  string
		size int
	}
	cases := map[string]struct {
		reason string
		puts   []put
		want   []string
	}{
		"Few":     {reason: "What fits is kept.", puts: []put{{"a", kib}, {"b", kib}}, want: []string{"a", "b"}},
		"Many":    {reason: "The least recently used value goes first. The key k is used after each put.", puts: []put{{"k", kib}, {"a", 3 * kib}, {"b", 3 * kib}, {"c", 3 * kib}}, want: []string{"c", "k", "b"}},
		"Large":   {reason: "A value that would displace most others is not kept.", puts: []put{{"a", kib}, {"b", 6 * kib}}, want: []string{"a"}},
		"Replace": {reason: "A value that is replaced no longer counts.", puts: []put{{"a", 3 * kib}, {"b", kib}, {"a", 3 * kib}, {"c", kib}}, want: []string{"a", "b", "c"}},
		"Grown":   {reason: "A value that became too large goes, with its key.", puts: []put{{"a", kib}, {"a", 6 * kib}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := New[string, string]("test", 8*kib)
			for _, p := range tc.puts {
				c.Add(p.key, value(p.size))
				c.Get("k")
			}
			var got []string
			for _, k := range []string{"a", "b", "c", "k"} {
				if _, ok := c.Get(k); ok {
					got = append(got, k)
				}
			}
			want := map[string]bool{}
			for _, k := range tc.want {
				want[k] = true
			}
			have := map[string]bool{}
			for _, k := range got {
				have[k] = true
			}
			if diff := cmp.Diff(want, have); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			for _, k := range got {
				c.Remove(k)
			}
			if c.Size() != 0 {
				t.Errorf("%s\nwant an empty cache to have size 0, got %d", tc.reason, c.Size())
			}
		})
	}
}

// TestBoundOfBytes checks that many large values of a tenant don't make the heap larger than the limit.
func TestBoundOfBytes(t *testing.T) {
	const limit = 8 << 20
	c := New[int, map[string][]byte]("test", limit)
	before := heaptest.Bytes()
	for i := range 1000 {
		c.Add(i, map[string][]byte{"value": make([]byte, 1<<20)})
	}
	if grown := heaptest.Bytes() - before; grown > limit+1<<20 {
		t.Errorf("want at most %d bytes, got %d", limit, grown)
	}
	runtime.KeepAlive(c)
}

// TestSizeOf compares sizes with the growth of the heap.
func TestSizeOf(t *testing.T) {
	values := func(n int) map[string]any {
		out := map[string]any{}
		for i := range n {
			out["key-"+strconv.Itoa(i)] = map[string]any{"list": []any{"a", int64(i), 1.5, true, nil}, "text": strings.Repeat("x", 100)}
		}
		return out
	}
	type node struct {
		next *node
		text string
	}
	cases := map[string]struct {
		reason string
		make   func() any
	}{
		"Bytes":    {reason: "The data of Secrets counts.", make: func() any { return map[string][]byte{"a": make([]byte, 1<<20)} }},
		"Values":   {reason: "The values of charts count.", make: func() any { return values(2000) }},
		"Small":    {reason: "Many small maps count.", make: func() any { return manyMaps(10_000) }},
		"Template": {reason: "Parsed templates count, although they are in unexported fields.", make: func() any { return parsed(2000) }},
		"Cycle": {reason: "What refers to itself counts once.", make: func() any {
			n := &node{text: strings.Repeat("x", 1<<20)}
			n.next = n
			return n
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := heaptest.Bytes()
			v := tc.make()
			grown := heaptest.Bytes() - before
			got := SizeOf(v, 1<<40)
			if got < grown*6/10 || got > grown*2 {
				t.Errorf("%s\nwant about %d bytes, got %d", tc.reason, grown, got)
			}
			if most := SizeOf(v, 1000); most > got || most <= 1000 {
				t.Errorf("%s\nwant the count to end above 1000, got %d", tc.reason, most)
			}
			runtime.KeepAlive(v)
		})
	}
	if got := SizeOf(nil, 1); got != 0 {
		t.Errorf("want nothing to have size 0, got %d", got)
	}
}

func manyMaps(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = map[string]any{"a": "b"}
	}
	return out
}

func parsed(n int) *template.Template {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "{{ if .Values.a%d }}some text {{ .Values.b | printf \"%%s\" }}{{ end }}\n", i)
	}
	return template.Must(template.New("t").Parse(text.String()))
}

func TestScaled(t *testing.T) {
	for limit, want := range map[int64]int64{math.MaxInt64: 64 << 20, 4 << 30: 128 << 20, 512 << 20: 16 << 20} {
		before := debug.SetMemoryLimit(limit)
		got := Scaled(64 << 20)
		debug.SetMemoryLimit(before)
		if got != want {
			t.Errorf("Scaled(64 MiB) with a limit of %d bytes: want %d, got %d", limit, want, got)
		}
	}
}
