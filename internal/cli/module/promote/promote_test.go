// SPDX-License-Identifier: Apache-2.0

package promote

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/helptest"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/release"
)

// TestHelp checks that the help names the fields of the output.
func TestHelp(t *testing.T) {
	helptest.CheckFields(t, Command(&command.Environment{}).Long, release.Outcome{})
}

func TestDecide(t *testing.T) {
	type want struct {
		fields    map[string]any
		downgrade bool
		warns     string
		err       string
		code      command.ExitCode
	}
	cases := map[string]struct {
		reason  string
		p       promotion
		regular v1alpha1.Release
		phase   v1alpha1.RolloutPhase
		want    want
	}{
		"From": {
			reason: "The channel gets the version of the other channel.", p: promotion{from: "fast"},
			regular: v1alpha1.Release{Version: "1.0.0"}, phase: v1alpha1.RolloutComplete,
			want: want{fields: map[string]any{"version": "1.1.0"}},
		},
		"Incomplete": {
			reason: "A version that not all Kymas of the other channel have yet is worth a warning.", p: promotion{from: "fast"},
			regular: v1alpha1.Release{Version: "1.0.0"}, phase: v1alpha1.RolloutProgressing,
			want: want{fields: map[string]any{"version": "1.1.0"}, warns: "in channel fast is not complete"},
		},
		"Same": {
			reason: "A channel that has the version is not written.", p: promotion{from: "fast"},
			regular: v1alpha1.Release{Version: "1.1.0"},
		},
		"Lower": {
			reason: "A lower version needs a flag, as the Kymas would downgrade.", p: promotion{version: "0.9.0"},
			regular: v1alpha1.Release{Version: "1.0.0"},
			want:    want{err: "--allow-downgrade", code: command.ExitFailure},
		},
		"Downgrade": {
			reason: "With the flag, the annotation is set and the user is warned.", p: promotion{version: "0.9.0", downgrade: true},
			regular: v1alpha1.Release{Version: "1.0.0"},
			want:    want{fields: map[string]any{"version": "0.9.0"}, downgrade: true, warns: "is lower than version 1.0.0"},
		},
		"Higher": {
			reason: "The flag has no effect on a higher version.", p: promotion{version: "2.0.0", downgrade: true},
			regular: v1alpha1.Release{Version: "1.0.0"},
			want:    want{fields: map[string]any{"version": "2.0.0"}},
		},
		"Paused": {
			reason: "A paused channel does not start the rollout, which the user must know.", p: promotion{version: "2.0.0"},
			regular: v1alpha1.Release{Version: "1.0.0", Paused: true},
			want:    want{fields: map[string]any{"version": "2.0.0"}, warns: "kymactl rollout resume"},
		},
		"Unknown": {
			reason: "The error for an unknown channel lists those that exist.", p: promotion{from: "beta"},
			want: want{err: "fast, regular", code: command.ExitNotFound},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &v1alpha1.ModuleReleaseMeta{}
			m.Spec.Channels = []v1alpha1.ChannelRelease{
				{Channel: "fast", Release: v1alpha1.Release{Version: "1.1.0"}}, {Channel: "regular", Release: tc.regular},
			}
			m.Status.Channels = []v1alpha1.ChannelRollout{{Channel: "fast", Version: "1.1.0", Phase: tc.phase}}
			d, err := tc.p.decide(&release.Targets(m)[1])
			if diff := cmp.Diff(tc.want.code, command.CodeOf(err)); diff != "" {
				t.Fatalf("\n%s\ndecide(): -want code, +got:\n%s", tc.reason, diff)
			}
			if err != nil && !strings.Contains(err.Error(), tc.want.err) {
				t.Errorf("\n%s\nwant %q in %v", tc.reason, tc.want.err, err)
			}
			if diff := cmp.Diff(tc.want.fields, d.change.Fields); diff != "" {
				t.Errorf("\n%s\ndecide(): -want, +got:\n%s", tc.reason, diff)
			}
			if d.change.Downgrade != tc.want.downgrade {
				t.Errorf("\n%s\nDowngrade: want %t, got %t", tc.reason, tc.want.downgrade, d.change.Downgrade)
			}
			if all := strings.Join(d.warnings, "\n"); err == nil && (all == "") != (tc.want.warns == "") || !strings.Contains(all, tc.want.warns) {
				t.Errorf("\n%s\nwant the warning %q, got %q", tc.reason, tc.want.warns, all)
			}
		})
	}
}
