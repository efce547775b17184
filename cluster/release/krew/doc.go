// SPDX-License-Identifier: Apache-2.0

// Package krew writes the manifest with which krew installs kymactl as a plugin of kubectl.
package krew
