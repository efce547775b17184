// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// subcommand returns a usage error for an unknown subcommand of a group, and suggests similar ones.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return command.Usagef("unknown command %q for %q%s", args[0], cmd.CommandPath(), didYouMean(likeCommand(cmd, args[0])))
}

// explainFlag adds similar flag names to the error for an unknown flag. It returns other errors unchanged.
func explainFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var like []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && similar(unknown.GetSpecifiedName(), f.Name) {
			like = append(like, "--"+f.Name)
		}
	})
	return errors.Errorf("%w%s", err, didYouMean(like))
}

func didYouMean(like []string) string {
	if len(like) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(like, " or ") + "?"
}

// likeCommand returns the paths of commands that the user may have meant: commands of the group with a similar name, and commands
// of any group that have this name or alias, or this name in other tools.
func likeCommand(group *cobra.Command, typed string) []string {
	var out []string
	each(group.Root(), func(c *cobra.Command) {
		like := c.Parent() == group && similar(typed, c.Name())
		if c.IsAvailableCommand() && (like || c.Name() == typed || c.HasAlias(typed) || slices.Contains(c.SuggestFor, typed)) {
			out = append(out, c.CommandPath())
		}
	})
	return out
}

// similar reports whether typed is a prefix of name, or differs from it in few letters: one, or a third of the letters if the
// names are long.
func similar(typed, name string) bool {
	typed, name = strings.ToLower(typed), strings.ToLower(name)
	return typed != "" && strings.HasPrefix(name, typed) || distance(typed, name) <= max(1, min(len(typed), len(name))/3)
}

// distance returns the number of letters to insert, delete, replace or swap with the next one to turn a into b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
