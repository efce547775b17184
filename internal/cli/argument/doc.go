// SPDX-License-Identifier: Apache-2.0

// Package argument checks and reads arguments that several commands have in common: names of modules and channels, and files with
// an object.
package argument
