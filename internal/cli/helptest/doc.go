// SPDX-License-Identifier: Apache-2.0

// Package helptest checks, in tests of commands, that the help of a command names the fields of its output.
package helptest
