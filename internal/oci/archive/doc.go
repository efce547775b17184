// SPDX-License-Identifier: Apache-2.0

// Package archive reads the archives that were pulled from somewhere into their
// files.
//
// What it reads is treated as hostile. It is unpacked in memory, as a stream and
// up to limits; what has no place in an archive of text files is refused, such
// as links, devices and paths that climb.
package archive
