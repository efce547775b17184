// SPDX-License-Identifier: Apache-2.0

// Package slots limits how many connections to clusters do something at the same time. Connections with a higher priority get a slot
// first, and those with the same priority take turns.
package slots
