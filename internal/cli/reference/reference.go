// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"bytes"
	_ "embed" // Embeds the introduction.
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

//go:embed intro.md
var introduction string

// Page returns the reference of root and all commands below it as Markdown, after the introduction in intro.md. The output is
// deterministic.
func Page(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString("# kymactl\n\n")
	b.WriteString("<!-- Generated from the commands by make generate. The introduction is internal/cli/reference/intro.md. -->\n\n")
	b.WriteString(introduction)
	exitCodes(&b)
	all := commandsOf(root)
	shared := sharedFlags(root)
	b.WriteString("\n## Commands\n")
	for _, g := range groupsOf(root) {
		fmt.Fprintf(&b, "\n%s\n\n| Command | |\n|---|---|\n", strings.TrimSuffix(g.Title, ":"))
		for _, c := range all {
			if c.GroupID == g.ID {
				fmt.Fprintf(&b, "| [`%s`](#%s) | %s. |\n", c.CommandPath(), anchor(c.CommandPath()), c.Short)
			}
		}
	}
	b.WriteString("\n## Common flags\n")
	for _, s := range shared {
		fmt.Fprintf(&b, "\n### %s\n\n", s.title)
		table(&b, s.flags, nil)
	}
	t := newText(all)
	for _, g := range groupsOf(root) {
		for _, c := range all {
			if c.GroupID == g.ID {
				section(&b, t, c, shared)
			}
		}
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

// exitCodes writes the table of exit codes.
func exitCodes(b *bytes.Buffer) {
	b.WriteString("\n## Exit codes\n\n| Code | |\n|---|---|\n")
	for _, c := range []command.ExitCode{
		command.ExitOK, command.ExitFailure, command.ExitUsage, command.ExitNotFound,
		command.ExitUnverified, command.ExitExists, command.ExitTimeout, command.ExitChanges, command.ExitRollout,
	} {
		fmt.Fprintf(b, "| %d | %s |\n", c, c)
	}
	b.WriteString("\nExit codes never change, so scripts can rely on them.\n")
}

// commandsOf returns the commands below c that do more than group other commands, sorted by name at each level.
func commandsOf(c *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, sub := range c.Commands() {
		switch {
		case sub.Name() == "help" || sub.Hidden:
		case sub.HasAvailableSubCommands():
			out = append(out, commandsOf(sub)...)
		default:
			out = append(out, sub)
		}
	}
	return out
}

// groupsOf returns the command groups of root and its subcommands, without duplicates and empty groups.
func groupsOf(root *cobra.Command) []*cobra.Group {
	var out []*cobra.Group
	seen := map[string]bool{}
	used := map[string]bool{}
	for _, c := range commandsOf(root) {
		used[c.GroupID] = true
	}
	var collect func(c *cobra.Command)
	collect = func(c *cobra.Command) {
		// Groups of subcommands come first, because they are the first steps of the workflow.
		for _, sub := range c.Commands() {
			collect(sub)
		}
		for _, g := range c.Groups() {
			if used[g.ID] && !seen[g.ID] {
				seen[g.ID] = true
				out = append(out, g)
			}
		}
	}
	collect(root)
	return out
}

// A set is a set of flags that several commands share.
type set struct {
	title string
	short string // Short title, for links; empty for flags of all commands.
	flags *pflag.FlagSet
}

// sharedFlags returns the sets of flags that several commands share.
func sharedFlags(root *cobra.Command) []set {
	cluster, registry := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	(&command.ClusterFlags{}).AddFlags(cluster)
	(&command.RegistryFlags{}).AddFlags(registry)
	return []set{
		{title: "All commands", flags: root.PersistentFlags()},
		{title: "Control plane", short: "the control plane", flags: cluster},
		{title: "Registries", short: "registries", flags: registry},
	}
}

// section writes the section of a command.
func section(b *bytes.Buffer, t *text, c *cobra.Command, shared []set) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n```text\n%s\n```\n", c.CommandPath(), t.paragraphs(c.Long), c.UseLine())
	if example := strings.TrimRight(unindent(c.Example), "\n"); example != "" {
		fmt.Fprintf(b, "\n```console\n%s\n```\n", example)
	}
	var links []string
	elsewhere := map[string]bool{}
	for _, s := range shared {
		if s.short == "" || !has(c.LocalFlags(), s.flags) {
			continue
		}
		links = append(links, fmt.Sprintf("[%s](#%s)", s.short, anchor(strings.ToLower(s.title))))
		s.flags.VisitAll(func(f *pflag.Flag) { elsewhere[f.Name] = c.LocalFlags().Lookup(f.Name).Usage == f.Usage })
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !elsewhere[f.Name] && !f.Hidden && f.Name != "help" {
			own.AddFlag(f)
		}
	})
	if own.HasFlags() {
		b.WriteString("\n")
		table(b, own, t)
	}
	if len(links) > 0 {
		fmt.Fprintf(b, "\nAlso accepts the flags for %s.\n", strings.Join(links, " and "))
	}
}

// has reports whether f contains all flags of some, at most one of them with another usage.
func has(f, some *pflag.FlagSet) bool {
	all, others := true, 0
	some.VisitAll(func(s *pflag.Flag) {
		have := f.Lookup(s.Name)
		all = all && have != nil
		if have != nil && have.Usage != s.Usage {
			others++
		}
	})
	return all && others <= 1
}

// table writes a table of flags. t marks code in their usage; it can be nil.
func table(b *bytes.Buffer, f *pflag.FlagSet, t *text) {
	b.WriteString("| Flag | |\n|---|---|\n")
	f.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "`--" + f.Name
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		if value != "" {
			name += " " + value
		}
		if !zero(f.DefValue) {
			usage += " (default `" + f.DefValue + "`)"
		}
		fmt.Fprintf(b, "| %s` | %s |\n", name, strings.ReplaceAll(t.line(usage), "|", `\|`))
	})
}

// zero reports whether a default value is a zero value, which the table omits.
func zero(v string) bool {
	switch v {
	case "", "false", "[]", "0", "0s":
		return true
	}
	return false
}

// unindent removes the indentation of an example.
func unindent(s string) string {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "  ")
	}
	return strings.Join(lines, "\n")
}

// anchor returns the anchor of a heading. path must be in lower case.
func anchor(path string) string { return strings.ReplaceAll(path, " ", "-") }
