// SPDX-License-Identifier: Apache-2.0

// Package timeout bounds the time of a pass, and names the flag that sets it in the error of a pass that takes longer.
package timeout
