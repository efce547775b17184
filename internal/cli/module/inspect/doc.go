// SPDX-License-Identifier: Apache-2.0

// Package inspect implements kymactl module inspect and diff, which show the content of a module and the objects that it would
// install, and the differences between two modules.
package inspect
