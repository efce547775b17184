// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// assault creates a tenant with many Manifests on a slow cluster, and edits them continuously until the end of the spec.
func assault(ctx SpecContext, manifests int) {
	GinkgoHelper()
	// The server runs until the Manifests are removed.
	server := slow(time.Second)
	s := NewSpace(ctx)
	s.Config(ctx, "slow", At(server.url)())
	source := chart(ctx)
	for i := range manifests {
		name := fmt.Sprintf("hostile-%d", i)
		s.Create(ctx, With(s.Manifest(name, s.InstallOf(name, source, nil)), "slow"))
	}
	Eventually(func() (float64, error) {
		m, err := Env.Provider.Scrape(ctx)
		return m.Sum(states, `"Connected"`), err
	}).Should(BeNumerically(">=", 2), "the clusters of both tenants")
	DeferCleanup(func() { server.delay.Store(0) })
	repeatedly(func(ctx context.Context, i int) {
		m, err := s.Get(ctx, fmt.Sprintf("hostile-%d", i%manifests))
		if err == nil {
			SetValues(Values{"message": strconv.Itoa(i)})(m)
			_ = Env.ControlClient.Update(ctx, m)
		}
	})
}

// A pause pauses what runs repeatedly.
type pause struct{ atomic.Bool }

// repeatedly calls a function with ascending numbers five times per second until the end of the spec, except during the pause.
func repeatedly(f func(ctx context.Context, i int)) *pause {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	paused := &pause{}
	running.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if !paused.Load() {
				f(ctx, i)
			}
			select {
			case <-time.After(200 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	DeferCleanup(func() {
		cancel()
		running.Wait()
	})
	return paused
}

// undisturbed runs a function, and fails if a Ready Manifest of the tenant changes in the meantime.
func (t *tenant) undisturbed(ctx SpecContext, f func()) {
	GinkgoHelper()
	last := fmt.Sprintf("install-%d", t.count)
	before := t.AwaitReady(ctx, last)
	f()
	Expect(Must(t.Get(ctx, last)).ResourceVersion).To(Equal(before.ResourceVersion), "a Manifest of the other tenant was written")
}

var _ = Describe("A tenant with many Manifests on a slow cluster", func() {
	It("does not change the Manifests of another tenant", Label("short"), func(ctx SpecContext) {
		t := newTenant(ctx)
		AwaitIdle(ctx)
		t.undisturbed(ctx, func() {
			assault(ctx, 20)
			t.install(ctx)
		})
	})

	It("does not delay the install of another tenant", func(ctx SpecContext) {
		t := newTenant(ctx)
		before := t.fastest(ctx)
		AwaitIdle(ctx)
		t.undisturbed(ctx, func() {
			assault(ctx, 60)
			t.expectHardlyDelayed(ctx, before, "a hostile tenant", unprepared)
		})
	})
})

var _ = Describe("A custom resource whose status changes constantly", Label("short"), func() {
	It("causes at most 12 reconciles per minute", func(ctx SpecContext) {
		s := NewSpace(ctx)
		m := s.Module(ctx, "beating")
		s.Create(ctx, m)
		Eventually(s.GetWidget).WithContext(ctx).WithArguments("main").ShouldNot(BeNil())
		beat := func(i int) { s.SetStatus(ctx, "main", fmt.Sprintf(`{"state": "Ready", "beat": %d}`, i)) }
		beat(0)
		s.AwaitReady(ctx, m.Name)
		beats := 0
		beatFor := func(d time.Duration) {
			for start, tick := time.Now(), time.Tick(100*time.Millisecond); time.Since(start) < d; beats++ {
				beat(beats)
				<-tick
			}
		}
		// A Manifest that has just become Ready is reconciled more often.
		beatFor(6 * time.Second)
		beats = 0
		// Two reconciles are at least 5 s apart, and the first can be at the beginning.
		c := measure(ctx, func() { beatFor(58 * time.Second) })
		GinkgoWriter.Printf("%d changes of a status in %s cost %s\n", beats, c.time, c)
		Expect(c.reconciles).To(BeNumerically("<=", c.time.Seconds()/5+1))
		Expect(Must(s.Get(ctx, m.Name)).Status.AtProvider.State).To(Equal(v1alpha1.StateReady))
	})
})
