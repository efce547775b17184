// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package sandbox

import (
	"os"
	"syscall"
)

func processAttributes() *syscall.SysProcAttr { return nil }

func notifyCPU(chan<- os.Signal) {}

func lowerPriority(int) {}
