// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("kymactl", func() {
	It("exits with the documented codes", func(ctx SpecContext) {
		p, r := newTestUser(), startRegistry(controlplane.WebOptions{})
		help := p.ok(ctx, "--help").stdout
		Expect(strings.Join(strings.Fields(help), " ")).To(ContainSubstring(
			"0 success, 1 failure, 2 usage error, 3 not found, 4 verification failed, 5 exists with different content, 6 timeout"))
		_, pub := p.hasKeys(ctx, "k")
		p.makes(ctx, p.sample("a", "a", 0), "a")
		p.makes(ctx, p.sample("b", "b", 0), "b")
		ref := p.ok(ctx, "module", "push", "a", r.Host()+"/m").reference()
		x := newProxy(r.URL())
		x.stalls = func(int, *http.Request) bool { return true }
		for _, c := range []struct {
			code int
			why  string
			args []string
		}{
			{exitFailure, "", []string{"module", "inspect", "127.0.0.1:1/m//" + greeter + ":1.0.0"}},
			{exitFailure, "Chart.yaml", []string{"module", "create", p.writeDir("empty", nil), "-o", "out"}},
			{exitUsage, "--nope", []string{"module", "push", "--nope"}},
			{exitUsage, "nope", []string{"module", "nope"}},
			{exitUsage, "arg", []string{"module", "push", "a"}},
			{exitUsage, "xml", []string{"module", "inspect", "a", "-o", "xml"}},
			{exitUsage, "jsonpath", []string{"module", "inspect", "a", "-o", "jsonpath={.a"}},
			{exitUsage, "-o", []string{"module", "create", p.writeDir("empty", nil)}},
			{exitUsage, "--name-mapping", []string{"module", "push", "a", r.Host() + "/m", "--name-mapping", "else"}},
			{exitUsage, "https", []string{"module", "push", "a", "https://" + r.Host() + "/m"}},
			{exitUsage, "http", []string{"module", "inspect", "http://" + ref}},
			{exitNotFound, "9.9.9", []string{"module", "inspect", r.Host() + "/m//" + greeter + ":9.9.9"}},
			{exitNotFound, "nothing", []string{"module", "verify", "./nothing", "--key", pub}},
			{exitNotFound, "nothing", []string{"module", "pull", r.Host() + "/nothing//" + greeter + ":1.0.0", "-o", "out"}},
			{exitUnverified, signature, []string{"module", "verify", ref, "--key", pub}},
			{exitExists, "--overwrite", []string{"module", "push", "b", r.Host() + "/m"}},
		} {
			p.fails(ctx, c.code, []string{c.why}, c.args...)
		}
		for _, args := range [][]string{
			{"module", "inspect", x.host() + "/m//" + greeter + ":1.0.0"}, {"module", "push", "a", x.host() + "/m"},
			{"module", "pull", x.host() + "/m//" + greeter + ":1.0.0", "-o", "out.tar"}, {"module", "copy", ref, x.host() + "/n"},
		} {
			start := time.Now()
			p.fails(ctx, exitTimeout, []string{"--timeout is 500ms"}, append(args, "--timeout", "500ms")...)
			Expect(time.Since(start)).To(BeNumerically("<", 30*time.Second))
		}
	})

	It("writes data to stdout, in the requested format, and everything else to stderr", func(ctx SpecContext) {
		p, r := newTestUser(), startRegistry(controlplane.WebOptions{})
		key, pub := p.hasKeys(ctx, "k")
		dir := p.sample("source", "a", 0)
		p.makes(ctx, dir, "layout", "--key", key)
		base := r.Host() + "/m"
		ref := base + "/" + inRegistry + ":1.0.0"
		for _, c := range []struct {
			format string
			args   []string
		}{
			{"--output-format", []string{"module", "create", dir, "-o", "layout", "--key", key}},
			{"-o", []string{"module", "push", "layout", base}},
			{"-o", []string{"module", "inspect", ref}},
			{"-o", []string{"module", "verify", ref, "--key", pub}},
			{"-o", []string{"module", "sign", ref, "--key", key}},
			{"-o", []string{"module", "copy", ref, r.Host() + "/n"}},
			{"--output-format", []string{"module", "pull", ref, "-o", p.output("pulled")}},
		} {
			table := p.ok(ctx, c.args...)
			// There is no progress bar, and no other control character for a terminal.
			Expect(table.stderr).NotTo(ContainSubstring("\r"))
			Expect(table.stdout + table.stderr).NotTo(ContainSubstring("\x1b"))
			digest := p.inspect(ctx, "layout").Digest
			if c.args[1] != "inspect" {
				Expect(table.digest()).To(Equal(digest))
			}
			quiet := p.ok(ctx, slices.Concat(c.args, []string{c.format, "json", "--quiet"})...)
			Expect(quiet.stderr).To(BeEmpty(), quiet.String)
			Expect(parsed[summary](quiet.stdout).Digest).To(Equal(digest))
			var fromYAML summary
			Expect(yaml.Unmarshal([]byte(p.ok(ctx, slices.Concat(c.args, []string{c.format, "yaml"})...).stdout), &fromYAML)).To(Succeed())
			Expect(fromYAML.Digest).To(Equal(digest))
			Expect(p.ok(ctx, slices.Concat(c.args, []string{c.format, "jsonpath={.name} {.digest}"})...).stdout).To(Equal(greeter + " " + digest + "\n"))
		}
	})

	It("completes command lines in all shells", func(ctx SpecContext) {
		p := newTestUser()
		for _, shell := range []string{"bash", "zsh", "fish"} {
			script := p.ok(ctx, "completion", shell).stdout
			Expect(script).To(ContainSubstring("kymactl"))
			if path, err := exec.LookPath(shell); err == nil {
				out, err := exec.CommandContext(ctx, path, "-n", p.input(shell, script)).CombinedOutput()
				Expect(err).NotTo(HaveOccurred(), string(out))
			}
		}
		Expect(p.ok(ctx, "__complete", "module", "").stdout).To(And(ContainSubstring("create\t"), ContainSubstring("verify\t")))
		Expect(p.ok(ctx, "__complete", "module", "push", "--name-mapping", "").stdout).To(ContainSubstring("sha256-digest"))
	})

	It("compares two versions, and reports no difference if they are equal", func(ctx SpecContext) {
		p := newTestUser()
		p.makes(ctx, p.sample("a", "before", 0), "a")
		p.makes(ctx, p.sample("b", "after", 0), "b.tar", "--version", "1.1.0")
		changed := p.ok(ctx, "module", "diff", "a", "b.tar").stdout
		Expect(changed).To(And(ContainSubstring("said"), ContainSubstring("before"), ContainSubstring("after")))
		parsed[values](p.ok(ctx, "module", "diff", "a", "b.tar", "-o", "json").stdout)
		Expect(p.ok(ctx, "module", "diff", "a", "a").stdout).NotTo(ContainSubstring("said"))
	})
})

// slowPull returns the arguments of a pull through a slow proxy, so that there is time to draw a progress bar.
func slowPull(p *testUser, r *controlplane.Registry) (args []string) {
	x := newProxy(r.URL())
	x.changes(func(q *http.Response) {
		if strings.Contains(q.Request.URL.Path, "/blobs/") {
			q.Body = &slow{q.Body}
		}
	})
	return []string{"module", "pull", x.host() + "/m//" + greeter + ":1.0.0", "-o", p.output("pulled.tar")}
}
