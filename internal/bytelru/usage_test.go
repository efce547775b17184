// SPDX-License-Identifier: Apache-2.0

package bytelru

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUsages checks that the caches with one name are counted together, and that their sizes follow what they contain.
func TestUsages(t *testing.T) {
	one, two := New[string, int]("usages", 4*perEntry), New[string, int]("usages", 4*perEntry)
	check := func(reason string, want Usage) {
		t.Helper()
		if diff := cmp.Diff(want, Usages()["usages"]); diff != "" {
			t.Errorf("\n%s\nUsages(): -want, +got:\n%s", reason, diff)
		}
	}
	one.AddSized("a", 1, 10)
	two.AddSized("a", 1, 20)
	one.Get("a")
	two.Get("b")
	check("Both caches are counted.", Usage{Hits: 1, Misses: 1, Bytes: 2*perEntry + 30})
	one.AddSized("a", 1, 5)
	check("A value that is replaced does not count.", Usage{Hits: 1, Misses: 1, Bytes: 2*perEntry + 25})
	for _, k := range []string{"b", "c", "d", "e"} {
		one.AddSized(k, 1, 0)
	}
	check("A value that is evicted does not count.", Usage{Hits: 1, Misses: 1, Bytes: 5*perEntry + 20})
	two.Remove("a")
	check("A value that is removed does not count.", Usage{Hits: 1, Misses: 1, Bytes: 4 * perEntry})
}
