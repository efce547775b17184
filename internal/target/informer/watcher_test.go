// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

func TestNextPause(t *testing.T) {
	type args struct {
		last time.Duration
		err  error
	}
	cases := map[string]struct {
		reason string
		args   args
		want   time.Duration
	}{
		"First": {
			reason: "A watch that ended is started again soon.",
			want:   firstPause,
		},
		"Longer": {
			reason: "Each further attempt waits twice as long.",
			args:   args{last: 4 * time.Second, err: errors.New("connection refused")},
			want:   8 * time.Second,
		},
		"Longest": {
			reason: "A cluster that is back is watched again within the longest pause.",
			args:   args{last: mostPause, err: errors.New("connection refused")},
			want:   mostPause,
		},
		"NotServed": {
			reason: "A kind that is not served is not asked for until a caller wants it.",
			args:   args{err: errors.Wrap(&cluster.NoKindError{GVK: widgets}, "cannot list")},
			want:   deniedPause,
		},
		"FirstForbidden": {
			reason: "A right that is granted in the next second, as with a ClusterRole that is applied beside its binding, is used soon.",
			args:   args{err: errForbidden},
			want:   firstPause,
		},
		"LongForbidden": {
			reason: "A right that no one grants is asked for rarely.",
			args:   args{last: deniedPause, err: errForbidden},
			want:   deniedPause,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, nextPause(tc.args.last, tc.args.err)); diff != "" {
				t.Errorf("\n%s\nnextPause(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
