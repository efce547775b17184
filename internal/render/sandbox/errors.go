// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
)

// A Reason is the reason why a rendering has no result even though the chart or kustomization might be correct.
type Reason string

// Reasons.
const (
	// ReasonCPU means that the rendering exceeded its CPU time.
	ReasonCPU Reason = "CPU"
	// ReasonMemory means that the rendering exceeded its memory.
	ReasonMemory Reason = "Memory"
	// ReasonOutput means that the result has too many objects, values or bytes.
	ReasonOutput Reason = "Output"
	// ReasonDeadline means that the context of the caller ended.
	ReasonDeadline Reason = "Deadline"
	// ReasonBusy means that too many other renderings were running.
	ReasonBusy Reason = "Busy"
	// ReasonEnded means that the process ended for another reason, such as a stack overflow.
	ReasonEnded Reason = "Ended"
)

// An Error is the error of a rendering that was stopped. An invalid chart or kustomization results in the same error as when it
// is rendered in this process.
type Error struct {
	Reason   Reason
	Subject  string // what was rendered: chart "x", or kustomization "x"
	Template string // file that was being rendered, without the name of the chart; can be empty
	Detail   string
	Cause    error // for ReasonDeadline: the cause of the context
}

// Error returns a message of one line.
func (e *Error) Error() string {
	at := e.Subject
	if e.Template != "" {
		at += ": " + e.Template
	}
	return fmt.Sprintf("%s: %s", at, e.Detail)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
