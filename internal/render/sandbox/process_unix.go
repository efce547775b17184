// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sandbox

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// lowestPriority is the lowest priority of a process.
const lowestPriority = 19

// processAttributes puts a child into its own process group, so that an interrupt from a terminal only reaches the parent, and
// lowerPriority applies to all threads of the child.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// lowerPriority gives a child the lowest priority of all processes.
func lowerPriority(pid int) { _ = unix.Setpriority(unix.PRIO_PGRP, pid, lowestPriority) }
