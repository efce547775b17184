// SPDX-License-Identifier: Apache-2.0

// Package inventory stores the state of a bundle in the target cluster: its members, the record of each part, and the reasons why
// the last step stopped. The format follows the ApplySet specification (KEP-3659).
//
// The engine saves the inventory before it creates the first object, before it forgets objects, and at the end of a step. One
// Secret has two keys: the inventory (Key) and the last known good revision (CheckpointKey). Saves are fenced: a Store overwrites only
// the version that it read, and returns a ChangedError otherwise.
//
// An Inventory is a value. Values behind its pointers are replaced, never changed. Golden files pin its JSON format, because
// clusters store it.
package inventory
