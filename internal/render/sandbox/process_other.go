// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package sandbox

import "syscall"

func processAttributes() *syscall.SysProcAttr { return nil }

func lowerPriority(int) {}
