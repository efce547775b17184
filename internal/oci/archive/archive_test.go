// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/heaptest"
)

func TestRead(t *testing.T) {
	small := Limits{Uncompressed: 4096, Files: 3}
	plain := tarOf(t, file("Chart.yaml", "name: a"), file("templates/b.yaml", "kind: B"))
	packed := gzipOf(t, plain)
	many := make([]tarEntry, 100_000)
	for i := range many {
		many[i] = file(fmt.Sprintf("f/%d", i), "")
	}
	want := []File{{Name: "Chart.yaml", Data: []byte("name: a")}, {Name: "templates/b.yaml", Data: []byte("kind: B")}}

	cases := map[string]struct {
		reason string
		data   []byte
		limits Limits
		want   []File
		err    string
	}{
		"Gzip": {
			reason: "Charts and module layers are usually packed with gzip.",
			data:   packed,
			want:   want,
		},
		"PlainTar": {
			reason: "Module layers may be packed without gzip.",
			data:   plain,
			want:   want,
		},
		"WithoutTrailer": {
			reason: "Old modules were packed without the end marker of tar.",
			data:   plain[:len(plain)-1024],
			want:   want,
		},
		"SortedAndClean": {
			reason: "The order of entries and prefixes such as ./ do not matter, and directories may repeat.",
			data: tarOf(t, link("./d/", "", tar.TypeDir), file("./d/b", "2"), link("d", "", tar.TypeDir),
				file("a", "1"), tarEntry{Header: tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "x"}}}),
			want: []File{{Name: "a", Data: []byte("1")}, {Name: "d/b", Data: []byte("2")}},
		},
		"Climbing":    {reason: "No entry may leave the archive.", data: tarOf(t, file("a/../../b", "")), err: `entry "a/../../b" has a path outside of the archive`},
		"ClimbingDir": {reason: "A directory must not leave the archive.", data: tarOf(t, link("../b/", "", tar.TypeDir)), err: `entry "../b/" has a path outside of the archive`},
		"Absolute":    {reason: "Absolute paths are refused.", data: tarOf(t, file("/etc/passwd", "")), err: `entry "/etc/passwd" has an absolute path`},
		"Backslash":   {reason: "A name that is a path on another system is rejected.", data: tarOf(t, file(`..\b`, "")), err: "invalid characters"},
		"NoName":      {reason: "A file needs a name.", data: tarOf(t, file(".", "x")), err: "a file without a name"},
		"Symlink":     {reason: "Links are refused, wherever they point.", data: tarOf(t, link("a", "b", tar.TypeSymlink)), err: `entry "a" is a link`},
		"Hardlink":    {reason: "Hard links as well.", data: tarOf(t, link("a", "/etc/passwd", tar.TypeLink)), err: `entry "a" is a link`},
		"CharDevice":  {reason: "Devices are refused.", data: tarOf(t, link("a", "", tar.TypeChar)), err: `entry "a" is neither a file nor a directory`},
		"BlockDevice": {reason: "Devices are refused.", data: tarOf(t, link("a", "", tar.TypeBlock)), err: `entry "a" is neither a file nor a directory`},
		"Fifo":        {reason: "Pipes are refused.", data: tarOf(t, link("a", "", tar.TypeFifo)), err: `entry "a" is neither a file nor a directory`},
		"SparseOld":   {reason: "Sparse files are refused.", data: sparseTar(t), err: `entry "a" is neither a file nor a directory`},
		"Duplicate":   {reason: "The second of two equal names is refused, cleaned or not.", data: tarOf(t, file("a", "1"), file("./a", "2")), err: `the archive contains "a" twice`},
		"TooMany":     {reason: "100,000 files are more than the default allows.", data: gzipOf(t, tarOf(t, many...)), err: "the archive has more than the limit of 10000 entries"},
		"TooManyDirs": {reason: "The limit for the number of files includes directories.", data: tarOf(t, link("a/", "", tar.TypeDir), link("b/", "", tar.TypeDir), link("c/", "", tar.TypeDir), file("d", "")), limits: small, err: "the archive has more than the limit of 3 entries"},
		"Bomb":        {reason: "Unpacking stops at the limit.", data: gzipOf(t, tarOf(t, file("a", strings.Repeat("0", 1<<20)))), limits: small, err: "the unpacked archive is larger than the limit of 4096 bytes (--max-unpacked-size of the provider)"},
		"BombOfMany":  {reason: "The limit is for all files together.", data: gzipOf(t, tarOf(t, file("a", strings.Repeat("0", 2048)), file("b", strings.Repeat("0", 2048)))), limits: small, err: "the unpacked archive is larger than the limit of 4096 bytes"},
		"BombAfter":   {reason: "Data after the end of the tar counts, too.", data: gzipOf(t, append(bytes.Clone(plain), make([]byte, 1<<20)...)), limits: small, err: "the unpacked archive is larger than the limit of 4096 bytes"},
		"File":        {reason: "A file that is too large is refused by its header.", data: tarOf(t, file("a/b", strings.Repeat("0", 101))), limits: Limits{File: 100}, err: `file "a/b" has 101 bytes, which is more than the limit of 100 bytes`},
		"Nested":      {reason: "The limit of a file does not apply to an archive in the archive.", data: tarOf(t, file("charts/a.tgz", strings.Repeat("0", 101))), limits: Limits{File: 100}, want: []File{{Name: "charts/a.tgz", Data: []byte(strings.Repeat("0", 101))}}},
		"Compressed":  {reason: "The archive itself is bounded.", data: packed, limits: Limits{Compressed: 10}, err: "the archive is larger than the limit of 10 bytes (--max-archive-size of the provider)"},
		"CutGzip":     {reason: "A truncated gzip is found out even if the tar is complete.", data: packed[:len(packed)-4], err: "the archive is truncated"},
		"CutTar":      {reason: "A truncated tar is found out.", data: plain[:515], err: "the archive is truncated"},
		"BitFlip":     {reason: "The checksum of gzip is checked.", data: flip(packed, len(packed)-8), err: "the archive is damaged"},
		"NotAnArchive": {
			reason: "Plain YAML is not an archive.",
			data:   []byte(strings.Repeat("kind: ConfigMap\n", 100)),
			err:    "not a tar or tar.gz archive",
		},
		"Short": {
			reason: "Content that is shorter than a tar header is not an archive, rather than a truncated one.",
			data:   []byte(`{"name":"app","version":"1.0.0","apiVersion":"v2"}`),
			err:    "not a tar or tar.gz archive",
		},
		"Empty":   {reason: "Nothing is not an archive.", err: "the archive contains no files"},
		"NoFiles": {reason: "Directories alone are not archive.", data: tarOf(t, link("a/", "", tar.TypeDir)), err: "the archive contains no files"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Read(tc.data, tc.limits)
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nRead(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if strings.Contains(text(err), "\n") {
				t.Errorf("Read(...): error has several lines: %q", err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRead(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReadLargeFile checks that a large file takes no more memory than its content.
func TestReadLargeFile(t *testing.T) {
	want := strings.Repeat("x", 32<<20)
	data := tarOf(t, file("a", want))
	before := fuzztest.Allocated()
	got, err := Read(data, Limits{})
	if allocated := fuzztest.Allocated() - before; allocated > 33<<20 {
		t.Errorf("Read(...): allocated %d MiB for 32 MiB", allocated>>20)
	}
	if err != nil || len(got) != 1 || string(got[0].Data) != want {
		t.Errorf("Read(...): %d files, error %v", len(got), err)
	}
}

// bomb returns an archive with one file of zeros.
func bomb(t *testing.T, name string, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: size})
	if err == nil {
		_, err = io.CopyN(w, zeros{}, size)
	}
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestReadBombs checks that many archives of half a megabyte with a file of 511 MiB, which the default limits allow, do not take more
// memory than all archives can have together.
func TestReadBombs(t *testing.T) {
	const all = 16 << 20
	large, small := bomb(t, "layer.yaml", 511<<20), bomb(t, "layer.yaml", 8<<20)
	limits := Limits{Archives: decoding.NewArchives(all)}
	before := heaptest.Bytes()
	var bombs, others sync.WaitGroup
	for range 10 {
		bombs.Go(func() {
			ctx, done := decoding.HoldArchive(t.Context())
			defer done()
			files, err := Read(large, limits.In(ctx))
			if !strings.Contains(text(err), "cannot read archive: the archive and its unpacked content are larger than 12582912 bytes") {
				t.Errorf("Read(...): got %d files and %q", len(files), text(err))
			}
		})
		others.Go(func() {
			ctx, done := decoding.HoldArchive(t.Context())
			defer done()
			files, err := Read(small, limits.In(ctx))
			if len(files) != 1 || len(files[0].Data) != 8<<20 || err != nil {
				t.Errorf("Read(...): want each of the others to be read, got %d files and %v", len(files), err)
			}
			if grown := heaptest.Bytes() - before; grown > all+4<<20 {
				t.Errorf("want at most %d bytes, got %d", all, grown)
			}
		})
	}
	bombs.Wait()
	others.Wait()
}

// sparseTar changes the type of an entry behind the back of the writer, which
// does not write such entries.
func sparseTar(t *testing.T) []byte {
	t.Helper()
	data := tarOf(t, tarEntry{Header: tar.Header{Name: "a", Typeflag: tar.TypeReg, Format: tar.FormatGNU}})
	data[156] = tar.TypeGNUSparse
	copy(data[483:495], "00000000000\x00") // The real size.
	checksum(data)
	return data
}

// checksum corrects the checksum of the first header of a tar.
func checksum(data []byte) {
	copy(data[148:156], "        ")
	sum := 0
	for _, b := range data[:512] {
		sum += int(b)
	}
	copy(data[148:156], fmt.Sprintf("%06o\x00 ", sum))
}

func TestReadSparsePAX(t *testing.T) {
	// A sparse file in PAX form has the type of a regular file.
	var b bytes.Buffer
	b.Write(paxHeader(t, "GNU.sparse.major=0", "GNU.sparse.minor=0", "GNU.sparse.numblocks=0", "GNU.sparse.size=1000", "GNU.sparse.map="))
	b.Write(tarOf(t, file("a", "")))
	_, err := Read(b.Bytes(), Limits{})
	if !strings.Contains(text(err), "sparse") {
		t.Errorf("Read(...): a sparse file was not refused: %v", err)
	}
}

// paxHeader makes an extended header with records that the writer refuses.
func paxHeader(t *testing.T, records ...string) []byte {
	t.Helper()
	var body strings.Builder
	for _, r := range records {
		n := len(r) + 2
		for len(strconv.Itoa(n))+len(r)+2 != n {
			n = len(strconv.Itoa(n)) + len(r) + 2
		}
		fmt.Fprintf(&body, "%d %s\n", n, r)
	}
	data := tarOf(t, file("pax", body.String()))
	data[156] = tar.TypeXHeader
	checksum(data)
	return data[:len(data)-1024]
}

// TestReadMemory checks that neither a false size nor a bomb uses memory.
func TestReadMemory(t *testing.T) {
	claim := tarOf(t, file("a", strings.Repeat("x", 1024)))
	copy(claim[124:136], fmt.Sprintf("%011o\x00", 400<<20))
	checksum(claim)

	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(claim[:512]); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(z, zeros{}, 64<<20); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}

	for name, tc := range map[string]struct {
		reason string
		data   []byte
		limits Limits
	}{
		"Claim": {reason: "The actual content is shorter than its size.", data: claim},
		"Bomb":  {reason: "64 MiB of zeros where 8 MiB are allowed.", data: bomb.Bytes(), limits: Limits{Uncompressed: 8 << 20}},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := Read(tc.data, tc.limits); err == nil {
				t.Fatalf("\n%s\nRead(...): want an error", tc.reason)
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
				t.Errorf("\n%s\nRead(...): allocated %d MiB", tc.reason, used>>20)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func flip(data []byte, at int) []byte {
	c := bytes.Clone(data)
	c[at] ^= 1
	return c
}

func FuzzRead(f *testing.F) {
	plain := tarOf(f, file("Chart.yaml", "name: a"), link("d/", "", tar.TypeDir), file("d/b", "x"))
	f.Add(plain)
	f.Add(gzipOf(f, plain))
	f.Add(tarOf(f, file("../a", "x")))
	f.Add(tarOf(f, link("a", "b", tar.TypeSymlink)))
	f.Add([]byte{0x1f, 0x8b})
	limits := Limits{Compressed: 1 << 20, Uncompressed: 1 << 20, Files: 100}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 16 << 20, PerByte: 1 << 10}, len(data))()
		files, err := Read(data, limits)
		if err != nil {
			if files != nil || strings.Contains(err.Error(), "\n") {
				t.Fatalf("Read(...): %d files, error %q", len(files), err)
			}
			return
		}
		total, last := 0, ""
		for _, file := range files {
			n := "/" + file.Name + "/"
			if file.Name <= last || strings.Contains(n, "/../") || strings.Contains(n, "//") || strings.Contains(n, "/./") {
				t.Fatalf("Read(...): name %q after %q", file.Name, last)
			}
			last = file.Name
			total += len(file.Data)
		}
		if len(files) == 0 || len(files) > limits.Files || int64(total) > limits.Uncompressed {
			t.Fatalf("Read(...): %d files with %d bytes", len(files), total)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	entries := make([]tarEntry, 50)
	for i := range entries {
		entries[i] = file(fmt.Sprintf("templates/%d.yaml", i), strings.Repeat("kind: ConfigMap\n", 256))
	}
	data := gzipOf(b, tarOf(b, entries...))
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Read(data, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
