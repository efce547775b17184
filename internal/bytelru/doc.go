// SPDX-License-Identifier: Apache-2.0

// Package bytelru caches values in memory up to a number of bytes, whatever the number and the size of the values: large values of
// one tenant displace others, but never make the process larger than planned.
package bytelru
