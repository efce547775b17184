// SPDX-License-Identifier: Apache-2.0

// Package key reads the files with keys that --key names.
package key
