// SPDX-License-Identifier: Apache-2.0

// Package hub knows the state of our objects in one cluster without asking.
//
// It holds one watch for each kind that is in use, filtered by our label, and keeps a summary of each object, never the
// object. Of kinds without a status only the metadata is watched. What our own writes answered is put in beside what
// the watches bring, and the newest resource version wins, whichever way it came.
//
// Whoever asked for it is told of changes that others made. Our own writes, and what a first listing finds, make no
// noise.
package hub
