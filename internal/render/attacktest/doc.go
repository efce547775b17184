// SPDX-License-Identifier: Apache-2.0

// Package attacktest contains charts that would harm the process that renders them. The tests of the sandbox and the suite of
// faults render the same charts.
package attacktest
