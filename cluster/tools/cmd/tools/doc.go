// SPDX-License-Identifier: Apache-2.0

// Command tools builds the binaries of package tools and prints their paths.
package main
