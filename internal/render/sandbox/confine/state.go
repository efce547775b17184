// SPDX-License-Identifier: Apache-2.0

package confine

import (
	"slices"
	"strings"
)

// A State says how a process is confined. What is false is not possible on this machine.
type State struct {
	// Files is true if the process can open no file and no socket, because its limit of open files is zero.
	Files bool `json:"files"`
	// CPU and Memory are true if the kernel limits the CPU time and the memory of the process.
	CPU    bool `json:"cpu"`
	Memory bool `json:"memory"`
	// Seccomp is true if the process can make only the system calls that the Go runtime needs.
	Seccomp bool `json:"seccomp"`
	// Landlock is true if the process is denied all paths.
	Landlock bool `json:"landlock"`
}

// Missing lists what is not possible on this machine, for a log; empty if nothing is missing.
func (c State) Missing() string {
	var out []string
	for name, ok := range map[string]bool{
		"limit of open files": c.Files, "limit of CPU time": c.CPU, "limit of memory": c.Memory, "seccomp": c.Seccomp, "Landlock": c.Landlock,
	} {
		if !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
