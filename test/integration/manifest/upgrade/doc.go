// SPDX-License-Identifier: Apache-2.0

// Package upgrade has the specs of changes of a Manifest: plans, upgrades, rollbacks, adoption.
package upgrade
