// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"testing"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"

	_ "github.com/crossplane-contrib/provider-kyma/test/integration/kyma"
	_ "github.com/crossplane-contrib/provider-kyma/test/integration/kymactl"
	_ "github.com/crossplane-contrib/provider-kyma/test/integration/kymaset"
	_ "github.com/crossplane-contrib/provider-kyma/test/integration/manifest"
	_ "github.com/crossplane-contrib/provider-kyma/test/integration/manifest/bad"
	_ "github.com/crossplane-contrib/provider-kyma/test/integration/manifest/drift"
	_ "github.com/crossplane-contrib/provider-kyma/test/integration/manifest/hooks"
	_ "github.com/crossplane-contrib/provider-kyma/test/integration/manifest/sources"
	_ "github.com/crossplane-contrib/provider-kyma/test/integration/manifest/upgrade"
	_ "github.com/crossplane-contrib/provider-kyma/test/integration/moduletemplate"
	_ "github.com/crossplane-contrib/provider-kyma/test/integration/provider"
	_ "github.com/crossplane-contrib/provider-kyma/test/integration/release"
)

func TestIntegration(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Integration")
}

// Each ginkgo process has its own environment. The binaries are built once.
var _ = SynchronizedBeforeSuite(func(ctx SpecContext) []byte {
	dir, err := BuildBinaries(ctx)
	Expect(err).NotTo(HaveOccurred())
	return []byte(dir)
}, func(ctx SpecContext, binaries []byte) {
	log.SetLogger(GinkgoLogr)
	// Without this, Gomega ignores the default timeouts in assertions with a context.
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyTimeout(Patience)
	SetDefaultEventuallyPollingInterval(Interval)
	SetDefaultConsistentlyDuration(Calm)
	SetDefaultConsistentlyPollingInterval(Interval)
	e, err := Start(ctx, string(binaries))
	Expect(err).NotTo(HaveOccurred())
	Env = e
}, NodeTimeout(StartTimeout))

var _ = SynchronizedAfterSuite(func() {
	if Env == nil {
		return
	}
	defer Env.Stop()
	Expect(Env.Control.Err()).NotTo(HaveOccurred())
	Expect(Env.Target.Err()).NotTo(HaveOccurred())
	Expect(Env.Provider.Log()).NotTo(ContainSubstring("DATA RACE"))
	Expect(Env.Provider.Log()).NotTo(ContainSubstring("Observed a panic"))
}, func() {
	if Env != nil {
		Expect(os.RemoveAll(Env.Binaries)).To(Succeed())
	}
})
