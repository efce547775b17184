// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"io"
	"os"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// terminal returns both ends of a pseudoterminal: program is written by a program, reader reads its output.
func terminal() (program, reader *os.File) {
	GinkgoHelper()
	reader = must(os.OpenFile("/dev/ptmx", os.O_RDWR, 0))
	DeferCleanup(reader.Close)
	fd := int(reader.Fd())
	Expect(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)).To(Succeed())
	n := must(unix.IoctlGetInt(fd, unix.TIOCGPTN))
	return must(os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)), reader
}

var _ = DescribeTable("A progress bar is shown", func(ctx SpecContext, isTerminal bool, flags ...string) {
	p, r := newTestUser(), startRegistry(controlplane.WebOptions{})
	p.makes(ctx, p.sample("source", "a", 100_000), "layout")
	p.ok(ctx, "module", "push", "layout", r.Host()+"/m")
	cmd := p.command(ctx, binary, append(slowPull(p, r), flags...)...)
	if !isTerminal {
		done := p.startFrom(cmd, "").wait()
		Expect(done.code).To(Equal(exitOK), done.String)
		Expect(done.stderr).NotTo(Or(ContainSubstring("\r"), ContainSubstring("\x1b"), ContainSubstring("Pulling")))
		return
	}
	program, reader := terminal()
	cmd.Stderr = program
	shown := make(chan string, 1)
	go func() {
		// The read ends with an error when the last program has closed it.
		data, _ := io.ReadAll(reader)
		shown <- string(data)
	}()
	o := p.startFrom(cmd, "")
	Expect(program.Close()).To(Succeed())
	done := o.wait()
	Expect(done.code).To(Equal(exitOK), done.String)
	text := <-shown
	if len(flags) > 0 {
		Expect(text).To(BeEmpty())
		return
	}
	Expect(text).To(And(ContainSubstring("\r"), ContainSubstring("Pulling greeter:1.0.0"), MatchRegexp("[1-9][0-9]*%")))
	Expect(done.stdout).NotTo(ContainSubstring("\r"))
},
	Entry("on a terminal", true),
	Entry("on a terminal, but not with --quiet", true, "--quiet"),
	Entry("not in a pipe", false),
)
