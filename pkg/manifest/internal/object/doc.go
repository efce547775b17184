// SPDX-License-Identifier: Apache-2.0

// Package object prepares objects for server-side apply: what is sent of a rendered object (Desired), the labels and
// annotations that mark it, and the stage in which it is applied.
package object
