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
		"None":      {reason: "Modules are left alone."},
		"Some":      {reason: "The order is kept, and a repetition is nothing.", args: []string{"b", "a=fast", "b"}, want: want{modules: []moduleArg{{name: "b"}, {name: "a", channel: "fast"}}}},
		"Twice":     {reason: "Nobody can tell which one is meant.", args: []string{"a=fast", "a"}, want: want{err: "--module a is given twice"}},
		"NoName":    {reason: "A typing error.", args: []string{"=fast"}, want: want{err: `--module "=fast": want the name`}},
		"NoChannel": {reason: "A variable of a script that was empty.", args: []string{"a="}, want: want{err: `--module "a=": the channel must be`}},
		"Upper":     {reason: "The API server would refuse it later.", args: []string{"a=Fast"}, want: want{err: "the channel must be 3 to 32 lower case letters"}},
		"TooLong":   {reason: "The API server would refuse it later.", args: []string{strings.Repeat("a", 64)}, want: want{err: "want the name of a module"}},
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
		"CRDsAndPackage":  {reason: "The package brings them.", args: []string{"--skip-crds", "--package", "x"}, want: "exclude each other"},
		"TwoTargets":      {reason: "A config has one.", args: []string{"--in-cluster", "--target-kubeconfig", "x"}, want: "exclude each other"},
		"ContextOfNone":   {reason: "It would be ignored.", args: []string{"--target-context", "x"}, want: "needs --target-kubeconfig"},
		"WaitForNothing":  {reason: "A dry run makes nothing ready.", args: []string{"--wait", "--dry-run"}, want: "exclude each other"},
		"StdinTwice":      {reason: "It can be read once.", args: []string{"--template", "-", "--template", "-"}, want: "stdin is read once"},
		"KymaName":        {reason: "Names are checked before anything is done.", args: []string{"--kyma", "A B"}, want: `--kyma "A B"`},
		"ConfigName":      {reason: "Names are checked before anything is done.", args: []string{"--provider-config", "A"}, want: `--provider-config "A"`},
		"Channel":         {reason: "Channels are checked before anything is done.", args: []string{"--channel", "x1"}, want: "3 to 32 lower case letters"},
		"Output":          {reason: "Formats are checked before anything is done.", args: []string{"-o", "xml"}, want: "unknown output format"},
		"NoSuchTemplate":  {reason: "Files are read before anything is done.", args: []string{"--template", "none.yaml"}, want: "none.yaml"},
		"NoSuchTarget":    {reason: "Files are read before anything is done.", args: []string{"--target-kubeconfig", "none.yaml"}, want: "--target-kubeconfig none.yaml"},
		"NoSuchConnected": {reason: "The control plane has to be known.", args: []string{"--kubeconfig", "none.yaml"}, want: "use --kubeconfig"},
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
