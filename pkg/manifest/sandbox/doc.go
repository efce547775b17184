// SPDX-License-Identifier: Apache-2.0

/*
Package sandbox makes an Engine render charts and kustomizations, and read plain objects, in child processes. Charts are programs: one that never ends, or
takes all memory, then ends with an error of its own, and harms nothing else.

Children are started from the running binary, so a program must begin with

	if sandbox.IsChild(os.Args) {
		os.Exit(sandbox.Serve())
	}

It makes a Pool with New, passes it to manifest.New with manifest.WithRenderer, and calls its method Close at the end.
*/
package sandbox
