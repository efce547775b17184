// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// A second run completes the work of a process that was killed at any point.
var _ = Describe("A killed command can be run again", func() {
	var (
		p        *testUser
		r        *controlplane.Registry
		x        *proxy
		key, pub string
		digest   string
	)
	BeforeEach(func(ctx SpecContext) {
		p, r = newTestUser(), startRegistry(controlplane.WebOptions{})
		x = newProxy(r.URL())
		key, pub = p.hasKeys(ctx, "k")
		digest = p.makes(ctx, p.sample("source", "a", 2000), "layout", "--key", key)
	})

	// atEach kills the command at each request, and runs it again. args and check get the number of the request. With a step of
	// 2, the seed selects the half of the requests.
	atEach := func(ctx context.Context, step int, args func(n int) []string, check func(n int, again run)) {
		GinkgoHelper()
		for n := 1 + int(GinkgoRandomSeed())%step; ; n += step {
			x.stallAt(n)
			o := p.start(ctx, "", args(n)...)
			select {
			case <-x.stalled:
				o.kill()
			case <-o.done:
				Expect(n).To(BeNumerically(">", 4), o.wait().String())
				Expect(o.wait().code).To(Equal(exitOK), o.wait().String())
				return
			case <-time.After(patience):
				Fail("neither a request nor an end")
			}
			x.through()
			check(n, p.ok(ctx, args(n)...))
		}
	}

	It("during push", func(ctx SpecContext) {
		atEach(ctx, 1, func(n int) []string { return []string{"module", "push", "layout", x.host() + "/m" + letter(n)} }, func(n int, again run) {
			Expect(again.digest()).To(Equal(digest))
			layout := p.blobs("layout")
			for d, blob := range content(ctx, r, "m"+letter(n)+"/"+inRegistry, "1.0.0") {
				Expect(layout).To(HaveKeyWithValue(d, blob))
			}
			p.ok(ctx, "module", "verify", again.reference(), "--key", pub, "--cosign")
		})
	})

	It("during pull", func(ctx SpecContext) {
		source := p.ok(ctx, "module", "push", "layout", x.host()+"/m").reference()
		atEach(ctx, 1, func(n int) []string { return []string{"module", "pull", source, "-o", p.output("pulled-" + letter(n))} }, func(n int, again run) {
			Expect(again.digest()).To(Equal(digest))
			Expect(p.blobs("pulled-" + letter(n))).To(Equal(p.blobs("layout")))
		})
	})

	It("during copy", func(ctx SpecContext) {
		source := p.ok(ctx, "module", "push", "layout", r.Host()+"/m").reference()
		atEach(ctx, 2, func(n int) []string { return []string{"module", "copy", source, x.host() + "/c" + letter(n)} }, func(n int, again run) {
			Expect(again.digest()).To(Equal(digest))
			Expect(content(ctx, r, "c"+letter(n)+"/"+inRegistry, "1.0.0")).To(Equal(content(ctx, r, "m/"+inRegistry, "1.0.0")))
		})
	})

	It("during sign", func(ctx SpecContext) {
		p.makes(ctx, p.sample("unsigned", "a", 0), "unsigned")
		at := func(n int) string {
			return x.host() + "/s" + letter(n) + "//" + greeter + ":1.0.0"
		}
		next := func(n int) []string {
			// Push the module to sign.
			direct := r.Host() + "/s" + letter(n)
			if fetch(ctx, r, "s"+letter(n)+"/"+inRegistry, "manifests", "1.0.0") == nil {
				p.ok(ctx, "module", "push", "unsigned", direct)
			}
			return []string{"module", "sign", at(n), "--key", key}
		}
		atEach(ctx, 2, next, func(n int, again run) {
			Expect(again.digest()).To(Equal(digestOf(fetch(ctx, r, "s"+letter(n)+"/"+inRegistry, "manifests", "1.0.0"))))
			content(ctx, r, "s"+letter(n)+"/"+inRegistry, "1.0.0")
			p.ok(ctx, "module", "verify", at(n), "--key", pub, "--cosign")
		})
	})

	DescribeTable("during create, at any time", func(ctx SpecContext, to string) {
		dir := p.sample("large", "a", 3_000_000)
		start := time.Now()
		want := p.ok(ctx, "module", "create", dir, "--key", key, "-o", p.output("whole")).digest()
		took := time.Since(start)
		killed := 0
		for i := 0; i < 30 && killed < 10; i++ {
			start = time.Now()
			o := p.start(ctx, "", "module", "create", dir, "--key", key, "-o", p.output(to))
			select {
			case <-time.After(took * time.Duration(i%10+1) / 11 * time.Duration(90+rand.IntN(20)) / 100):
				o.kill()
				killed++
			case <-o.done:
				// The machine was busier during the earlier runs.
				took = min(took, time.Since(start))
			}
			// Temporary files belong to the killed process, and are removed when they are older than a minute.
			for _, name := range names(p.path("work")) {
				if !strings.HasPrefix(name, "."+to+".") {
					continue
				}
				old := time.Now().Add(-time.Hour)
				Expect(os.Chtimes(p.at(name), old, old)).To(Succeed())
			}
		}
		Expect(killed).To(BeNumerically(">", 3))
		Expect(p.ok(ctx, "module", "create", dir, "--key", key, "-o", to).digest()).To(Equal(want))
		Expect(p.ok(ctx, "module", "verify", to, "--key", pub, "--cosign").digest()).To(Equal(want))
		if filepath.Ext(to) == "" {
			Expect(p.blobs(to)).To(Equal(p.blobs("whole")))
		}
		p.expectTidy()
	},
		Entry("into a directory", "made"),
		Entry("into a tar", "made.tar"),
	)
})

// letter returns a letter pair for a number, for use in names.
func letter(n int) string { return string(rune('a'+n/26)) + string(rune('a'+n%26)) }
