// SPDX-License-Identifier: Apache-2.0

// Package decoding bounds the memory that all foreign responses of a process take while they are read and decoded, whatever the
// number of servers that send them. A response takes from a Budget what its content becomes in memory, which is estimated from its
// bytes before they are decoded. The code that decodes it calls Hold, and says when it has finished.
package decoding
