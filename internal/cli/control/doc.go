// SPDX-License-Identifier: Apache-2.0

// Package control has the commands that put what modules need into a control
// plane, and take it away again.
package control
