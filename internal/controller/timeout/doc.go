// SPDX-License-Identifier: Apache-2.0

// Package timeout limits the time of a pass. The error of a pass that exceeds the limit names the flag that sets it.
package timeout
