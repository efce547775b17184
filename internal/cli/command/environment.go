// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// DefaultTimeout bounds a command, unless --timeout says otherwise.
const DefaultTimeout = 5 * time.Minute

// An Environment is what a command has of its process.
type Environment struct {
	In  io.Reader
	Out io.Writer // Data.
	Err io.Writer // Everything else.

	// Terminal says that a person watches Err.
	Terminal bool

	// Quiet leaves out what is neither data nor an error nor a warning.
	Quiet bool
	// Timeout of the whole command; 0 is none.
	Timeout time.Duration
}

// Process returns the environment of this process.
func Process() *Environment {
	return &Environment{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Terminal: term.IsTerminal(int(os.Stderr.Fd())), //nolint:gosec // A file descriptor is small.
	}
}

// Say writes a line to stderr, unless the command is to be quiet.
func (e *Environment) Say(format string, args ...any) {
	if !e.Quiet {
		e.line(format, args...)
	}
}

// Warn writes a line to stderr that begins with "Warning: ".
func (e *Environment) Warn(format string, args ...any) {
	e.line("Warning: "+format, args...)
}

// Fail writes a line to stderr, which is why a command failed.
func (e *Environment) Fail(format string, args ...any) {
	e.line("Error: "+format, args...)
}

// Print writes a line of data to stdout.
func (e *Environment) Print(format string, args ...any) error {
	_, err := fmt.Fprintf(e.Out, format+"\n", args...)
	return err
}

func (e *Environment) line(format string, args ...any) {
	// There is nobody left to tell where stderr cannot be written.
	_, _ = fmt.Fprintf(e.Err, format+"\n", args...)
}
