// SPDX-License-Identifier: Apache-2.0

// Package upbound authenticates to control planes of Upbound.
package upbound
