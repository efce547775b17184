// SPDX-License-Identifier: Apache-2.0

// Package drift has the specs of objects that others change in the target.
package drift
