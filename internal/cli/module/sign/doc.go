// SPDX-License-Identifier: Apache-2.0

// Package sign implements kymactl module keygen, sign and verify.
package sign
