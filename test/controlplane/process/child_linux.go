// SPDX-License-Identifier: Apache-2.0

package process

import "syscall"

// childAttributes returns attributes that put a child into its own process group, and make the kernel kill it when the
// thread that started it ends for any reason.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
