// SPDX-License-Identifier: Apache-2.0

// Package enable implements kymactl module enable and disable: it checks which of the
// requested changes a Kyma can take, and makes them in one write.
package enable
