// SPDX-License-Identifier: Apache-2.0

// Package makefile runs targets of the Makefile in a copy of this repository, against a control plane and a registry on the
// loopback interface: those that change a cluster or push an image.
package makefile
