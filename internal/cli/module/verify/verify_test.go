// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

func TestUnverified(t *testing.T) {
	type args struct {
		err    error
		opened bool
	}
	cases := map[string]struct {
		reason string
		args   args
		want   command.ExitCode
	}{
		"Broken":   {"A module that cannot be read is not verified.", args{err: errors.New("broken")}, command.ExitUnverified},
		"NoModule": {"The module does not exist.", args{err: &store.NotFoundError{What: `manifest "1.0.0"`}}, command.ExitNotFound},
		"NoLayer":  {"A part of the module is missing.", args{err: &store.NotFoundError{What: "blob sha256:1"}}, command.ExitUnverified},
		"NoPart": {
			"After the module was opened, so is a missing manifest.", args{err: &store.NotFoundError{What: `manifest "1.0.0"`}, opened: true}, command.ExitUnverified,
		},
		"Timeout":     {"The timeout has expired.", args{err: context.DeadlineExceeded}, command.ExitTimeout},
		"Interrupted": {"The user interrupted the command.", args{err: context.Canceled}, command.ExitFailure},
		"Usage":       {"The command line is wrong.", args{err: command.Usagef("no")}, command.ExitUsage},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, command.CodeOf(Unverified(tc.args.err, tc.args.opened))); diff != "" {
				t.Errorf("\n%s\nUnverified(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
