// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// patience is how long something may take that usually takes a few seconds. Two cores carry all servers.
	patience = 60 * time.Second
	// calm is how long something must hold that must not happen.
	calm = 3 * time.Second
	// interval between two looks.
	interval = 200 * time.Millisecond
	// startTimeout includes building the servers, when no one has built them yet.
	startTimeout = 25 * time.Minute
)

// env is what all specs share. It is set before the first spec.
var env *environment

func TestIntegration(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Integration")
}

// Each process of ginkgo has an environment of its own; what they run is built once.
var _ = SynchronizedBeforeSuite(func(ctx SpecContext) []byte {
	dir, err := buildBinaries(ctx)
	Expect(err).NotTo(HaveOccurred())
	return []byte(dir)
}, func(ctx SpecContext, binaries []byte) {
	log.SetLogger(GinkgoLogr)
	// Gomega leaves defaults out where it is given a context.
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(interval)
	SetDefaultConsistentlyDuration(calm)
	SetDefaultConsistentlyPollingInterval(interval)
	e, err := start(ctx, string(binaries))
	Expect(err).NotTo(HaveOccurred())
	env = e
}, NodeTimeout(startTimeout))

var _ = SynchronizedAfterSuite(func() {
	if env == nil {
		return
	}
	defer env.stop()
	Expect(env.control.Err()).NotTo(HaveOccurred())
	Expect(env.target.Err()).NotTo(HaveOccurred())
	Expect(env.provider.log()).NotTo(ContainSubstring("DATA RACE"))
	Expect(env.provider.log()).NotTo(ContainSubstring("Observed a panic"))
}, func() {
	if env != nil {
		Expect(os.RemoveAll(env.binaries)).To(Succeed())
	}
})
