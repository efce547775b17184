// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package confine

// Process does nothing, because this system supports no limits. The process can only be killed.
func Process(Limits) State { return State{} }
