// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

func TestArchive(t *testing.T) {
	long := strings.Repeat("a", 300) + "/ä.yaml"
	cases := map[string]struct {
		reason string
		files  []archive.File
		want   []string // Names and modes.
		digest string
		err    string
	}{
		"Sorted": {
			reason: "Entries are sorted, with each directory once and before what is in it.",
			files:  []archive.File{{Name: "b/c/d", Data: []byte("1")}, {Name: "b.yaml"}, {Name: "b/a"}, {Name: "a", Data: []byte("2")}},
			want:   []string{"a 644", "b.yaml 644", "b/ 755", "b/a 644", "b/c/ 755", "b/c/d 644"},
			digest: "79f7b78e18b977c5b46ea1e725c86d5db1f3505aa5e77c6256f529baed9c1bda",
		},
		"Long": {
			reason: "A name that USTAR has no room for is written as PAX.",
			files:  []archive.File{{Name: long}},
			want:   []string{strings.Repeat("a", 300) + "/ 755", long + " 644"},
			digest: "a8b64b97b8aa8a109a112cdb48fc672929072a515237b5b685e2d719026b4095",
		},
		"Twice":    {reason: "A name is there once.", files: []archive.File{{Name: "a"}, {Name: "a"}}, err: `cannot pack files: duplicate entry "a"`},
		"Both":     {reason: "A file is not a directory.", files: []archive.File{{Name: "a/b/c"}, {Name: "a"}}, err: `cannot pack files: "a" is both a file and a directory`},
		"Climbing": {reason: "A name does not climb.", files: []archive.File{{Name: "../a"}}, err: `cannot pack files: "../a" must be a relative path without . and .. elements`},
		"Absolute": {reason: "A name is relative.", files: []archive.File{{Name: "/a"}}, err: `cannot pack files: "/a" must be a relative path without . and .. elements`},
		"Dot":      {reason: "A name is clean.", files: []archive.File{{Name: "./a"}}, err: `cannot pack files: "./a" must be a relative path without . and .. elements`},
		"Empty":    {reason: "A file has a name.", files: []archive.File{{}}, err: `cannot pack files: "" must be a relative path without . and .. elements`},
		"Back":     {reason: "A name has no backslash.", files: []archive.File{{Name: `a\b`}}, err: `contains invalid characters`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := Archive(tc.files)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("\n%s\nArchive(...): want error %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, entries(t, data)); diff != "" {
				t.Errorf("\n%s\nArchive(...): -want, +got:\n%s", tc.reason, diff)
			}
			sum := sha256.Sum256(data)
			if got := hex.EncodeToString(sum[:]); got != tc.digest {
				t.Errorf("\n%s\nArchive(...): want digest %s, got %s: the same files must give the same bytes forever", tc.reason, tc.digest, got)
			}
		})
	}
}

// entries returns the entries of an archive, and checks that they contain neither a user nor a time.
func entries(t *testing.T, data []byte) []string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" || z.OS != 255 {
		t.Errorf("header of gzip: %+v", z.Header)
	}
	var out []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.ModTime.Unix() != 0 || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || h.Format == tar.FormatGNU {
			t.Errorf("header of %q: %+v", h.Name, h)
		}
		out = append(out, fmt.Sprintf("%s %o", h.Name, h.Mode))
	}
}

// TestArchiveProperties packs and unpacks random trees: each file is restored exactly once, and the order has no effect.
func TestArchiveProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		files := randomFiles(random)
		first, err := Archive(files)
		if err != nil {
			t.Fatal(err)
		}
		got, err := archive.Read(first, archive.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, f := range files {
			want[f.Name] = string(f.Data)
		}
		have := map[string]string{}
		for _, f := range got {
			have[f.Name] = string(f.Data)
		}
		if diff := cmp.Diff(want, have); diff != "" || len(got) != len(files) {
			t.Fatalf("Archive(...): -want, +got:\n%s", diff)
		}
		seen := map[string]bool{}
		for _, e := range entries(t, first) {
			if seen[e] {
				t.Fatalf("Archive(...): %s is there twice", e)
			}
			seen[e] = true
		}
		random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		second, err := Archive(files)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("Archive(...): other bytes in another order: %v", err)
		}
	}
}

func randomFiles(random *rand.Rand) []archive.File {
	names := []string{"a", "b", "a.b", "A", "é", "a b", "-", "~"}
	known := map[string]bool{} // True for files, false for directories.
	var out []archive.File
	for range 1 + random.IntN(20) {
		parts := make([]string, 1+random.IntN(6))
		for i := range parts {
			parts[i] = names[random.IntN(len(names))]
		}
		if _, ok := known[strings.Join(parts, "/")]; ok {
			continue
		}
		blocked := false
		for i := 1; i < len(parts); i++ {
			blocked = blocked || known[strings.Join(parts[:i], "/")]
		}
		if blocked {
			continue
		}
		for i := 1; i < len(parts); i++ {
			known[strings.Join(parts[:i], "/")] = false
		}
		known[strings.Join(parts, "/")] = true
		data := make([]byte, random.IntN(200))
		for i := range data {
			data[i] = byte(random.IntN(4))
		}
		out = append(out, archive.File{Name: strings.Join(parts, "/"), Data: data})
	}
	return out
}

func BenchmarkArchive(b *testing.B) {
	files := make([]archive.File, 0, 100)
	for i := range 100 {
		files = append(files, archive.File{Name: fmt.Sprintf("templates/%d.yaml", i), Data: bytes.Repeat([]byte("key: value\n"), 500)})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Archive(files); err != nil {
			b.Fatal(err)
		}
	}
}
