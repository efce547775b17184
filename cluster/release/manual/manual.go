// SPDX-License-Identifier: Apache-2.0

package manual

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Completions returns the completion scripts for all shells, by the path that the file has in an archive.
func Completions(root *cobra.Command) (map[string][]byte, error) {
	name := root.Name()
	out := map[string][]byte{}
	for path, generate := range map[string]func(io.Writer) error{
		name + ".bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		// Zsh finds the completion of a command by this name.
		"_" + name:     root.GenZshCompletion,
		name + ".fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		name + ".ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var b bytes.Buffer
		if err := generate(&b); err != nil {
			return nil, errors.Wrapf(err, "cannot generate the completion %q", path)
		}
		out["completions/"+path] = b.Bytes()
	}
	return out, nil
}

// Pages returns the man pages of root and all commands below it, by the path that the file has in an archive. Their date is the month
// of a time.
func Pages(root *cobra.Command, version string, date time.Time) (map[string][]byte, error) {
	out := map[string][]byte{}
	return out, pages(out, root, version, date.UTC())
}

func pages(out map[string][]byte, c *cobra.Command, version string, date time.Time) error {
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := pages(out, sub, version, date); err != nil {
			return err
		}
	}
	c.DisableAutoGenTag = true
	var b bytes.Buffer
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: c.Root().Name() + " " + version, Manual: "User Commands"}
	if err := doc.GenMan(c, header, &b); err != nil {
		return errors.Wrapf(err, "cannot generate the man page of %q", c.CommandPath())
	}
	out["man/man1/"+strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"] = b.Bytes()
	return nil
}
