// SPDX-License-Identifier: Apache-2.0

// Package events writes events to the control plane. In contrast to the recorders of client-go, which drop an event if a queue of
// 1,000 events for all objects is full or if an object has had 25 events of a type, it has a queue for each object, and writes an
// event again until that succeeds. It merges repeated events before it writes them.
package events
