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

// Limits bound what one rendering may use.
type Limits = sandbox.Limits

// An Error is the error of a rendering that was stopped, for example because it reached a limit.
type Error = sandbox.Error

// A Confinement says how the child processes are confined on this machine.
type Confinement = confine.State

// A Reason says why a rendering was stopped.
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

// IsChild reports whether the process, given its arguments with its name, is a child of a Pool. It must then only call Serve.
func IsChild(args []string) bool { return sandbox.IsChild(args) }

// Serve serves one request of the parent, and returns the exit code of the process.
func Serve() int { return sandbox.Serve() }

// New returns a Pool, and starts its spare children.
func New(o Options) (*Pool, error) { return sandbox.NewPool(o) }
