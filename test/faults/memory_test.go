// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"slices"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	resident = "process_resident_memory_bytes"
	// mostGrowth is how much the resident memory of the provider can grow while a tenant attacks it.
	mostGrowth = 64 << 20
)

// withinMemory runs a function, and fails if the resident memory of the provider grows too much in the meantime. Use it with
// shipped.
func withinMemory(ctx SpecContext, f func()) {
	GinkgoHelper()
	read := func(ctx context.Context) float64 {
		m, err := Env.Provider.Scrape(ctx)
		if err != nil {
			return 0
		}
		return m.Sum(resident, "")
	}
	before := read(ctx)
	Expect(before).To(BeNumerically(">", 0), "the resident memory of the provider")
	most, stop, stopped := before, make(chan struct{}), make(chan struct{})
	end := func() {
		close(stop)
		<-stopped
	}
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-tick.C:
				most = max(most, read(ctx))
			case <-stop:
				tick.Stop()
				return
			}
		}
	}()
	func() {
		defer end()
		f()
	}()
	const mib = 1 << 20
	GinkgoWriter.Printf("the resident memory of the provider is %.0f MiB before, at most %.0f MiB during, and %.0f MiB after the attack\n",
		before/mib, most/mib, read(ctx)/mib)
	Expect(most-before).To(BeNumerically("<=", mostGrowth), "the growth of the resident memory in bytes")
}

// shipped restarts the provider as it is shipped, with more flags, until the end of the spec. The race detector needs several times
// as much memory, and does not allow limiting the memory of rendering processes.
func shipped(ctx SpecContext, args ...string) {
	GinkgoHelper()
	WithProvider(ctx, func(p *Provider) { p.Binary, p.Args = p.Renderer, slices.Concat(p.Args, args) })
}

// beside runs an attack of another tenant while the tenant installs a Manifest. It fails if a Manifest of the tenant is written in
// the meantime, or if the memory of the provider grows too much. The attack returns a function that waits for its errors.
func (t *tenant) beside(ctx SpecContext, attack func() func()) {
	GinkgoHelper()
	AwaitIdle(ctx)
	t.undisturbed(ctx, func() {
		withinMemory(ctx, func() {
			await := attack()
			GinkgoWriter.Printf("an install takes %s during the attack\n", t.install(ctx))
			await()
			GinkgoWriter.Printf("an install takes %s after the first errors\n", t.install(ctx))
		})
	})
}
