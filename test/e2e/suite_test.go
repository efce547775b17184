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
	// patience is how long something may take that usually takes a few seconds. Two cores carry all servers.
	patience = 60 * time.Second
	// calm is how long something must hold that must not happen.
	calm = 4 * time.Second
	// interval between two looks.
	interval = 200 * time.Millisecond
	// startTimeout includes building the servers, when no one has built them yet.
	startTimeout = 25 * time.Minute
)

// env is what all specs share. It is set before the first spec.
var env *environment

func TestE2E(t *testing.T) {
	log.SetLogger(logr.Discard())
	RegisterFailHandler(Fail)
	RunSpecs(t, "E2E")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	// Gomega leaves defaults out where it is given a context.
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
	Expect(env.crossplane.Err()).NotTo(HaveOccurred())
	Expect(env.refused()).To(BeEmpty(), "the provider has the rights that Crossplane gave it, and no others, and they must do")
	Expect(env.providerLogs()).NotTo(ContainSubstring("Observed a panic"))
})
