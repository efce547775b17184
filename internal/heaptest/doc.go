// SPDX-License-Identifier: Apache-2.0

// Package heaptest measures the memory that tests use.
package heaptest
