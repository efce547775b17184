// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func TestParseModules(t *testing.T) {
	type want struct {
		modules []moduleArg
		err     string
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   want
	}{
		"None":      {reason: "Without the flag, no modules are enabled."},
		"Some":      {reason: "The order is kept, and duplicates are ignored.", args: []string{"b", "a=fast", "b"}, want: want{modules: []moduleArg{{name: "b"}, {name: "a", channel: "fast"}}}},
		"Twice":     {reason: "It is ambiguous which one is meant.", args: []string{"a=fast", "a"}, want: want{err: "--module a is set twice"}},
		"NoName":    {reason: "A name is required.", args: []string{"=fast"}, want: want{err: `--module "=fast": use NAME`}},
		"NoChannel": {reason: "An empty channel, as from an empty variable of a script, is an error.", args: []string{"a="}, want: want{err: `--module "a=": the channel must be`}},
		"Upper":     {reason: "A channel must have lower case letters.", args: []string{"a=Fast"}, want: want{err: "the channel must be 3 to 32 lowercase letters"}},
		"TooLong":   {reason: "The length of a name is limited.", args: []string{strings.Repeat("a", 64)}, want: want{err: "with the name of a module"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			modules, err := parseModules(tc.args)
			got := want{modules: modules}
			if err != nil {
				if got.err = tc.want.err; !strings.Contains(err.Error(), tc.want.err) || tc.want.err == "" {
					got.err = err.Error()
				}
				if code := command.CodeOf(err); code != command.ExitUsage {
					t.Errorf("%s\nparseModules(...): want exit code %d, got %d", tc.reason, command.ExitUsage, code)
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}, moduleArg{})); diff != "" {
				t.Errorf("%s\nparseModules(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWrongUsage(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"CRDsAndPackage":  {reason: "The package includes the CRDs.", args: []string{"--skip-crds", "--package", "x"}, want: "cannot be used together"},
		"TwoTargets":      {reason: "A Kyma has one target cluster.", args: []string{"--in-cluster", "--target-kubeconfig", "x"}, want: "cannot be used together"},
		"ContextOfNone":   {reason: "The context would be ignored.", args: []string{"--target-context", "x"}, want: "requires --target-kubeconfig"},
		"WaitForNothing":  {reason: "After a dry run, nothing becomes Ready.", args: []string{"--wait", "--dry-run"}, want: "cannot be used together"},
		"StdinTwice":      {reason: "stdin can only be read once.", args: []string{"--template", "-", "--template", "-"}, want: "stdin can only be read once"},
		"KymaName":        {reason: "Names are checked before anything is changed.", args: []string{"--kyma", "A B"}, want: `--kyma "A B"`},
		"ConfigName":      {reason: "Names are checked before anything is changed.", args: []string{"--provider-config", "A"}, want: `--provider-config "A"`},
		"Channel":         {reason: "Channels are checked before anything is changed.", args: []string{"--channel", "x1"}, want: "3 to 32 lowercase letters"},
		"Output":          {reason: "Formats are checked before anything is changed.", args: []string{"-o", "xml"}, want: "unknown output format"},
		"NoSuchTemplate":  {reason: "Files are read before anything is changed.", args: []string{"--template", "none.yaml"}, want: "none.yaml"},
		"NoSuchTarget":    {reason: "Files are read before anything is changed.", args: []string{"--target-kubeconfig", "none.yaml"}, want: "--target-kubeconfig none.yaml"},
		"NoSuchConnected": {reason: "A missing kubeconfig is wrong usage.", args: []string{"--kubeconfig", "none.yaml"}, want: "use --kubeconfig"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := run(t, NewDeploy, tc.args...).err
			if code := command.CodeOf(err); code != command.ExitUsage {
				t.Fatalf("%s\ndeploy %s: want exit code %d, got %d: %v", tc.reason, tc.args, command.ExitUsage, code, err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\ndeploy %s: want error with %q, got %q", tc.reason, tc.args, tc.want, err)
			}
		})
	}
}
