// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// width is the maximum line length of the page, in characters.
const width = 120

// A text recognizes code in the help of commands.
type text struct {
	code *regexp.Regexp
}

// newText returns a text that recognizes commands by their paths and flags by their form.
func newText(commands []*cobra.Command) *text {
	names := make([]string, 0, len(commands)+1)
	for _, c := range commands {
		names = append(names, regexp.QuoteMeta(c.CommandPath())+`\b(?: --[a-z]+\b)?`)
	}
	// The longest alternative comes first, because the first match wins.
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	names = append(names, `\bmodule\.yaml`, `\bHOST/BASE[^\s,;]*[A-Z]`, `@sha256:…`, regexp.QuoteMeta("~/.kube/config"), `\$KUBECONFIG`,
		`operator\.kyma-project\.io[/a-z0-9-]*`, `cosign sign --key`, `host\[:port\]/path[^\s,;]*[A-Zh]`)
	const flag = `--for deleted|--[a-z][-a-z]*(?:=[a-z]+)?`
	return &text{code: regexp.MustCompile(strings.Join(names, "|") + "|" + flag)}
}

// line returns s as Markdown, and marks the code in it. A nil text returns s unchanged.
func (t *text) line(s string) string {
	if t == nil {
		return s
	}
	return t.code.ReplaceAllString(s, "`$0`")
}

// paragraphs returns the paragraphs of a help text as Markdown, wrapped at width.
func (t *text) paragraphs(s string) string {
	out := strings.Split(s, "\n\n")
	for i, p := range out {
		// The help can have line breaks inside code.
		out[i] = t.line(strings.Join(strings.Fields(p), " "))
	}
	return command.Wrap(strings.Join(out, "\n\n"), width)
}
