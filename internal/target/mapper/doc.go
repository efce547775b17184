// SPDX-License-Identifier: Apache-2.0

// Package mapper knows under which path the objects of a kind are found.
//
// The kinds that every cluster of today has are in a table, so that most modules need no discovery. The rest is asked
// for by group and version, once, and remembered for a while. What is not there is remembered for a few seconds only:
// it may be about to be installed.
package mapper
