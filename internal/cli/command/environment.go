// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/printable"
)

// DefaultTimeout is the default of --timeout.
const DefaultTimeout = 5 * time.Minute

// An Environment contains the streams of the process, and the flags that all commands share.
type Environment struct {
	In  io.Reader
	Out io.Writer // Receives only data.
	Err io.Writer // Receives everything else.

	// Terminal is true if Err is a terminal.
	Terminal bool

	// Quiet suppresses everything except data, warnings and errors.
	Quiet bool
	// Timeout limits the duration of the whole command; 0 means no limit.
	Timeout time.Duration
	// Renderer renders the charts and kustomizations of modules. If it is nil, they are rendered in this process.
	Renderer bundle.Renderer
}

// Process returns the environment of this process.
func Process() *Environment {
	e := &Environment{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if term.IsTerminal(int(os.Stdout.Fd())) {
		e.Out = Screen{os.Stdout}
	}
	return e
}

// A Screen is a writer to a terminal.
type Screen struct{ io.Writer }

// Sayf writes a line to stderr, unless Quiet is set.
func (e *Environment) Sayf(format string, args ...any) {
	if !e.Quiet {
		e.linef(format, args...)
	}
}

// Warnf writes a line to stderr that begins with "Warning: ", even if Quiet is set.
func (e *Environment) Warnf(format string, args ...any) {
	e.linef("Warning: "+format, args...)
}

// Failf writes a line to stderr that begins with "Error: " and explains why the command failed.
func (e *Environment) Failf(format string, args ...any) {
	e.linef("Error: "+format, args...)
}

// Print writes a line of data to stdout.
func (e *Environment) Print(format string, args ...any) error {
	_, err := fmt.Fprintf(e.Out, format+"\n", args...)
	return err
}

func (e *Environment) linef(format string, args ...any) {
	// Errors of stderr cannot be reported.
	_, _ = fmt.Fprintln(e.Err, printable.Text(fmt.Sprintf(format, args...), ""))
}
