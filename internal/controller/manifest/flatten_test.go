// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func TestFlatten(t *testing.T) {
	conflict := kerrors.NewConflict(schema.GroupResource{Resource: "pods"}, "a", nil)
	forbidden := kerrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a", nil)
	type want struct {
		Text                string
		Conflict, Forbidden bool
	}
	cases := map[string]struct {
		reason string
		err    error
		want   want
	}{
		"Parts": {reason: "A conflict of a part is not one of the Manifest.", err: errors.Wrap(errors.Join(conflict), "web"), want: want{Text: "web: " + conflict.Error()}},
		"Other": {
			reason: "A part of another kind is kept.", err: errors.Wrap(errors.Join(forbidden), "web"),
			want: want{Text: "web: " + forbidden.Error(), Forbidden: true},
		},
		"Whole": {reason: "An error of the whole call keeps its kind.", err: errors.Wrap(conflict, "web"), want: want{Text: "web: " + conflict.Error(), Conflict: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := flatten(tc.err)
			got := want{Text: err.Error(), Conflict: kerrors.IsConflict(err), Forbidden: kerrors.IsForbidden(err)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nflatten(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if err := flatten(nil); err != nil {
		t.Errorf("flatten(nil): %v", err)
	}
}
