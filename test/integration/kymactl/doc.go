// SPDX-License-Identifier: Apache-2.0

// Package kymactl has the specs of kymactl with a running provider, and of the tutorial.
package kymactl
