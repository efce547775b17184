// SPDX-License-Identifier: Apache-2.0

// Package argument checks and reads what the command line of several commands
// names: modules, channels, and files with an object.
package argument
