// SPDX-License-Identifier: Apache-2.0

// Package reference generates the reference page of kymactl, docs/kymactl.md, from the help of its commands.
package reference
