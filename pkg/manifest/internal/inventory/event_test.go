// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEvent(t *testing.T) {
	type want struct {
		Post, Deletion, Blocks bool
	}
	cases := map[string]struct {
		reason string
		event  Event
		want   want
	}{
		"PreInstall":   {reason: "The hooks of pre-install run before the objects are applied.", event: PreInstall},
		"PostInstall":  {reason: "The hooks of post-install run after the objects are applied.", event: PostInstall, want: want{Post: true}},
		"PreUpgrade":   {reason: "The hooks of pre-upgrade run before the objects are applied.", event: PreUpgrade},
		"PostUpgrade":  {reason: "The hooks of post-upgrade run after the objects are applied.", event: PostUpgrade, want: want{Post: true}},
		"PreRollback":  {reason: "The hooks of pre-rollback run before the objects are applied.", event: PreRollback},
		"PostRollback": {reason: "The hooks of post-rollback run after the objects are applied.", event: PostRollback, want: want{Post: true}},
		"PreDelete":    {reason: "As in Helm, only a hook that fails before the objects are deleted blocks a removal.", event: PreDelete, want: want{Deletion: true, Blocks: true}},
		"PostDelete":   {reason: "A hook that fails after the objects are deleted does not block a removal.", event: PostDelete, want: want{Deletion: true}},
		"Test":         {reason: "A test runs neither after the objects are applied nor during a removal.", event: Test},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := want{Post: tc.event.IsPost(), Deletion: tc.event.IsDeletion(), Blocks: tc.event.Blocks()}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
