// SPDX-License-Identifier: Apache-2.0

// Package key reads the key files that --key names.
package key
