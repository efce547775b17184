// SPDX-License-Identifier: Apache-2.0

// Package complete completes command lines in a shell with names from a control plane. If the control plane does not respond,
// there are no completions, and no errors are printed into the prompt.
package complete
