// SPDX-License-Identifier: Apache-2.0

package process

import "syscall"

// childAttributes put a child into a group of its own, and have the kernel kill
// it when the thread that started it dies, however it dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
