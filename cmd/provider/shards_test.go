// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSelectedShards checks which shards a replica can hold, and which values of the flags are rejected.
func TestSelectedShards(t *testing.T) {
	cases := map[string]struct {
		reason string
		flags  flags
		want   map[int]bool
		fails  bool
	}{
		"All":       {reason: "By default, a replica can hold all shards.", flags: flags{shards: 3, leaderElection: true}},
		"Ranges":    {reason: "Shards and ranges of shards can be listed.", flags: flags{shards: 8, leaderElection: true, shardSelector: "0,3-5"}, want: map[int]bool{0: true, 3: true, 4: true, 5: true}},
		"TooLarge":  {reason: "A shard that does not exist is a mistake.", flags: flags{shards: 3, leaderElection: true, shardSelector: "3"}, fails: true},
		"Text":      {reason: "Only numbers are valid.", flags: flags{shards: 3, leaderElection: true, shardSelector: "a"}, fails: true},
		"NoShards":  {reason: "There is at least one shard.", flags: flags{leaderElection: true}, fails: true},
		"TooMany":   {reason: "There is a maximum.", flags: flags{shards: maxShards + 1, leaderElection: true}, fails: true},
		"NoLeaders": {reason: "Replicas without leases would not know each other.", flags: flags{shards: 2}, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := tc.flags.validateShards(); (err != nil) != tc.fails {
				t.Fatalf("\n%s\nvalidateShards(): want an error: %t, got %v", tc.reason, tc.fails, err)
			}
			if tc.fails {
				return
			}
			got, err := tc.flags.selectedShards()
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("\n%s\nselectedShards(): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
