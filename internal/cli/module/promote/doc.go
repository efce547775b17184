// SPDX-License-Identifier: Apache-2.0

// Package promote contains the command kymactl module promote, which moves a release channel to another version of a module.
package promote
