// SPDX-License-Identifier: Apache-2.0

package main

// notYet returns the files and directories that were written before the words were banned. The list may only shrink, which a test checks.
func notYet() []string {
	return []string{"pkg/manifest"}
}
