// SPDX-License-Identifier: Apache-2.0

// Command figures prints the size and the structure of the code of one or more copies of this repository, as a Markdown
// table with a column for each copy: packages, functions, types, references between files, and lines by directory.
package main
