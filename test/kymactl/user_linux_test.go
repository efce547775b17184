// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// otherUser runs the processes of a testUser as another user: as UID 65534 if the test runs as root, otherwise with another ID in a
// user namespace.
func (p *testUser) otherUser() {
	GinkgoHelper()
	if os.Getuid() != 0 {
		p.attributes = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 4321, HostID: os.Getuid(), Size: 1}},
		}
		return
	}
	const unprivileged = 65534
	p.attributes = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged, NoSetGroups: false}}
	for _, dir := range []string{"home", "tmp", "work"} {
		Expect(os.Chown(p.path(dir), unprivileged, unprivileged)).To(Succeed())
	}
}

var _ = Describe("Another user", func() {
	It("gets the same digest for a read-only directory", func(ctx SpecContext) {
		p := newTestUser()
		p.otherUser()
		dir := p.fixture("full", "source")
		modes(dir, 0o444, 0o555)
		defer modes(dir, 0o644, 0o755)
		before := hashOf(dir)
		Expect(p.makes(ctx, dir, "layout")).To(Equal(golden("full")))
		Expect(p.makes(ctx, dir, "m.tar")).To(Equal(golden("full")))
		// It also works in the directory itself.
		cmd := p.command(ctx, binary, "module", "create", "--dry-run")
		cmd.Dir = dir
		r := p.startFrom(cmd, "").wait()
		Expect(r.code).To(Equal(exitOK), r.String)
		Expect(r.digest()).To(Equal(golden("full")))
		Expect(hashOf(dir)).To(Equal(before))
		if os.Getuid() == 0 {
			p.fails(ctx, exitFailure, []string{"permission denied"}, "module", "create", dir, "-o", filepath.Join(dir, "layout"))
		}
	})
})

var _ = Describe("The binary", func() {
	It("is static, and works without environment variables", func(ctx SpecContext) {
		f := must(elf.Open(binary))
		defer f.Close()
		for _, s := range f.Progs {
			Expect(s.Type).NotTo(BeElementOf(elf.PT_INTERP, elf.PT_DYNAMIC))
		}
		Expect(f.Section(".dynamic")).To(BeNil())
		cmd := exec.CommandContext(ctx, binary, "--version")
		cmd.Env, cmd.Dir = []string{}, "/"
		Expect(cmd.Output()).To(MatchRegexp(`^v\S+\n$`))
	})
})
