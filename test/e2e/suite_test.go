// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// patience is the time limit for steps that usually take a few seconds. All servers share two cores.
	patience = 60 * time.Second
	// calm is how long specs check that something does not happen.
	calm = 4 * time.Second
	// interval is the time between two polls.
	interval = 200 * time.Millisecond
	// startTimeout includes the build of the servers, if they are not built yet.
	startTimeout = 25 * time.Minute
)

// env is the environment that all specs share. It is set before the first spec.
var env *environment

func TestE2E(t *testing.T) {
	log.SetLogger(logr.Discard())
	RegisterFailHandler(Fail)
	RunSpecs(t, "E2E")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	// Without this, Gomega ignores the default timeouts in assertions with a context.
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(interval)
	SetDefaultConsistentlyDuration(calm)
	SetDefaultConsistentlyPollingInterval(interval)
	e, err := start(ctx)
	Expect(err).NotTo(HaveOccurred())
	env = e
}, NodeTimeout(startTimeout))

var _ = AfterSuite(func() {
	if env == nil {
		return
	}
	defer env.stop()
	Expect(env.control.Err()).NotTo(HaveOccurred())
	Expect(env.target.Err()).NotTo(HaveOccurred())
	Eventually(env.crossplane.Err).Should(Succeed(), "the last pass of the node can have failed because of a conflict")
	Expect(env.refused()).To(BeEmpty(), "the provider has the rights that Crossplane gave it, and no others, and they must do")
	Expect(env.providerLogs()).NotTo(ContainSubstring("Observed a panic"))
})
