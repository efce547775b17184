// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"os"
	"testing"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func TestFaults(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Faults")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	log.SetLogger(GinkgoLogr)
	// Without this, Gomega ignores the default timeouts in assertions with a context.
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyTimeout(Patience)
	SetDefaultEventuallyPollingInterval(Interval)
	SetDefaultConsistentlyDuration(Calm)
	SetDefaultConsistentlyPollingInterval(Interval)
	dir, err := BuildBinaries(ctx)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, dir)
	Env, err = Start(ctx, dir)
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(StartTimeout))

var _ = AfterSuite(func() {
	if Env == nil {
		return
	}
	defer Env.Stop()
	Expect(Env.Provider.Log()).NotTo(ContainSubstring("DATA RACE"))
	Expect(Env.Provider.Log()).NotTo(ContainSubstring("Observed a panic"))
})
