// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"io/fs"
	"testing"
)

func TestIsTrusted(t *testing.T) {
	const me, root = 1000, 0
	cases := map[string]struct {
		reason string
		mode   fs.FileMode
		owner  int
		want   bool
	}{
		"Own":      {reason: "Only the user may write.", mode: fs.ModeDir | 0o700, owner: me, want: true},
		"Readable": {reason: "Others may read: the content is public, or they need the digest.", mode: fs.ModeDir | 0o755, owner: me, want: true},
		"Group":    {reason: "The group may write.", mode: fs.ModeDir | 0o770, owner: me},
		"Volume":   {reason: "Everyone in the pod may write.", mode: fs.ModeDir | 0o777, owner: root},
		"Sticky":   {reason: "Everyone may write, as to /tmp.", mode: fs.ModeDir | fs.ModeSticky | 0o777, owner: root},
		"Others":   {reason: "Another user may write.", mode: fs.ModeDir | 0o755, owner: root},
		"Link":     {reason: "A symbolic link can lead anywhere.", mode: fs.ModeSymlink | 0o777, owner: me},
		"File":     {reason: "A file is not a directory.", mode: 0o600, owner: me},
		"Unknown":  {reason: "The system does not tell who owns it.", mode: fs.ModeDir | 0o777, owner: unknownOwner, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isTrusted(tc.mode, tc.owner, me); got != tc.want {
				t.Errorf("\n%s\nisTrusted(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
