// SPDX-License-Identifier: Apache-2.0

// Package record stores the objects of one cluster in little memory. A Record is an object in parts: parts that are equal in many
// clusters are stored once in the process. A Store has the records of a cluster, and a bounded history for watches.
package record
