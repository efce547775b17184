// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A testUser runs kymactl with its own home, temporary and working directories, with
// no other program in its path, and with nothing else in the environment.
type testUser struct {
	dir string
	env []string
	// attributes are the attributes of the processes, or nil.
	attributes *syscall.SysProcAttr
	// outputs lists the files named with -o in the working directory, kept the files that hasHome put into the home.
	outputs, kept []string
	// secrets are texts that must not appear in any output.
	secrets []string
}

// newTestUser returns a testUser. At the end of the spec, its runs must have left no files but those named with -o.
func newTestUser() *testUser {
	GinkgoHelper()
	p := &testUser{dir: must(os.MkdirTemp(world, "p"))}
	Expect(os.Chmod(p.dir, 0o711)).To(Succeed())
	for _, dir := range []string{"home", "tmp", "work", "path", "input"} {
		Expect(os.Mkdir(p.path(dir), 0o755)).To(Succeed())
	}
	DeferCleanup(func() {
		defer os.RemoveAll(p.dir)
		p.expectTidy()
	})
	return p
}

// expectTidy checks that the runs left no other files.
func (p *testUser) expectTidy() {
	GinkgoHelper()
	for dir, want := range map[string][]string{"home": p.kept, "tmp": nil, "work": p.outputs} {
		for _, name := range names(p.path(dir)) {
			Expect(want).To(ContainElement(name), "what is in "+dir)
		}
	}
}

func (p *testUser) path(name string) string { return filepath.Join(p.dir, name) }

// output registers the name of a file for -o in the working directory, and returns it.
func (p *testUser) output(name string) string {
	if !slices.Contains(p.outputs, name) {
		p.outputs = append(p.outputs, name)
	}
	return name
}

// at returns the path of an output.
func (p *testUser) at(name string) string { return filepath.Join(p.path("work"), name) }

// input writes a file outside the working directory, and returns its path.
func (p *testUser) input(name, content string) string {
	GinkgoHelper()
	path := filepath.Join(p.path("input"), name)
	Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	Expect(os.WriteFile(path, []byte(content), 0o644)).To(Succeed())
	return path
}

// Writes files by path into a directory, and returns its path.
func (p *testUser) writeDir(name string, files map[string]string) string {
	GinkgoHelper()
	Expect(os.MkdirAll(filepath.Join(p.path("input"), name), 0o755)).To(Succeed())
	for file, content := range files {
		p.input(filepath.Join(name, file), content)
	}
	return filepath.Join(p.path("input"), name)
}

// hasHome puts a file into the home.
func (p *testUser) hasHome(name, content string, mode os.FileMode) {
	GinkgoHelper()
	path := filepath.Join(p.path("home"), name)
	Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	Expect(os.WriteFile(path, []byte(content), mode)).To(Succeed())
	p.kept = append(p.kept, strings.Split(name, "/")[0])
}

// A run is a finished run of kymactl.
type run struct {
	args           []string
	code           int
	stdout, stderr string
}

func (r run) String() string {
	return fmt.Sprintf("kymactl %s: exit code %d\nstdout:\n%s\nstderr:\n%s", strings.Join(r.args, " "), r.code, r.stdout, r.stderr)
}

// digest returns the last line of stdout, which must be a digest.
func (r run) digest() string {
	GinkgoHelper()
	all := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	last := all[len(all)-1]
	Expect(last).To(MatchRegexp("^sha256:[0-9a-f]{64}$"), r.String)
	return last
}

// reference returns the line before the digest.
func (r run) reference() string {
	GinkgoHelper()
	all := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	Expect(len(all)).To(BeNumerically(">", 1), r.String)
	return all[len(all)-2]
}

// A process is a running kymactl.
type process struct {
	p              *testUser
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	done           chan struct{}
}

// start starts kymactl, which ends with the context at the latest.
func (p *testUser) start(ctx context.Context, stdin string, args ...string) *process {
	GinkgoHelper()
	return p.startFrom(p.command(ctx, binary, args...), stdin)
}

// command returns a command with the environment of the user.
func (p *testUser) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(ctx, patience)
	DeferCleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = p.path("work")
	cmd.Env = slices.Concat([]string{"HOME=" + p.path("home"), "TMPDIR=" + p.path("tmp"), "PATH=" + p.path("path")}, p.env)
	cmd.SysProcAttr = p.attributes
	return cmd
}

func (p *testUser) startFrom(cmd *exec.Cmd, stdin string) *process {
	GinkgoHelper()
	o := &process{p: p, cmd: cmd, done: make(chan struct{})}
	o.cmd.Stdin = strings.NewReader(stdin)
	if o.cmd.Stdout == nil {
		o.cmd.Stdout = &o.stdout
	}
	if o.cmd.Stderr == nil {
		o.cmd.Stderr = &o.stderr
	}
	Expect(o.cmd.Start()).To(Succeed())
	go func() {
		defer close(o.done)
		_ = o.cmd.Wait()
	}()
	return o
}

// wait waits until the process has ended.
func (o *process) wait() run {
	GinkgoHelper()
	<-o.done
	r := run{args: o.cmd.Args[1:], code: o.cmd.ProcessState.ExitCode(), stdout: o.stdout.String(), stderr: o.stderr.String()}
	for _, s := range o.p.secrets {
		Expect(strings.Contains(r.stdout+r.stderr, s)).To(BeFalse(), "kymactl %s shows a secret", strings.Join(r.args, " "))
	}
	return r
}

// kill kills the process, as if its machine stopped.
func (o *process) kill() {
	GinkgoHelper()
	if err := o.cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		Expect(err).NotTo(HaveOccurred())
	}
	o.wait()
}

func (p *testUser) run(ctx context.Context, args ...string) run {
	GinkgoHelper()
	return p.runWith(ctx, "", args...)
}

// runWith runs kymactl with a text on stdin.
func (p *testUser) runWith(ctx context.Context, stdin string, args ...string) run {
	GinkgoHelper()
	return p.start(ctx, stdin, args...).wait()
}

// ok runs kymactl, which must succeed.
func (p *testUser) ok(ctx context.Context, args ...string) run {
	GinkgoHelper()
	return p.okWith(ctx, "", args...)
}

func (p *testUser) okWith(ctx context.Context, stdin string, args ...string) run {
	GinkgoHelper()
	r := p.runWith(ctx, stdin, args...)
	Expect(r.code).To(Equal(exitOK), r.String)
	Expect(r.stderr).NotTo(ContainSubstring("Error: "), r.String)
	return r
}

// fails runs kymactl, which must exit with a code, print no data, and print one error line that contains all parts of why.
func (p *testUser) fails(ctx context.Context, code int, why []string, args ...string) run {
	GinkgoHelper()
	return expectFailure(p.run(ctx, append([]string{"--quiet"}, args...)...), code, why...)
}

func expectFailure(r run, code int, why ...string) run {
	GinkgoHelper()
	Expect(r.code).To(Equal(code), r.String)
	Expect(r.stdout).To(BeEmpty(), r.String)
	line := theError(r)
	for _, part := range why {
		Expect(line).To(ContainSubstring(part), r.String)
	}
	return r
}

// theError returns the only error line of a run. A run with --quiet may print only warnings besides it.
func theError(r run) string {
	GinkgoHelper()
	var found []string
	for line := range strings.Lines(r.stderr) {
		if strings.HasPrefix(line, "Error: ") {
			found = append(found, line)
		} else if slices.Contains(r.args, "--quiet") {
			Expect(line).To(HavePrefix("Warning: "), r.String)
		}
	}
	Expect(found).To(HaveLen(1), r.String)
	return found[0]
}

// parsed decodes a text that must be a single JSON value.
func parsed[T any](text string) T {
	GinkgoHelper()
	var out T
	d := json.NewDecoder(strings.NewReader(text))
	Expect(d.Decode(&out)).To(Succeed(), text)
	_, err := d.Token()
	Expect(err).To(MatchError(io.EOF), text)
	return out
}

// names returns the names of the entries of a directory.
func names(dir string) []string {
	GinkgoHelper()
	out := []string{}
	for _, e := range must(os.ReadDir(dir)) {
		out = append(out, e.Name())
	}
	return out
}
