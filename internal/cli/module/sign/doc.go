// SPDX-License-Identifier: Apache-2.0

// Package sign is kymactl module keygen, sign and verify.
package sign
