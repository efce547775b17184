// SPDX-License-Identifier: Apache-2.0

// Package access restricts what a Manifest does in its cluster: as whom its requests are sent, and what its charts may look up.
// The connection, its watches and the inventories stay those of the credentials.
package access
