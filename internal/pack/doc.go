// SPDX-License-Identifier: Apache-2.0

// Package pack makes layers of files, in which nothing depends on when, where
// and by whom they are made.
package pack
