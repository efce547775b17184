// SPDX-License-Identifier: Apache-2.0

// Package panics turns panics of functions that handle foreign data into errors, so that only the object that a library cannot
// process fails, and not the whole process.
//
// The error names the subject of the function. The stack is logged with klog, because it is only useful for fixing the code.
package panics
