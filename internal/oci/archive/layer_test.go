// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

func TestReadLayer(t *testing.T) {
	plain := tarOf(t, file("a.yaml", "kind: A"))
	// The oldest tar format has no magic number.
	old := append([]byte(nil), plain...)
	clear(old[257:265])
	copy(old[148:156], "        ")
	sum := 0
	for _, b := range old[:512] {
		sum += int(b)
	}
	copy(old[148:156], octal(sum))

	cases := map[string]struct {
		reason string
		data   string
		limits Limits
		want   []File
		err    string
	}{
		"Gzip":       {reason: "A directory is packed with gzip.", data: string(gzipOf(t, plain)), want: []File{{Name: "a.yaml", Data: []byte("kind: A")}}},
		"Tar":        {reason: "Newer modules have no gzip.", data: string(plain), want: []File{{Name: "a.yaml", Data: []byte("kind: A")}}},
		"OldTar":     {reason: "The checksum tells as well.", data: string(old), want: []File{{Name: "a.yaml", Data: []byte("kind: A")}}},
		"Text":       {reason: "A raw manifest was one file for long.", data: "kind: A\n", want: []File{{Name: "layer.yaml", Data: []byte("kind: A\n")}}},
		"LongText":   {reason: "Plain YAML that is longer than a header is not an archive.", data: strings.Repeat("kind: A\n", 100), want: []File{{Name: "layer.yaml", Data: []byte(strings.Repeat("kind: A\n", 100))}}},
		"Nothing":    {reason: "An empty layer is not a file.", data: "", err: "the archive contains no files"},
		"Truncated":  {reason: "A damaged archive is not text.", data: string(plain[:515]), err: "the archive is truncated"},
		"BrokenGzip": {reason: "A damaged gzip file is an error.", data: "\x1f\x8bxx", err: "cannot read archive"},
		"Zip":        {reason: "Another kind of archive is none.", data: "PK\x03\x04\x00\x00", err: "not a tar archive, a tar.gz archive or text"},
		"Large":      {reason: "The limit is for text too.", data: "kind: A", limits: Limits{Compressed: 3}, err: "the layer is larger than the limit of 3 bytes"},
		"LargeTar":   {reason: "The limits are handed on.", data: string(plain), limits: Limits{Uncompressed: 600}, err: "is larger than the limit of 600 bytes"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ReadLayer([]byte(tc.data), tc.limits)
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nReadLayer(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReadLayer(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// octal returns a checksum in the format of tar.
func octal(sum int) string {
	return fmt.Sprintf("%06o\x00 ", sum)
}

func FuzzReadLayer(f *testing.F) {
	f.Add([]byte("kind: A"))
	f.Add(tarOf(f, file("a", "b")))
	f.Add(gzipOf(f, tarOf(f, file("a", "b"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 16 << 20, PerByte: 1 << 10}, len(data))()
		files, err := ReadLayer(data, Limits{Compressed: 1 << 16, Uncompressed: 1 << 16, Files: 10})
		if (err == nil) != (len(files) > 0) {
			t.Errorf("ReadLayer(...): got %d files and error %v", len(files), err)
		}
	})
}
