// SPDX-License-Identifier: Apache-2.0

// Package makefile tests the targets of the Makefile that change a cluster or push an image. It runs them in a copy of this
// repository, against a control plane and a registry on the loopback interface.
package makefile
