// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// many returns ConfigMaps in one template.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\n%s", configMap(fmt.Sprintf("c%d", i)))
	}
	return b.String()
}

// random returns random text of n characters, which is the same each time.
func random(n int) string {
	b := make([]byte, n/2)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(b)
}

// TestThousandObjects checks that a large bundle costs one request for each object with a change, and few more.
func TestThousandObjects(t *testing.T) {
	const objects, more = 1000, 12
	x := newBench(t)
	s := bundleOf(install("web", many(objects)))
	cost := func(what string, most int, do func()) {
		t.Helper()
		before := len(x.s.log)
		do()
		if n := len(x.s.log) - before; n > most {
			t.Errorf("%s: %d requests, want at most %d", what, n, most)
		}
	}
	// Each of the first requests, which are sent at the same time, may find that the namespace is missing, and create it.
	cost("install", objects+more+2*DefaultConcurrency, func() { x.reconcile(s) })
	if o := x.observe(s); o.Ready != objects || o.Total != objects {
		t.Fatalf("%d of %d are ready", o.Ready, o.Total)
	}
	cost("at rest", 0, func() { x.observe(s) })

	next := bundleOf(install("web", strings.Replace(many(objects), "k: v", "k: w", 3)))
	cost("upgrade of 3", 3+more, func() { x.reconcile(next) })

	x.s.remove(key("ConfigMap", "apps", "c500"))
	cost("repair of 1", 1+more, func() { x.reconcile(next) })

	cost("removal", objects+more, func() {
		for range 3 {
			x.take(next)
		}
	})
	if o := x.observe(next); o.Exists {
		t.Errorf("it exists after the removal: %+v", o)
	}
}

// TestTooLarge checks that nothing is applied if the result is too large to be stored.
func TestTooLarge(t *testing.T) {
	if raceDetector {
		t.Skip("make test-unit runs this test without the race detector, which takes ten times as long")
	}
	cases := map[string]struct {
		reason string
		bundle *Bundle
		want   string
	}{
		"Record": {
			reason: "The record of a release contains the manifest.",
			bundle: bundleOf(install("web", configMap("small"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata: {k: "+random(2<<20)+"}\n")),
			want:   `release record of chart "web": the record has `,
		},
		"Inventory": {
			reason: "The inventory contains each object.",
			bundle: bundleOf(install("web", func() string {
				var b strings.Builder
				name := random(12_000 * 40)
				for i := range 12_000 {
					fmt.Fprintf(&b, "---\n%s", configMap("c"+name[i*40:(i+1)*40]))
				}
				return b.String()
			}())),
			want: "the inventory of 12000 objects has ",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			x := newBench(t)
			_, err := x.Apply(t.Context(), x.c, tc.bundle)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("\n%s\ngot %v", tc.reason, err)
			}
			for k := range x.s.objects {
				if k.Kind == "ConfigMap" {
					t.Errorf("\n%s\n%s was applied", tc.reason, k)
				}
			}
		})
	}
}
