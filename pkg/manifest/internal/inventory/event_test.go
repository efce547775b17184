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
		"PreInstall":   {reason: "Its hooks come before the objects.", event: PreInstall},
		"PostInstall":  {reason: "Its hooks come after the objects.", event: PostInstall, want: want{Post: true}},
		"PreUpgrade":   {reason: "Its hooks come before the objects.", event: PreUpgrade},
		"PostUpgrade":  {reason: "Its hooks come after the objects.", event: PostUpgrade, want: want{Post: true}},
		"PreRollback":  {reason: "Its hooks come before the objects.", event: PreRollback},
		"PostRollback": {reason: "Its hooks come after the objects.", event: PostRollback, want: want{Post: true}},
		"PreDelete":    {reason: "Only a hook before the objects go blocks a removal, as with Helm.", event: PreDelete, want: want{Deletion: true, Blocks: true}},
		"PostDelete":   {reason: "A hook after the objects went blocks nothing.", event: PostDelete, want: want{Deletion: true}},
		"Test":         {reason: "A test is neither.", event: Test},
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
