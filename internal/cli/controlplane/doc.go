// SPDX-License-Identifier: Apache-2.0

// Package controlplane has the commands that put what modules need into a control
// plane, and take it away again.
package controlplane
