// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// patience is the time limit for steps that usually take far less than a second. The machine has other load, too.
	patience = 60 * time.Second
	// interval is the time between two polls.
	interval = 10 * time.Millisecond
)

// Exit codes of kymactl.
const (
	exitOK         = 0
	exitFailure    = 1
	exitUsage      = 2
	exitNotFound   = 3
	exitUnverified = 4
	exitExists     = 5
	exitTimeout    = 6
)

// binary is the path of kymactl, world its directory, which is open to all users.
var binary, world string

func TestKymactl(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "kymactl")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(interval)
	world = must(os.MkdirTemp("", "kymactl-suite-"))
	// Other users must be able to open files in it, but not to list them.
	Expect(os.Chmod(world, 0o711)).To(Succeed())
	binary = filepath.Join(world, "kymactl")
	Expect(controlplane.BuildKymactl(ctx, world)).To(Equal(binary))
}, NodeTimeout(20*time.Minute))

var _ = AfterSuite(func() {
	if world != "" {
		Expect(os.RemoveAll(world)).To(Succeed())
	}
})

// startRegistry starts a registry, which stops at the end of the spec.
func startRegistry(o controlplane.WebOptions) *controlplane.Registry {
	GinkgoHelper()
	r := must(controlplane.StartRegistry(o))
	DeferCleanup(r.Stop)
	return r
}

// must returns v. An error fails the spec.
func must[T any](v T, err error) T {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return v
}
