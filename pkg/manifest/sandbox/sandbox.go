// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox"
	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox/confine"
)

// A Pool renders in child processes. It implements manifest.Renderer.
type Pool = sandbox.Pool

// Options are the options of a Pool.
type Options = sandbox.Options

// Limits limits the resources of a single rendering.
type Limits = sandbox.Limits

// An Error is the error of a rendering that was stopped, for example because it reached a limit.
type Error = sandbox.Error

// A Confinement describes how the child processes are confined on this machine.
type Confinement = confine.State

// A Reason is the reason why a rendering was stopped.
type Reason = sandbox.Reason

// Reasons.
const (
	ReasonCPU      = sandbox.ReasonCPU
	ReasonMemory   = sandbox.ReasonMemory
	ReasonOutput   = sandbox.ReasonOutput
	ReasonDeadline = sandbox.ReasonDeadline
	ReasonBusy     = sandbox.ReasonBusy
	ReasonEnded    = sandbox.ReasonEnded
)

// IsChild reports whether the process with these arguments, such as os.Args, is a child process of a Pool. Such a process must
// only call Serve.
func IsChild(args []string) bool { return sandbox.IsChild(args) }

// Serve serves one request of the parent process, and returns the exit code for this process.
func Serve() int { return sandbox.Serve() }

// New returns a Pool, and starts its spare child processes.
func New(o Options) (*Pool, error) { return sandbox.NewPool(o) }
