// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// walk calls f for each entry below a directory, the deepest first.
func walk(dir string, f func(path string, d fs.DirEntry)) {
	GinkgoHelper()
	type entry struct {
		path string
		d    fs.DirEntry
	}
	var all []entry
	Expect(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		all = append(all, entry{path, d})
		return err
	})).To(Succeed())
	slices.Reverse(all)
	for _, e := range all {
		f(e.path, e.d)
	}
}

// backwards copies a directory and creates its files in reverse order.
func backwards(from, to string) {
	GinkgoHelper()
	walk(from, func(path string, d fs.DirEntry) {
		if d.IsDir() {
			return
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		Expect(os.MkdirAll(filepath.Dir(target), 0o755)).To(Succeed())
		Expect(os.WriteFile(target, must(os.ReadFile(path)), 0o644)).To(Succeed())
	})
}

// modes sets the modes of all files and directories below a directory.
func modes(root string, fileMode, dirMode os.FileMode) {
	GinkgoHelper()
	walk(root, func(path string, d fs.DirEntry) {
		if d.IsDir() {
			Expect(os.Chmod(path, dirMode)).To(Succeed())
		} else {
			Expect(os.Chmod(path, fileMode)).To(Succeed())
		}
	})
}

// The same input gives the same digest. The fixtures have all kinds of parts.
var _ = DescribeTableSubtree("The digest of", func(fixture string, args ...string) {
	var (
		p    *testUser
		dir  string
		want string
		tree string
	)
	BeforeEach(func(ctx SpecContext) {
		p = newTestUser()
		dir = p.fixture(fixture, "first")
		want = p.makes(ctx, dir, "layout", args...)
		tree = hashOf(p.at("layout"))
		Expect(want).To(Equal(golden(fixture)))
	})

	// same checks that a directory gives the same layout, byte for byte.
	same := func(ctx SpecContext, dir string) {
		GinkgoHelper()
		Expect(p.makes(ctx, dir, "other", args...)).To(Equal(want))
		Expect(hashOf(p.at("other"))).To(Equal(tree))
		Expect(os.RemoveAll(p.at("other"))).To(Succeed())
	}

	It("does not depend on the name of the directory or the times, modes and order of its files", func(ctx SpecContext) {
		renamed := p.fixture(fixture, "a clone/of.another Näme")
		same(ctx, renamed)
		n := 0
		walk(renamed, func(path string, _ fs.DirEntry) {
			n++
			t := time.Unix(int64(1_000_000*(n*7919%1000)), int64(n))
			Expect(os.Chtimes(path, t, t)).To(Succeed())
		})
		same(ctx, renamed)
		modes(renamed, 0o600, 0o700)
		same(ctx, renamed)
		reversed := filepath.Join(p.path("input"), "reversed")
		backwards(dir, reversed)
		same(ctx, reversed)
		Expect(os.Mkdir(filepath.Join(reversed, ".git"), 0o755)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(reversed, ".git", "HEAD"), []byte("ref: refs/heads/other"), 0o644)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(reversed, ".DS_Store"), []byte("x"), 0o644)).To(Succeed())
		same(ctx, reversed)
		// Without an argument, the working directory is used.
		p.attributes = nil
		cmd := p.command(ctx, binary, slices.Concat([]string{"module", "create", "-o", p.at(p.output("other"))}, args)...)
		cmd.Dir = renamed
		Expect(p.startFrom(cmd, "").wait().digest()).To(Equal(want))
	})

	if fixture != "full" {
		return
	}

	It("does not depend on the locale, time zone, umask or number of threads", func(ctx SpecContext) {
		for _, env := range [][]string{
			{"LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "TZ=Pacific/Kiritimati"}, {"LANG=C", "TZ=America/New_York", "USER=user", "HOSTNAME=else"},
			{"GOMAXPROCS=1"}, {"GOMAXPROCS=16", "GOGC=1"}, {"SOURCE_DATE_EPOCH=1234567890"},
		} {
			p.env = env
			same(ctx, dir)
		}
		p.env = nil
		// Everything that kymactl writes here gets its modes from this umask.
		cmd := p.command(ctx, "/bin/sh", slices.Concat([]string{"-c", `umask 077; exec "$0" "$@"`, binary, "module", "create", dir, "-o", p.output("masked")}, args)...)
		Expect(p.startFrom(cmd, "").wait().digest()).To(Equal(want))
		same(ctx, dir)
	})

	It("is the same in a directory, a tar and a registry", func(ctx SpecContext) {
		for _, to := range []string{"m.tar", "m.tar.gz", "m.tgz"} {
			Expect(p.makes(ctx, dir, to, args...)).To(Equal(want))
			Expect(p.inspect(ctx, to).Digest).To(Equal(want))
			data := must(os.ReadFile(p.at(to)))
			Expect(p.makes(ctx, dir, to, args...)).To(Equal(want))
			Expect(os.ReadFile(p.at(to))).To(Equal(data), "twice the same file")
		}
	})

	It("is the same for 8 concurrent processes, with separate outputs and with the same one", func(ctx SpecContext) {
		before := hashOf(dir)
		for _, to := range []func(i int) string{
			func(i int) string { return "own-" + strconv.Itoa(i) },
			func(int) string { return "shared" },
			func(int) string { return "shared.tar" },
		} {
			var all []*process
			for i := range 8 {
				all = append(all, p.start(ctx, "", slices.Concat([]string{"module", "create", dir, "-o", p.output(to(i))}, args)...))
			}
			for _, o := range all {
				r := o.wait()
				Expect(r.code).To(Equal(exitOK), r.String)
				Expect(r.digest()).To(Equal(want))
			}
		}
		Expect(hashOf(dir)).To(Equal(before))
		for _, layout := range []string{"own-0", "own-7", "shared"} {
			Expect(hashOf(p.at(layout))).To(Equal(tree))
		}
		Expect(p.inspect(ctx, "shared.tar").Digest).To(Equal(want))
	})
},
	Entry("a module.yaml", "full"),
	Entry("a chart", "chart", "--name", greeter),
	Entry("a kubebuilder project", "kubebuilder", "--version", "0.1.0"),
)
