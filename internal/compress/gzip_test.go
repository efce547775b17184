// SPDX-License-Identifier: Apache-2.0

package compress

import (
	"bytes"
	"compress/gzip"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

// standard compresses data as the standard library does, without a pool.
func standard(tb testing.TB, data []byte, level int) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestGzip(t *testing.T) {
	inputs := [][]byte{nil, []byte("a"), bytes.Repeat([]byte("kind: ConfigMap\n"), 5000), []byte("b")}
	for level := gzip.HuffmanOnly; level <= gzip.BestCompression; level++ {
		// The second round reuses the compressors of the first one.
		for range 2 {
			for _, in := range inputs {
				got, err := Gzip(in, level)
				if err != nil {
					t.Fatalf("level %d: Gzip(...): %v", level, err)
				}
				if diff := cmp.Diff(standard(t, in, level), got); diff != "" {
					t.Errorf("level %d: compressed bytes are part of stored formats and must not change: -want, +got:\n%s", level, diff)
				}
			}
		}
	}
	for _, level := range []int{-3, 10} {
		if _, err := Gzip(nil, level); err == nil {
			t.Errorf("Gzip(nil, %d): want an error", level)
		}
	}
}

func TestGunzip(t *testing.T) {
	ten := standard(t, []byte("0123456789"), gzip.BestSpeed)
	bomb := standard(t, make([]byte, 1<<20), gzip.BestSpeed)
	cases := map[string]struct {
		reason string
		data   []byte
		limit  int
		want   string
		err    string
	}{
		"Fits":      {reason: "Data of exactly the limit is returned.", data: ten, limit: 10, want: "0123456789"},
		"Larger":    {reason: "One byte more is refused.", data: ten, limit: 9, err: "larger than 9 bytes"},
		"Bomb":      {reason: "Data that decompresses to a lot is not read to its end.", data: bomb, limit: 100, err: "larger than 100 bytes"},
		"Empty":     {reason: "Empty data is not gzip.", err: "EOF"},
		"Other":     {reason: "Other data is not gzip.", data: []byte("plain text, not compressed"), err: "invalid header"},
		"Truncated": {reason: "Truncated data is refused.", data: ten[:len(ten)-3], limit: 10, err: "unexpected EOF"},
	}
	// The second round reuses decompressors, including ones that failed.
	for range 2 {
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				got, err := Gunzip(tc.data, tc.limit)
				if diff := cmp.Diff(tc.want, string(got)); diff != "" {
					t.Errorf("\n%s\nGunzip(...): -want, +got:\n%s", tc.reason, diff)
				}
				switch {
				case tc.err == "" && err != nil:
					t.Errorf("\n%s\nGunzip(...): %v", tc.reason, err)
				case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
					t.Errorf("\n%s\nGunzip(...): want error with %q, got %v", tc.reason, tc.err, err)
				}
			})
		}
	}
}

// TestGunzipAllocates checks that decompressing takes little more memory than the result, and none if that is too large.
func TestGunzipAllocates(t *testing.T) {
	const size = 8 << 20
	bomb := standard(t, make([]byte, size), gzip.BestSpeed)
	for limit, most := range map[int]int{size: size + 256<<10, size - 1: 256 << 10} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			defer fuzztest.Within(t, fuzztest.Limits{Base: most}, len(bomb))()
			if _, err := Gunzip(bomb, limit); (err == nil) != (limit == size) {
				t.Errorf("Gunzip(...): %v", err)
			}
		})
	}
}

func TestConcurrently(t *testing.T) {
	var calls sync.WaitGroup
	for n := range 8 {
		calls.Go(func() {
			in := bytes.Repeat([]byte{byte('a' + n)}, 1000*n)
			for range 50 {
				packed, err := Gzip(in, gzip.DefaultCompression)
				if err != nil {
					t.Errorf("Gzip(...): %v", err)
					return
				}
				out, err := Gunzip(packed, len(in))
				if err != nil || !bytes.Equal(in, out) {
					t.Errorf("Gunzip(Gzip(x)) is not x: %v", err)
					return
				}
			}
		})
	}
	calls.Wait()
}

// BenchmarkGzip shows how much memory the reuse saves: the tables of a compressor take 800 kB.
func BenchmarkGzip(b *testing.B) {
	data := []byte(strings.Repeat("{\"kind\":\"ConfigMap\",\"name\":\"a\"}\n", 30))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Gzip(data, gzip.DefaultCompression); err != nil {
			b.Fatal(err)
		}
	}
}
