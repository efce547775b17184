// SPDX-License-Identifier: Apache-2.0

// Package version is kymactl version: the versions of kymactl, and of the provider
// and the API server of a control plane.
package version
