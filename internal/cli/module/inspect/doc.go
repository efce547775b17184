// SPDX-License-Identifier: Apache-2.0

// Package inspect implements kymactl module inspect and diff, which show what a module
// contains and would install, and what differs between two modules.
package inspect
