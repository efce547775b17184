// SPDX-License-Identifier: Apache-2.0

package confine

import (
	"slices"
	"strings"
)

// A State describes how a process is confined. A field is false if this machine does not support the restriction.
type State struct {
	// Files is true if the process can open neither files nor sockets, because its limit of open files is zero.
	Files bool `json:"files"`
	// CPU and Memory are true if the kernel limits the CPU time and the memory of the process.
	CPU    bool `json:"cpu"`
	Memory bool `json:"memory"`
	// Seccomp is true if the process can make only the system calls that the Go runtime needs.
	Seccomp bool `json:"seccomp"`
	// Landlock is true if the process has no access to any path.
	Landlock bool `json:"landlock"`
}

// Missing returns a list of the restrictions that this machine does not support, for logs. It is empty if all are supported.
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
