// SPDX-License-Identifier: Apache-2.0

// Package wire chooses the format of a response and encodes objects, lists, errors and events of watches: whole objects as JSON, and
// metadata as JSON or protobuf.
package wire
