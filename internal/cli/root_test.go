// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

func TestRun(t *testing.T) {
	type want struct {
		Code command.ExitCode
		Out  string
		Err  string // The first line of stderr.
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   want
	}{
		"Version": {
			reason: "The version is written to stdout.",
			args:   []string{"--version"},
			want:   want{Out: version.Installed() + "\n"},
		},
		"UnknownCommand": {
			reason: "An unknown command is wrong usage, with a suggestion.",
			args:   []string{"modul"},
			want:   want{Code: command.ExitUsage, Err: `Error: unknown command "modul" for "kymactl"; did you mean kymactl module?`},
		},
		"UnknownSubcommand": {
			reason: "An unknown command of a group is wrong usage.",
			args:   []string{"module", "nonsense"},
			want:   want{Code: command.ExitUsage, Err: `Error: unknown command "nonsense" for "kymactl module"`},
		},
		"UnknownHelp": {
			reason: "Help about an unknown command is wrong usage, with a suggestion.",
			args:   []string{"help", "modul"},
			want:   want{Code: command.ExitUsage, Err: `Error: unknown command "modul" for "kymactl"; did you mean kymactl module?`},
		},
		"UnknownHelpBelow": {
			reason: "Help about an unknown command of a group is wrong usage.",
			args:   []string{"help", "module", "nonsense"},
			want:   want{Code: command.ExitUsage, Err: `Error: unknown command "nonsense" for "kymactl module"`},
		},
		"UnknownFlag": {
			reason: "An unknown flag is wrong usage.",
			args:   []string{"--nope"},
			want:   want{Code: command.ExitUsage, Err: "Error: unknown flag: --nope"},
		},
		"MistypedFlag": {
			reason: "A flag with a similar name is suggested.",
			args:   []string{"status", "--namespcae", "x"},
			want:   want{Code: command.ExitUsage, Err: "Error: unknown flag: --namespcae; did you mean --namespace?"},
		},
		"MistypedShorthand": {
			reason: "There is no suggestion for a short flag.",
			args:   []string{"status", "-X"},
			want:   want{Code: command.ExitUsage, Err: "Error: unknown shorthand flag: 'X' in -X"},
		},
		"MissingArgument": {
			reason: "A missing argument is wrong usage.",
			args:   []string{"module", "inspect"},
			want:   want{Code: command.ExitUsage, Err: "Error: expected 1 argument (MODULE), got none"},
		},
		"NegativeTimeout": {
			reason: "A negative timeout is wrong usage.",
			args:   []string{"module", "--timeout", "-1s"},
			want:   want{Code: command.ExitUsage, Err: "Error: --timeout is -1s: use 0 for no limit, or a positive duration"},
		},
		"Underscores": {
			reason: "As in kubectl, flags can have underscores.",
			args:   []string{"module", "inspect", "--plain_http"},
			want:   want{Code: command.ExitUsage, Err: "Error: expected 1 argument (MODULE), got none"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, err bytes.Buffer
			code := Run(t.Context(), &command.Environment{In: strings.NewReader(""), Out: &out, Err: &err}, tc.args)
			first, _, _ := strings.Cut(err.String(), "\n")
			if diff := cmp.Diff(tc.want, want{Code: code, Out: out.String(), Err: first}); diff != "" {
				t.Errorf("\n%s\nRun(%v): -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}

// TestRunHelp checks that the command help and the flag --help print the same text.
func TestRunHelp(t *testing.T) {
	for _, path := range []string{"", "module", "module inspect", "status"} {
		var byCommand, byFlag, err bytes.Buffer
		args := strings.Fields(path)
		code := Run(t.Context(), &command.Environment{In: strings.NewReader(""), Out: &byCommand, Err: &err}, append([]string{"help"}, args...))
		Run(t.Context(), &command.Environment{In: strings.NewReader(""), Out: &byFlag, Err: &err}, append(args, "--help"))
		if diff := cmp.Diff(byFlag.String(), byCommand.String()); diff != "" || code != command.ExitOK || err.Len() > 0 {
			t.Errorf("help %s: exit code %d, %q: -with --help, +with help:\n%s", path, code, err.String(), diff)
		}
	}
}

// TestRunGroup checks that a command that only groups other commands prints its help and succeeds, as in kubectl.
func TestRunGroup(t *testing.T) {
	each(New(&command.Environment{}), func(c *cobra.Command) {
		if !c.HasAvailableSubCommands() {
			return
		}
		var bare, help, err bytes.Buffer
		args := strings.Fields(c.CommandPath())[1:]
		code := Run(t.Context(), &command.Environment{In: strings.NewReader(""), Out: &bare, Err: &err}, args)
		if code != command.ExitOK || err.Len() > 0 {
			t.Errorf("%s: exit code %d, %q", c.CommandPath(), code, err.String())
		}
		Run(t.Context(), &command.Environment{In: strings.NewReader(""), Out: &help, Err: &err}, append(args, "--help"))
		if diff := cmp.Diff(help.String(), bare.String()); diff != "" || bare.Len() == 0 {
			t.Errorf("%s: -with --help, +without:\n%s", c.CommandPath(), diff)
		}
	})
}

func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, err bytes.Buffer
	code := report(ctx, &command.Environment{Out: &out, Err: &err}, &cobra.Command{}, ctx.Err())
	if code != command.ExitFailure || !strings.Contains(err.String(), "interrupted") {
		t.Errorf("an interrupted command exits with %d and says %q", code, err.String())
	}
}

// TestRunEndsAtStdin checks that --timeout ends a command that waits for stdin.
func TestRunEndsAtStdin(t *testing.T) {
	template := filepath.Join(t.TempDir(), "oci-layout")
	for _, args := range [][]string{
		{"module", "convert", "-"},
		{"module", "inspect", "registry.example.org/a//example.org/module/greeter:1.0.0", "--username", "me", "--password-stdin"},
		{"deploy", "--template", "-", "--kubeconfig", template},
		{"module", "enable", "greeter", "--values", "-", "--kubeconfig", template},
	} {
		in, w := io.Pipe()
		var out, err bytes.Buffer
		code := Run(t.Context(), &command.Environment{In: in, Out: &out, Err: &err}, append(args, "--timeout", "50ms"))
		if code != command.ExitTimeout || out.Len() > 0 || !strings.Contains(err.String(), "--timeout is 50ms") {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out.String(), err.String())
		}
		w.Close()
	}
}

// TestHelp checks the form of the help of all commands.
func TestHelp(t *testing.T) {
	root := New(&command.Environment{})
	each(root, func(c *cobra.Command) {
		if c.Name() == "help" || c.HasAvailableSubCommands() {
			return
		}
		path := c.CommandPath()
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: Short is %q: want a text without a full stop", path, c.Short)
		}
		if c.Long == "" {
			t.Errorf("%s has no Long", path)
		}
		if c.Example == "" {
			t.Errorf("%s has no Example", path)
		}
		if c.Args == nil {
			t.Errorf("%s does not say which arguments it takes", path)
		}
		if c.Run != nil || c.PersistentPreRunE != nil || c.PersistentPreRun != nil {
			t.Errorf("%s: use RunE only, so that exit codes and timeouts are right", path)
		}
	})
}
