// SPDX-License-Identifier: Apache-2.0

// Package ready decides whether a Manifest is Ready, and by which reason, from what a pass observed.
package ready
