// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Program is a main package of a Go module, and how it is built.
type Program struct {
	// Dir is a directory of the module.
	Dir string
	// Package is an import path, or a path relative to Dir that begins with "./".
	Package string
	// Output is the path of the binary.
	Output string
	// LDFlags are given to the linker besides -s -w.
	LDFlags string
	// GOOS and GOARCH are those of this machine by default.
	GOOS, GOARCH string
}

// Tags are the build tags of everything. Nothing here may load plugins of kustomize: a
// program that can keeps every method of every type, and links in minutes.
const Tags = "kustomize_disable_go_plugin_support"

// CompilerFlags are the flags of the compiler, for all packages. Nothing here is run
// under a debugger: without its tables a tenth less is compiled, and stack traces keep
// their lines. The go command compiles as many packages at a time as there are cores,
// so that a compiler with several threads for one package only waits for itself.
const CompilerFlags = "all=-dwarf=false -c=1"

// fewCores is up to how many cores a compiler or linker gets one of them: its garbage
// collector would take all of them from the other compilers. A first build on two cores
// takes a sixth less time. With many cores, the last package and the linker are what is
// waited for, and use several.
const fewCores = 4

// Compile builds a program without cgo. The demo, the suites, the packages and the
// tools all build with it, and the Makefile with the same flags: Go's build cache
// keeps packages by the flags that they were compiled with, so that a second set of
// flags would compile every dependency again.
func Compile(ctx context.Context, p Program) error {
	env := []string{"GOOS=" + cmp.Or(p.GOOS, runtime.GOOS), "GOARCH=" + cmp.Or(p.GOARCH, runtime.GOARCH)}
	if runtime.NumCPU() <= fewCores {
		env = append(env, "GOMAXPROCS=1")
	}
	_, err := goCommand(ctx, p.Dir, env, "build", "-p", strconv.Itoa(runtime.NumCPU()), "-trimpath", "-buildvcs=false", "-tags", Tags, "-gcflags", CompilerFlags,
		"-ldflags", strings.TrimSpace("-s -w "+p.LDFlags), "-o", p.Output, p.Package)
	return errors.Wrapf(err, "cannot build %s", p.Package)
}

// goCommand runs the go command in a directory and returns what it printed. An end of
// ctx interrupts it, so that it ends its compilers and keeps what they have done.
func goCommand(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// Settings of the caller would compile every dependency again, and show in the binary.
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off"), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", errors.Wrapf(err, "go %s in %q: %s", args[0], dir, lastLines(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// lastLines returns the end of an output on one line.
func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}
