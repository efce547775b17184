// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
)

// A Reason says why a rendering has no result although the chart or kustomization may be correct.
type Reason string

// Reasons.
const (
	// ReasonCPU means that it used all the CPU time that it may use.
	ReasonCPU Reason = "CPU"
	// ReasonMemory means that it used all the memory that it may use.
	ReasonMemory Reason = "Memory"
	// ReasonOutput means that it makes more objects, values or bytes than it may make.
	ReasonOutput Reason = "Output"
	// ReasonDeadline means that the context of the caller ended.
	ReasonDeadline Reason = "Deadline"
	// ReasonBusy means that too many others were being rendered.
	ReasonBusy Reason = "Busy"
	// ReasonEnded means that the process ended for another reason, such as a stack overflow.
	ReasonEnded Reason = "Ended"
)

// An Error is the error of a rendering that was stopped. A chart or kustomization that is wrong has another error: the
// one that rendering it in this process has.
type Error struct {
	Reason   Reason
	Subject  string // what was rendered: chart "x", or kustomization "x"
	Template string // file that was being rendered, without the name of the chart; may be empty
	Detail   string
	Cause    error // of ReasonDeadline: the cause of the context
}

// Error returns one line.
func (e *Error) Error() string {
	at := e.Subject
	if e.Template != "" {
		at += ": " + e.Template
	}
	return fmt.Sprintf("%s: %s", at, e.Detail)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
