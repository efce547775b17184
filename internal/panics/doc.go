// SPDX-License-Identifier: Apache-2.0

// Package panics turns panics of functions that handle foreign data into errors, so that an object that a library cannot process
// fails alone, and not the process.
//
// The error names what the function was about. The stack is logged with klog, because it helps only those who fix the code.
package panics
