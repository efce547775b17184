// SPDX-License-Identifier: Apache-2.0

// Package reference writes what is said of the commands of kymactl into one
// page, docs/kymactl.md.
package reference
