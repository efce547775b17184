// SPDX-License-Identifier: Apache-2.0

// Package complete completes command lines in a shell with what a control plane
// has. Without an answer there are no completions, as errors do not belong
// into a prompt.
package complete
