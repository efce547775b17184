// SPDX-License-Identifier: Apache-2.0

// Package release has the specs of a ModuleReleaseMeta: how a version spreads over Kymas.
package release
