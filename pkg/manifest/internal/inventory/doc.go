// SPDX-License-Identifier: Apache-2.0

// Package inventory is what a cluster keeps of a bundle: its members and what was applied last, in the form of the ApplySet
// specification (KEP-3659). An Inventory is a value. Its JSON is a contract: golden files hold it.
package inventory
