// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// A member is what an archive contains.
type member struct {
	Path, Data string
	Mode       int64
	Modified   int64
}

func readTarGz(t *testing.T, data []byte) []member {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var out []member
	for r := tar.NewReader(plain); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, member{Path: header.Name, Data: string(content), Mode: header.Mode, Modified: header.ModTime.Unix()})
	}
}

func readZip(t *testing.T, data []byte) []member {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var out []member
	for _, f := range r.File {
		open, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(open)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, member{Path: f.Name, Data: string(content), Mode: int64(f.Mode()), Modified: f.Modified.Unix()})
	}
	return out
}

func TestArchives(t *testing.T) {
	const at = 1_000_000_000
	first, second := File{Path: "a/b", Data: []byte("text")}, File{Path: "tool", Data: []byte("binary"), Executable: true}
	want := []member{{Path: "a/b", Data: "text", Mode: 0o644, Modified: at}, {Path: "tool", Data: "binary", Mode: 0o755, Modified: at}}
	cases := map[string]struct {
		reason string
		write  func(time.Time, ...File) ([]byte, error)
		read   func(*testing.T, []byte) []member
	}{
		"TarGz": {reason: "Unix users unpack tar archives.", write: TarGz, read: readTarGz},
		"Zip":   {reason: "Windows users unpack zip archives.", write: Zip, read: readZip},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.write(time.Unix(at, 0), second, first)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, tc.read(t, got)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			// The order of the files, fractions of a second, and the time zone don't matter.
			again, err := tc.write(time.Unix(at, 5).In(time.FixedZone("elsewhere", 3600)), first, second)
			if err != nil || !bytes.Equal(got, again) {
				t.Errorf("\n%s\nthe same files make another archive: %v", tc.reason, err)
			}
			other, err := tc.write(time.Unix(at+2, 0), first, second)
			if err != nil || bytes.Equal(got, other) {
				t.Errorf("\n%s\nanother time makes the same archive: %v", tc.reason, err)
			}
		})
	}
}
