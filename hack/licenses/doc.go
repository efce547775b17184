// SPDX-License-Identifier: Apache-2.0

// Command licenses checks the licenses of everything that is linked into the released programs, and prints how many modules have
// which license. It exits with 1 if a license is unknown, or is not in the list of allowed licenses.
//
// It asks go list which packages each program contains on each platform for which it is released, and reads all license files
// from the directory of each package up to the root of its module, because copied code often has a license of its own. A file
// must contain nothing but known licenses and copyright notices: terms after the end of a license would otherwise stay unnoticed.
package main
