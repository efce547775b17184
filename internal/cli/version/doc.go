// SPDX-License-Identifier: Apache-2.0

// Package version is the command kymactl version. It prints the version of kymactl, and those of the provider and the API server
// of a control plane.
package version
