// SPDX-License-Identifier: Apache-2.0

// Package archive reads pulled archives into their files.
//
// It treats its input as hostile. It unpacks in memory, as a stream and up to limits, and refuses what does not
// belong in an archive of text files, such as links, devices and paths with "..".
package archive
