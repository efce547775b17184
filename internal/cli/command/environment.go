// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

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
		Terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
}

// Sayf writes a line to stderr, unless the command is to be quiet.
func (e *Environment) Sayf(format string, args ...any) {
	if !e.Quiet {
		e.linef(format, args...)
	}
}

// Warnf writes a line to stderr that begins with "Warning: ".
func (e *Environment) Warnf(format string, args ...any) {
	e.linef("Warning: "+format, args...)
}

// Failf writes a line to stderr, which is why a command failed.
func (e *Environment) Failf(format string, args ...any) {
	e.linef("Error: "+format, args...)
}

// Print writes a line of data to stdout.
func (e *Environment) Print(format string, args ...any) error {
	_, err := fmt.Fprintf(e.Out, format+"\n", args...)
	return err
}

func (e *Environment) linef(format string, args ...any) {
	// There is nobody left to tell where stderr cannot be written.
	_, _ = fmt.Fprintln(e.Err, Printable(fmt.Sprintf(format, args...)))
}

// Printable makes one line of a text, in which nothing can do anything to a
// terminal: names, messages and errors may be those of strangers.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
