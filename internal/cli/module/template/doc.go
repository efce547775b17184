// SPDX-License-Identifier: Apache-2.0

// Package template is kymactl module template and convert: it writes the objects by
// which a control plane offers and runs modules.
package template
