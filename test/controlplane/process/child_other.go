// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package process

import "syscall"

// childAttributes put a child into a group of its own. Systems other than Linux
// do not tell it of a death of ours that no one could catch.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
