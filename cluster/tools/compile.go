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

// A Program is a main package of a Go module, with its build settings.
type Program struct {
	// Dir is a directory of the module.
	Dir string
	// Package is an import path, or a path relative to Dir that begins with "./".
	Package string
	// Output is the path of the binary.
	Output string
	// LDFlags are linker flags in addition to -s -w.
	LDFlags string
	// GOOS and GOARCH default to those of this machine.
	GOOS, GOARCH string
}

// Tags are the build tags of all programs. None of them may load kustomize plugins: a program that can load plugins keeps
// every method of every type, and takes minutes to link.
const Tags = "kustomize_disable_go_plugin_support"

// CompilerFlags are the compiler flags for all packages. No program runs under a debugger: without debug information,
// compilation does a tenth less work, and stack traces keep their lines. The go command compiles as many packages at a
// time as there are cores, so several threads for one package would only wait for each other.
const CompilerFlags = "all=-dwarf=false -c=1"

// fewCores is the highest number of cores for which each compiler and linker runs on one core: its garbage collector
// would otherwise take all cores from the other compilers. This makes a first build on two cores a sixth faster. With
// more cores, the build mostly waits for the last package and the linker, which then use several.
const fewCores = 4

// CollectLess returns the environment in which a Go program collects garbage less often. This saves a fifth of the time of compilers and
// linkers. The limit is for the few programs that would use several times their memory.
func CollectLess() []string { return []string{"GOGC=400", "GOMEMLIMIT=2GiB"} }

// Compile builds a program without cgo. The demo, the suites, the packages and the tools all use it, and the Makefile
// uses the same flags. Go's build cache keeps packages by their compiler flags, so different flags would compile every
// dependency again.
func Compile(ctx context.Context, p Program) error {
	env := append(CollectLess(), "GOOS="+cmp.Or(p.GOOS, runtime.GOOS), "GOARCH="+cmp.Or(p.GOARCH, runtime.GOARCH))
	if runtime.NumCPU() <= fewCores {
		env = append(env, "GOMAXPROCS=1")
	}
	_, err := goCommand(ctx, p.Dir, env, "build", "-p", strconv.Itoa(runtime.NumCPU()), "-trimpath", "-buildvcs=false", "-tags", Tags, "-gcflags", CompilerFlags,
		"-ldflags", strings.TrimSpace("-s -w "+p.LDFlags), "-o", p.Output, p.Package)
	return errors.Wrapf(err, "cannot build %s", p.Package)
}

// goCommand runs the go command in a directory and returns its output. When ctx ends, it interrupts the command, which
// then ends its compilers and keeps their results.
func goCommand(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// Settings of the caller would recompile every dependency, and change the binary.
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

// lastLines returns the last lines of an output, joined into one line.
func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}
