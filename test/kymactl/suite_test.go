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
	// patience is how long something may take that usually takes far less than a second. Others use the machine, too.
	patience = 60 * time.Second
	// interval between two looks.
	interval = 10 * time.Millisecond
)

// Exit codes as scripts know them.
const (
	exitOK         = 0
	exitFailure    = 1
	exitUsage      = 2
	exitNotFound   = 3
	exitUnverified = 4
	exitExists     = 5
	exitTimeout    = 6
)

// binary is kymactl. The directory that it is in is open to all users.
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
	// Other users have to find what is in it, and not what it holds.
	Expect(os.Chmod(world, 0o711)).To(Succeed())
	binary = filepath.Join(world, "kymactl")
	Expect(controlplane.BuildKymactl(ctx, world)).To(Equal(binary))
}, NodeTimeout(20*time.Minute))

var _ = AfterSuite(func() {
	if world != "" {
		Expect(os.RemoveAll(world)).To(Succeed())
	}
})

// startRegistry starts one that ends with the spec.
func startRegistry(o controlplane.WebOptions) *controlplane.Registry {
	GinkgoHelper()
	r := must(controlplane.StartRegistry(o))
	DeferCleanup(r.Stop)
	return r
}

// must returns v, or ends the spec.
func must[T any](v T, err error) T {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return v
}
