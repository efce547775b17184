// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const states = "provider_kyma_target_connection_states"

// A fleet contains clusters with each fault, and Manifests for each of them.
type fleet struct {
	*Space

	each, modules int
}

// add adds the fleet to the control plane, and waits until the provider knows the state of each cluster.
func (f *fleet) add(ctx SpecContext) {
	GinkgoHelper()
	f.Space = NewSpace(ctx)
	// This runs before the space is cleaned up.
	DeferCleanup(f.abandon)
	source := chart(ctx)
	for kind, start := range map[string]fault{"hanging": hanging, "black-holed": blackHoled, "refusing": refusing} {
		for i := range f.each {
			name := fmt.Sprintf("%s-%d", kind, i)
			f.Config(ctx, name, At(start(ctx))())
			for j := range f.modules {
				f.Create(ctx, With(f.Manifest(fmt.Sprintf("%s-%d", name, j), f.InstallOf("web", source, nil)), name))
			}
		}
	}
	Eventually(unreachable).WithContext(ctx).Should(Equal(3 * f.each))
}

// abandon removes the Manifests even though their clusters do not respond. They have not installed anything.
func (f *fleet) abandon(ctx SpecContext) {
	list := &v1alpha1.ManifestList{}
	Expect(Env.ControlClient.List(ctx, list, client.InNamespace(f.Name))).To(Succeed())
	for i := range list.Items {
		m := &list.Items[i]
		Expect(Env.ControlClient.Delete(ctx, m)).To(Succeed())
		Expect(Env.ControlClient.Patch(ctx, m, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))).To(Or(Succeed(), BeNotFound()))
	}
}

// unreachable returns the number of clusters that the provider reports as unreachable.
func unreachable(ctx SpecContext) (int, error) {
	m, err := Env.Provider.Scrape(ctx)
	return int(m.Sum(states, `"Unreachable"`)), err
}

// rest measures an idle fleet for a duration.
func (f *fleet) rest(ctx SpecContext, d time.Duration) {
	GinkgoHelper()
	c := measure(ctx, func() {
		Consistently(unreachable).WithContext(ctx).WithTimeout(d).WithPolling(2 * time.Second).Should(Equal(3 * f.each))
	})
	GinkgoWriter.Printf("%d clusters with %d Manifests each cost %s\n", 3*f.each, f.modules, c)
	// The pauses of 1, 2, 4, 8, 16 and 32 seconds together last about a minute, and each of them can be up to a quarter
	// shorter.
	Expect(c.failed).To(And(BeNumerically(">", 0), BeNumerically("<=", 3*f.each*7)))
	Expect(c.answered).To(BeNumerically("<=", 5), "a probe needs no more")
}

var _ = Describe("Clusters that do not respond", func() {
	It("get few requests, and cause no changes to Manifests of other clusters", Label("short"), func(ctx SpecContext) {
		t := newTenant(ctx)
		f := &fleet{each: 5, modules: 3}
		f.add(ctx)
		t.install(ctx)
		f.rest(ctx, 15*time.Second)
	})

	It("do not delay the install of a Manifest on another cluster", func(ctx SpecContext) {
		t := newTenant(ctx)
		before := t.fastest(ctx)
		f := &fleet{each: 20, modules: 5}
		f.add(ctx)
		t.expectHardlyDelayed(ctx, before, fmt.Sprintf("%d clusters that do not answer", 3*f.each), unprepared)
		f.rest(ctx, time.Minute)
	})
})

// slowRequest is less than the limit of a probe.
const slowRequest = 6500 * time.Millisecond

// A slowFleet is a tenant with many ProviderConfigs for clusters that respond slowly.
type slowFleet struct {
	*Space

	servers []*slowServer
}

// newSlowFleet creates a slowFleet, and waits until the provider works on all clusters. Each response takes the delay.
func newSlowFleet(ctx SpecContext, clusters int, delay time.Duration) *slowFleet {
	GinkgoHelper()
	// The servers run until the Manifests are removed.
	servers := make([]*slowServer, 0, clusters)
	for range clusters {
		servers = append(servers, slow(delay))
	}
	s := NewSpace(ctx)
	source := chart(ctx)
	// This runs before the space is cleaned up.
	DeferCleanup(func() {
		for _, server := range servers {
			server.delay.Store(0)
		}
	})
	for i, server := range servers {
		name := fmt.Sprintf("slow-%d", i)
		s.Config(ctx, name, At(server.url)())
		for j := range 3 {
			manifest := fmt.Sprintf("%s-%d", name, j)
			s.Create(ctx, With(s.Manifest(manifest, s.InstallOf(manifest, source, nil)), name))
		}
	}
	Eventually(func() (float64, error) {
		m, err := Env.Provider.Scrape(ctx)
		return m.Sum(states, `"Connected"`), err
	}).WithContext(ctx).Should(BeNumerically(">", clusters), "the slow clusters are connected")
	return &slowFleet{Space: s, servers: servers}
}

// delay sets how long each response takes.
func (f *slowFleet) delay(d time.Duration) {
	for _, s := range f.servers {
		s.delay.Store(int64(d))
	}
}

// edit changes all Manifests once.
func (f *slowFleet) edit(ctx SpecContext, message string) {
	GinkgoHelper()
	for _, name := range Must(f.Manifests(ctx)) {
		name, _, _ = strings.Cut(name, ":")
		f.Update(ctx, name, SetValues(Values{"message": message}))
	}
}

// awaitReady waits until the current content of all Manifests is installed.
func (f *slowFleet) awaitReady(ctx SpecContext) {
	GinkgoHelper()
	for _, name := range Must(f.Manifests(ctx)) {
		name, _, _ = strings.Cut(name, ":")
		f.AwaitReady(ctx, name)
	}
}

var _ = Describe("Clusters that respond slowly", func() {
	It("do not delay the installs of another tenant", func(ctx SpecContext) {
		t := newTenant(ctx)
		before := t.fastest(ctx)
		newSlowFleet(ctx, 20, slowRequest)
		during := t.fastest(ctx)
		GinkgoWriter.Printf("an install takes %s without and %s with 20 clusters that respond slowly\n", before, during)
		// Unlike clusters that do not respond, these ones are worked on, which needs some of the CPU time.
		Expect(during).To(BeNumerically("<=", 2*before))
	})

	It("do not delay the first install of a new tenant", func(ctx SpecContext) {
		newTenant(ctx)
		newSlowFleet(ctx, 20, slowRequest)
		start := time.Now()
		newTenant(ctx)
		took := time.Since(start)
		GinkgoWriter.Printf("the first install of a new tenant takes %s with 20 clusters that respond slowly\n", took)
		Expect(took).To(BeNumerically("<", slowRequest), "it waits for no slow request")
	})
})

var _ = Describe("Clusters that stop responding after they were connected", func() {
	It("do not delay the installs of another tenant", func(ctx SpecContext) {
		t := newTenant(ctx)
		before := t.fastest(ctx)
		f := newSlowFleet(ctx, 20, 0)
		t.expectHardlyDelayed(ctx, before, "20 clusters that stop responding", func(i int) time.Duration {
			f.delay(0)
			f.awaitReady(ctx)
			By("not responding to requests while the watches are open")
			f.delay(time.Hour)
			f.edit(ctx, strconv.Itoa(i))
			// The edits themselves are a load for the control plane. When it is over, passes wait for responses.
			AwaitIdle(ctx)
			return 0
		})
	})
})
