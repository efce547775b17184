// SPDX-License-Identifier: Apache-2.0

// Package template implements kymactl module template, manifest and convert, which
// write the objects that offer and install modules in a control plane.
package template
