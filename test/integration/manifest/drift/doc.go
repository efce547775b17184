// SPDX-License-Identifier: Apache-2.0

// Package drift contains the specs of objects that other clients change in the target.
package drift
