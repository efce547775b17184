// SPDX-License-Identifier: Apache-2.0

// Package version implements kymactl version, which prints the version of kymactl, and the versions of the provider and the API
// server of a control plane.
package version
