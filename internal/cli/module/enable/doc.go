// SPDX-License-Identifier: Apache-2.0

// Package enable is kymactl module enable and disable: what of a wish a Kyma can
// have, and the one write that gives it.
package enable
