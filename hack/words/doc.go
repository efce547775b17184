// SPDX-License-Identifier: Apache-2.0

// Command words reports words and phrases that the comments, messages and documentation of this repository must not use.
// It prints a line for each one, with the file, the line and the replacement, and exits with 1 if there are any.
//
// It reads the names of files, comments, string literals and the names of declarations of Go files, prose of Markdown files
// outside of code, comments and descriptions of YAML files, and all lines of makefiles and shell scripts. CONTRIBUTING.md
// lists the words.
package main
