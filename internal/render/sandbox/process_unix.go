// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sandbox

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// lowestPriority is the lowest priority of a process.
const lowestPriority = 19

// processAttributes puts a child into a process group of its own: an interrupt of a terminal is for the parent, and
// lowerPriority applies to all threads of the group.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// lowerPriority makes a child give way to all other processes.
func lowerPriority(pid int) { _ = unix.Setpriority(unix.PRIO_PGRP, pid, lowestPriority) }
