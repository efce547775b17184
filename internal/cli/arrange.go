// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

// width is the maximum length of a help line, in characters. Terminals would break longer lines inside words.
const width = 100

// An area is a group of commands in the help.
type area struct {
	id, title string
	commands  []string
}

// areas returns the groups in the order of a typical workflow.
func areas() []area {
	return []area{
		{id: "module", title: "Modules:", commands: []string{"module"}},
		{id: "rollout", title: "Rollouts:", commands: []string{"rollout", "pause", "resume", "abort", "retry", "undo"}},
		{id: "make", title: "Create and inspect modules:", commands: []string{"init", "create", "inspect", "diff", "unpack"}},
		{id: "sign", title: "Sign and verify modules:", commands: []string{"keygen", "sign", "verify"}},
		{id: "ship", title: "Distribute and release modules:", commands: []string{"push", "pull", "copy", "template", "manifest", "promote", "convert"}},
		{
			id: "run", title: "Run modules in clusters:",
			commands: []string{"install", "plan", "deploy", "list", "enable", "disable", "status", "wait", "test", "undeploy"},
		},
		{id: "other", title: "Other commands:", commands: []string{"help", "completion", "version"}},
	}
}

// arrange assigns the commands of the parents to groups, and adds each group to the parents that have a command in it. The
// first parent is the root command.
func arrange(parents ...*cobra.Command) {
	for _, parent := range parents {
		for _, g := range areas() {
			used := false
			for _, name := range g.commands {
				for _, c := range parent.Commands() {
					if c.Name() == name {
						c.GroupID, used = g.id, true
					}
				}
			}
			if used || (g.id == "other" && !parent.HasParent()) {
				parent.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
			}
		}
	}
	parents[0].SetHelpCommandGroupID("other")
	parents[0].SetCompletionCommandGroupID("other")
}
