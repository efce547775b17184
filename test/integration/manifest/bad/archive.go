// SPDX-License-Identifier: Apache-2.0

package bad

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A malicious archive", Label("bad"), func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	DescribeTable("is rejected with one line", func(ctx SpecContext, archive func() []byte, says string) {
		t := blob(ctx, s, archive(), "web: cannot read archive: "+says)
		t.twinless = true
		suffer(ctx, s, t)
	},
		Entry("path outside of the archive", tarOf(file("web/../../evil.yaml")), `entry "web/../../evil.yaml" has a path outside of the archive`),
		Entry("absolute path", tarOf(file("/etc/evil.yaml")), `entry "/etc/evil.yaml" has an absolute path`),
		Entry("symbolic link that points outside", tarOf(&tar.Header{Typeflag: tar.TypeSymlink, Name: "values.yaml", Linkname: "/etc/passwd"}),
			`entry "values.yaml" is a link`),
		Entry("hard link that points outside", tarOf(&tar.Header{Typeflag: tar.TypeLink, Name: "values.yaml", Linkname: "../../etc/passwd"}),
			`entry "values.yaml" is a link`),
		Entry("device", tarOf(&tar.Header{Typeflag: tar.TypeChar, Name: "values.yaml"}), `entry "values.yaml" is neither a file nor a directory`),
		Entry("100,000 files", tarOf(files(100_000)...), "the archive has more than the limit of 10000 entries"),
		Entry("a file of more than 5 MiB", tarOf(&tar.Header{Typeflag: tar.TypeReg, Name: "zeros", Size: 6 << 20}),
			`file "zeros" has 6291456 bytes, which is more than the limit of 5242880 bytes`),
		Entry("more than 512 MiB uncompressed", tarOf(&tar.Header{Typeflag: tar.TypeReg, Name: "zeros.tgz", Size: 513 << 20}),
			"the unpacked archive is larger than the limit of "),
		Entry("truncated", func() []byte { a := tarOf(file("values.yaml"))(); return a[:len(a)/2] }, "the archive is truncated"),
	)

	It("is rejected if it is larger than 64 MiB", func(ctx SpecContext) {
		noise := make([]byte, 65<<20)
		_, err := rand.NewChaCha8([32]byte{}).Read(noise)
		Expect(err).NotTo(HaveOccurred())
		t := blob(ctx, s, noise, "web: cannot pull chart", "blob is larger than the limit of ")
		t.twinless = true
		suffer(ctx, s, t)
	})
})

func file(name string) *tar.Header { return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: 10} }

func files(n int) []*tar.Header {
	out := make([]*tar.Header, n)
	for i := range out {
		out[i] = &tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprintf("templates/%d.yaml", i)}
	}
	return out
}

// tarOf returns a function that makes a chart archive of entries. Chart.yaml comes first, and the entries contain zeros.
func tarOf(entries ...*tar.Header) func() []byte {
	return func() []byte {
		GinkgoHelper()
		var out bytes.Buffer
		zip := Must(gzip.NewWriterLevel(&out, gzip.BestSpeed))
		archive := tar.NewWriter(zip)
		metadata := "apiVersion: v2\nname: web\nversion: 1.0.0\n"
		Expect(archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "Chart.yaml", Size: int64(len(metadata))})).To(Succeed())
		Expect(io.WriteString(archive, metadata)).Error().NotTo(HaveOccurred())
		for _, e := range entries {
			Expect(archive.WriteHeader(e)).To(Succeed())
			Expect(io.CopyN(archive, zeros{}, e.Size)).Error().NotTo(HaveOccurred())
		}
		Expect(archive.Close()).To(Succeed())
		Expect(zip.Close()).To(Succeed())
		return out.Bytes()
	}
}

// zeros is an endless reader of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
