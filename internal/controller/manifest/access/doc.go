// SPDX-License-Identifier: Apache-2.0

// Package access restricts what a Manifest can do in its cluster: it sets the user as which requests are sent, and limits the
// objects that charts can look up. The connection, its watches and the inventories still use the credentials of the config.
package access
