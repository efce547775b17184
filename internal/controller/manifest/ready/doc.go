// SPDX-License-Identifier: Apache-2.0

// Package ready derives the condition Ready of a Manifest, and its reason, from the observation of a pass.
package ready
