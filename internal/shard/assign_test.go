// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOf checks that keys are spread evenly, and that only as many keys as necessary move if the number of shards grows.
func TestOf(t *testing.T) {
	const keys = 10_000
	for _, count := range []int{1, 2, 3, 8, 32, 100} {
		load, moved, back := make([]int, count), 0, 0
		for i := range keys {
			key := fmt.Sprintf("ProviderConfig/team-%d/cluster-%d", i%100, i)
			s := Of(key, count)
			load[s]++
			switch next := Of(key, count+1); {
			case next == count:
				moved++
			case next != s:
				back++
			}
		}
		for s, n := range load {
			// Six standard deviations of a binomial distribution, whose variance is less than its mean.
			if mean := keys / count; count > 1 && (n-mean)*(n-mean) > 36*mean {
				t.Errorf("%d shards: shard %d has %d of %d keys", count, s, n, keys)
			}
		}
		if back > 0 {
			t.Errorf("%d shards: %d keys moved between shards that existed before", count, back)
		}
		if mean := keys / (count + 1); (moved-mean)*(moved-mean) > 36*mean {
			t.Errorf("%d shards: %d keys moved to the new shard, want about %d", count, moved, mean)
		}
	}
}

// TestNext checks what a member gives away and takes.
func TestNext(t *testing.T) {
	all := func(ids ...string) []Member {
		out := make([]Member, 0, len(ids))
		for _, id := range ids {
			out = append(out, Member{ID: id})
		}
		return out
	}
	type args struct {
		self    string
		count   int
		members []Member
		held    map[int]string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   Step
	}{
		"Alone": {
			reason: "A single member takes all shards.",
			args:   args{self: "a", count: 3, members: all("a")},
			want:   Step{Take: []int{0, 1, 2}},
		},
		"Balanced": {
			reason: "A difference of one shard moves nothing.",
			args:   args{self: "a", count: 3, members: all("a", "b"), held: map[int]string{0: "a", 1: "a", 2: "b"}},
		},
		"Dead": {
			reason: "The shards of a member that is not alive are free.",
			args:   args{self: "a", count: 2, members: all("a"), held: map[int]string{0: "a", 1: "b"}},
			want:   Step{Take: []int{1}},
		},
		"Alive": {
			reason: "A shard of a member that is alive is never taken.",
			args:   args{self: "b", count: 2, members: all("a", "b"), held: map[int]string{0: "a", 1: "a"}},
		},
		"NotAMember": {
			reason: "A process that is not a member takes nothing.",
			args:   args{self: "b", count: 2, members: all("a"), held: map[int]string{0: "a"}},
		},
		"Selected": {
			reason: "A member holds only shards that it accepts, even if others hold fewer.",
			args: args{self: "a", count: 3, members: []Member{{ID: "a", Shards: map[int]bool{0: true}}, {ID: "b"}}, held: map[int]string{
				0: "a", 1: "a",
			}},
			want: Step{Give: []int{1}},
		},
		"Unwanted": {
			reason: "A member gives away a shard that no member accepts.",
			args:   args{self: "a", count: 2, members: []Member{{ID: "a", Shards: map[int]bool{0: true}}}, held: map[int]string{0: "a", 1: "a"}},
			want:   Step{Give: []int{1}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Next(tc.args.self, tc.args.count, tc.args.members, tc.args.held)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nNext(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAssignProperties checks random sequences of members that come and go: the shards are spread evenly, the order of the members does
// not matter, and no more shards move than necessary.
func TestAssignProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		count, held := 1+r.IntN(64), map[int]string{}
		var members []Member
		for step, next := 0, 0; step < 10; step++ {
			if i := r.IntN(len(members) + 1); i < len(members) && r.IntN(2) == 0 {
				members = append(members[:i:i], members[i+1:]...)
			} else {
				members = append(members, Member{ID: fmt.Sprintf("replica-%d", next)})
				next++
			}
			got := Assign(count, members, held)
			r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
			if diff := cmp.Diff(got, Assign(count, members, held)); diff != "" {
				t.Fatalf("the order of the members matters: -want, +got:\n%s", diff)
			}
			checkEven(t, count, members, got)
			checkMoves(t, count, members, held, got)
			held = got
		}
	}
}

func checkEven(t *testing.T, count int, members []Member, got map[int]string) {
	t.Helper()
	load := map[string]int{}
	for _, id := range got {
		load[id]++
	}
	for _, m := range members {
		if n := load[m.ID]; n < count/len(members) || n > (count+len(members)-1)/len(members) {
			t.Fatalf("%d shards, %d members: %s holds %d", count, len(members), m.ID, n)
		}
	}
}

// checkMoves checks that each member loses only shards that exceed its share. Shares differ by at most one shard.
func checkMoves(t *testing.T, count int, members []Member, held, got map[int]string) {
	t.Helper()
	before, lost := map[string]int{}, map[string]int{}
	for s, id := range held {
		before[id]++
		if got[s] != id {
			lost[id]++
		}
	}
	for _, m := range members {
		if most := max(0, before[m.ID]-count/len(members)); lost[m.ID] > most {
			t.Fatalf("%d shards, %d members: %s held %d and lost %d", count, len(members), m.ID, before[m.ID], lost[m.ID])
		}
	}
}
