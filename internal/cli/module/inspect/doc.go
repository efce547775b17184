// SPDX-License-Identifier: Apache-2.0

// Package inspect is kymactl module inspect and diff: what a module is and would
// install, and what changes between two of them.
package inspect
