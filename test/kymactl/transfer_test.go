// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("module pull and copy", func() {
	var (
		p        *testUser
		r        *controlplane.Registry
		x        *proxy
		key, pub string
		digest   string
		source   string
	)
	BeforeEach(func(ctx SpecContext) {
		p, r = newTestUser(), startRegistry(controlplane.WebOptions{})
		x = newProxy(r.URL())
		key, pub = p.hasKeys(ctx, "k")
		digest = p.makes(ctx, p.sample("source", "a", 300_000), "layout", "--key", key)
		p.ok(ctx, "module", "push", "layout", r.Host()+"/m")
		source = x.host() + "/m/" + inRegistry + ":1.0.0"
	})

	It("keep all content and signatures", func(ctx SpecContext) {
		want := p.blobs("layout")
		other := startRegistry(controlplane.WebOptions{})
		Expect(p.ok(ctx, "module", "pull", source, "-o", p.output("pulled")).digest()).To(Equal(digest))
		Expect(p.blobs("pulled")).To(Equal(want))
		Expect(p.ok(ctx, "module", "copy", source, other.Host()+"/else").digest()).To(Equal(digest))
		Expect(content(ctx, other, "else/"+inRegistry, "1.0.0")).To(Equal(content(ctx, r, "m/"+inRegistry, "1.0.0")))
		Expect(p.ok(ctx, "module", "pull", other.Host()+"/else//"+greeter+":1.0.0", "-o", p.output("copied.tar"), "--key", pub).digest()).To(Equal(digest))
		Expect(p.ok(ctx, "module", "copy", "copied.tar", "./"+p.output("copied")).digest()).To(Equal(digest))
		Expect(p.blobs("copied")).To(Equal(want))
		for _, reference := range []string{"pulled", "copied.tar", other.Host() + "/else//" + greeter + ":1.0.0", source, x.host() + "/m/" + inRegistry + "@" + digest} {
			Expect(p.ok(ctx, "module", "verify", reference, "--key", pub, "--cosign").digest()).To(Equal(digest))
		}
	})

	It("do nothing if all content exists", func(ctx SpecContext) {
		p.ok(ctx, "module", "pull", source, "-o", p.output("pulled"))
		before := hashOf(p.at("pulled"))
		x.through()
		again := p.ok(ctx, "module", "pull", source, "-o", "pulled")
		Expect(again.stderr).To(ContainSubstring("Unchanged"))
		Expect(hashOf(p.at("pulled"))).To(Equal(before))
		layers := p.manifestOf("pulled", digest).digests()
		for _, d := range layers[2:] {
			Expect(x.blobs()).NotTo(HaveKey(d), "a layer is not got again")
		}
	})

	It("refuse to replace another module", func(ctx SpecContext) {
		p.makes(ctx, p.sample("other", "other", 0), "other")
		before := hashOf(p.at("other"))
		p.fails(ctx, exitExists, []string{"other", "--overwrite"}, "module", "pull", source, "-o", "other")
		Expect(hashOf(p.at("other"))).To(Equal(before))
		Expect(p.ok(ctx, "module", "pull", source, "-o", "other", "--overwrite").digest()).To(Equal(digest))
		Expect(p.blobs("other")).To(Equal(p.blobs("layout")))
	})

	It("transfer only missing content when they are run again", func(ctx SpecContext) {
		sizes := map[string]int64{}
		for d, blob := range p.blobs("layout") {
			sizes[d] = int64(len(blob))
		}
		x.sizes = sizes
		largest := slices.Max(slices.Collect(maps.Values(sizes)))
		big := slices.DeleteFunc(slices.Collect(maps.Keys(sizes)), func(d string) bool { return sizes[d] < largest/2 })
		Expect(len(big)).To(BeNumerically(">=", 3))
		// The largest layer stalls half way, until the spec ends.
		x.changes(func(q *http.Response) {
			if strings.HasSuffix(q.Request.URL.Path, big[0]) {
				q.Body = &cut{ReadCloser: q.Body, p: x, r: q.Request, after: sizes[big[0]] / 2}
			}
		})
		o := p.start(ctx, "", "module", "pull", source, "-o", p.output("pulled"))
		Eventually(func() map[string]int64 { return x.blobs() }).Should(And(
			HaveKeyWithValue(big[1], sizes[big[1]]), HaveKeyWithValue(big[2], sizes[big[2]]), HaveKeyWithValue(big[0], sizes[big[0]]/2)))
		Eventually(func() []int64 {
			return []int64{storedSize(p.at("pulled"), "", big[1]), storedSize(p.at("pulled"), "", big[2]), storedSize(p.at("pulled"), ".partial", big[0])}
		}).Should(Equal([]int64{sizes[big[1]], sizes[big[2]], sizes[big[0]] / 2}))
		o.kill()
		x.through()
		Expect(p.ok(ctx, "module", "pull", source, "-o", "pulled").digest()).To(Equal(digest))
		got := x.blobs()
		Expect(got).NotTo(HaveKey(big[1]))
		Expect(got).NotTo(HaveKey(big[2]))
		Expect(got[big[0]]).To(BeNumerically("~", sizes[big[0]]/2, sizes[big[0]]/4), "it continues where it was cut off")
		Expect(p.blobs("pulled")).To(Equal(p.blobs("layout")))
	})

	DescribeTable("verify everything that a registry sends", func(ctx SpecContext, part func(digest string, m manifest) string) {
		path := part(digest, p.manifestOf("layout", digest))
		flip := func(q *http.Response) {
			if strings.HasSuffix(q.Request.URL.Path, path) && q.Request.Method == http.MethodGet && q.StatusCode < 300 {
				q.Body = &flipped{ReadCloser: q.Body}
			}
		}
		x.changes(flip)
		for _, to := range []string{"pulled.tar", "pulled"} {
			done := p.run(ctx, "module", "pull", source+"@"+digest, "-o", p.output(to), "--quiet")
			expectFailure(done, exitFailure)
			Expect(theError(done)).To(ContainSubstring("sha256:"), done.String)
		}
		Expect(os.Lstat(p.at("pulled.tar"))).Error().To(MatchError(os.ErrNotExist))
		if _, err := os.Lstat(p.at("pulled")); err == nil {
			Expect(os.ReadFile(p.at("pulled/index.json"))).NotTo(ContainSubstring("sha256:"), "nothing is published")
		}
		other := startRegistry(controlplane.WebOptions{})
		p.fails(ctx, exitFailure, []string{"sha256:"}, "module", "copy", source+"@"+digest, other.Host()+"/else")
		Expect(fetch(ctx, other, "else/"+inRegistry, "manifests", "1.0.0")).To(BeNil())
		expectFailure(p.run(ctx, "module", "verify", source+"@"+digest, "--key", pub, "--quiet"), exitUnverified, "sha256:")
		x.through()
		p.ok(ctx, "module", "pull", source, "-o", "pulled")
		Expect(p.blobs("pulled")).To(Equal(p.blobs("layout")))
	},
		Entry("the manifest", func(digest string, _ manifest) string { return "/manifests/" + digest }),
		Entry("the descriptor", func(_ string, m manifest) string { return m.Layers[0].Digest }),
		Entry("a layer", func(_ string, m manifest) string { return m.Layers[2].Digest }),
	)
})

// storedSize returns the size of the file of a blob in a layout, or -1 if the file does not exist. The suffix is ".partial" for a blob that is not
// complete yet, and empty otherwise.
func storedSize(layout, suffix, digest string) int64 {
	name := strings.TrimPrefix(digest, "sha256:") + suffix
	if suffix != "" {
		name = "." + name
	}
	info, err := os.Stat(filepath.Join(layout, "blobs", "sha256", name))
	if err != nil {
		return -1
	}
	return info.Size()
}

// A process that ends on a signal leaves no files, and reports the signal.
var _ = DescribeTable("A command ends when it is interrupted by", func(ctx SpecContext, signal os.Signal, args ...string) {
	p, r := newTestUser(), startRegistry(controlplane.WebOptions{})
	x := newProxy(r.URL())
	key, _ := p.hasKeys(ctx, "k")
	p.makes(ctx, p.sample("source", "a", 0), "layout")
	p.ok(ctx, "module", "push", "layout", r.Host()+"/m")
	before := hashOf(p.at("layout"))
	replace := strings.NewReplacer("REGISTRY", x.host(), "MODULE", x.host()+"/m//"+greeter+":1.0.0", "KEY", key)
	for i, arg := range args {
		args[i] = replace.Replace(arg)
	}
	for n := 1; n <= 5; n += 2 {
		x.stallAt(n)
		o := p.start(ctx, "", args...)
		Eventually(x.stalled).Should(Receive())
		Expect(o.cmd.Process.Signal(signal)).To(Succeed())
		expectFailure(o.wait(), exitFailure, "interrupted")
		p.expectTidy()
		Expect(hashOf(p.at("layout"))).To(Equal(before))
	}
},
	Entry("SIGINT, push", syscall.SIGINT, "module", "push", "layout", "REGISTRY/n"),
	Entry("SIGTERM, push", syscall.SIGTERM, "module", "push", "layout", "REGISTRY/n"),
	Entry("SIGINT, pull", syscall.SIGINT, "module", "pull", "MODULE", "-o", "pulled.tar"),
	Entry("SIGTERM, copy", syscall.SIGTERM, "module", "copy", "MODULE", "REGISTRY/n"),
	Entry("SIGTERM, sign", syscall.SIGTERM, "module", "sign", "MODULE", "--key", "KEY"),
	Entry("SIGINT, inspect", syscall.SIGINT, "module", "inspect", "MODULE"),
)
