// SPDX-License-Identifier: Apache-2.0

// Package enable implements kymactl module enable and disable: it checks which of the requested changes are valid for a Kyma, and
// makes them in a single write.
package enable
