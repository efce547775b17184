// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sandbox

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// lowestPriority is the lowest priority of a process.
const lowestPriority = 19

// processAttributes puts a child into its own process group, so that an interrupt from a terminal only reaches the parent, and
// lowerPriority applies to all threads of the child.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// notifyCPU sends a signal to the channel when this process has used its CPU time.
func notifyCPU(used chan<- os.Signal) { signal.Notify(used, unix.SIGXCPU) }

// lowerPriority gives a child the lowest priority of all processes.
func lowerPriority(pid int) { _ = unix.Setpriority(unix.PRIO_PGRP, pid, lowestPriority) }
