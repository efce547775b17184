// SPDX-License-Identifier: Apache-2.0

// Package cached reads objects from the cache of a manager without copying them. A client copies at least the struct of each object, which
// is most of the garbage of a process that considers the objects of a whole fleet many times.
package cached
