// SPDX-License-Identifier: Apache-2.0

// Package fuzztest bounds the memory and the time that a fuzz target takes for one input. A parser that returns the right result but
// needs gigabytes for it can be used to terminate a process.
package fuzztest
