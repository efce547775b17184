// SPDX-License-Identifier: Apache-2.0

// Package decoding bounds the memory that all responses of servers take while they are read and decoded, regardless of the
// number of servers. Each response takes memory from a Budget. The amount that it needs when it is decoded is estimated from its bytes
// before that. The code that decodes it calls Hold, and calls the returned function when it has finished.
//
// In the same way, Archives bounds the memory of all archives of registries and chart repositories while they are pulled, unpacked and
// read. The code that reads one calls HoldArchive.
package decoding
