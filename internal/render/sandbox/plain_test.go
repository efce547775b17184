// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/attacktest"
	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox/confine"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
)

// TestPlain checks that a child reads the same objects as this process.
func TestPlain(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  tree
	}{
		"None":    {reason: "No file has no objects."},
		"Small":   {reason: "A small file is read here.", files: tree{"a.yaml": configMap("a", "x")}},
		"Aliases": {reason: "A file with anchors is read in a child.", files: tree{"a.yaml": configMap("a", "x") + "a: &a {b: 1, c: 1.0}\nd: *a\n"}},
		"Large":   {reason: "A large file is rendered.", files: tree{"a.yaml": configMap("a", strings.Repeat("x", smallPlain))}},
		"Several": {
			reason: "Objects are those of their files, in order, and a file may have none.",
			files:  tree{"a.yaml": configMap("a", "x") + "---\n" + configMap("b", "x"), "b.yaml": "# Nothing.\n", "c.json": `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"n":1.0}`},
		},
		"Wrong":     {reason: "The error of a file is the same.", files: tree{"a.yaml": configMap("a", "x"), "b.yaml": "a: [&b\n"}},
		"Duplicate": {reason: "Keys that are there twice are refused.", files: tree{"a.yaml": configMap("a", "x"), "b.yaml": "kind: A\nkind: B\n"}},
	}
	p := newPool(t, Options{Spares: 1})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want, wantErr := yamldoc.Files(tc.files.files())
			got, err := p.Plain(t.Context(), "team-a", tc.files.files())
			if diff := cmp.Diff(text(wantErr), text(err)); diff != "" {
				t.Fatalf("\n%s\nPlain(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nPlain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// allocated returns the memory that f allocates in this process, in bytes, including memory that is freed again.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestBombs checks that objects with aliases, which a tenant can put into a Manifest or into hooks of a chart, take little
// memory of this process in total. If they were read in this process, a single one would take more.
func TestBombs(t *testing.T) {
	const documents, most = 12, 64 << 20
	hook := "metadata:\n  annotations: {helm.sh/hook: pre-install}\n"
	var plain, hooks []string
	for i := range documents {
		doc := attacktest.Aliases(fmt.Sprint("d", i), 300)
		plain = append(plain, doc)
		hooks = append(hooks, strings.Replace(doc, "metadata:\n", hook, 1))
	}
	files := tree{"a.yaml": strings.Join(plain, "---\n")}.files()
	chart := chartOf(t, tree{"templates/a.yaml": strings.Join(hooks, "---\n")})
	if here := allocated(func() { _, _ = yamldoc.Files(files) }); here < most {
		t.Fatalf("reading the documents in this process takes %d bytes, which is too little for this test", here)
	}
	p := newPool(t, Options{Spares: 1, Limits: Limits{Output: 1 << 20}})
	attacks := map[string]struct {
		installs int
		attack   func() error
	}{
		"plain": {installs: 32, attack: func() error {
			_, err := p.Plain(t.Context(), "team-a", files)
			return err
		}},
		"hooks": {installs: 8, attack: func() error {
			_, err := p.Chart(t.Context(), "team-a", chart, render.Options{ReleaseName: "rel"})
			return err
		}},
	}
	for name, tc := range attacks {
		t.Run(name, func(t *testing.T) {
			if confine.Race { // Children take ten times as long.
				tc.installs = 1
			}
			taken := allocated(func() {
				for range tc.installs {
					err := tc.attack()
					if e := (*Error)(nil); !errors.As(err, &e) || !slices.Contains([]Reason{ReasonOutput, ReasonMemory, ReasonCPU}, e.Reason) {
						t.Fatalf("want reason %s, got %v", ReasonOutput, err)
					}
				}
			})
			if taken > most {
				t.Errorf("%d installs take %d bytes of this process, want at most %d", tc.installs, taken, most)
			}
			t.Logf("%d installs take %d KiB of this process", tc.installs, taken>>10)
		})
	}
}
