// SPDX-License-Identifier: Apache-2.0

// Package bytelru caches values in memory up to a total number of bytes, regardless of their number and individual sizes. Large
// values of one tenant displace other values, but never make the process larger than planned.
package bytelru
