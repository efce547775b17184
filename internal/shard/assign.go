// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
)

// Of returns the shard of a key, from 0 to count-1, by rendezvous hashing: if count grows, keys move only to new shards.
func Of(key string, count int) int {
	h, best, highest := hash(key), 0, uint64(0)
	for i := range count {
		if s := mix(h ^ mix(uint64(i)+1)); s > highest {
			best, highest = i, s
		}
	}
	return best
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

// mix distributes the bits of a number, as the finalizer of SplitMix64 does.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// A Member is a replica that is alive.
type Member struct {
	// ID identifies a member, and is never used again after its end.
	ID string
	// Shards contains the shards that the member can hold. If it is nil, the member can hold all shards.
	Shards map[int]bool
}

func (m *Member) accepts(shard int) bool { return m.Shards == nil || m.Shards[shard] }

// Assign returns the ID of the member that should hold each shard. held contains the current holders, which can be members that are no
// longer alive. A shard moves only if its holder is not alive or does not accept it, or if another member holds at least two shards less.
// A shard that no member accepts is missing in the result. The result does not depend on the order of the members.
func Assign(count int, members []Member, held map[int]string) map[int]string {
	a := &assignment{members: slices.SortedFunc(slices.Values(members), func(x, y Member) int { return cmp.Compare(x.ID, y.ID) })}
	a.of, a.load = map[int]string{}, map[string]int{}
	for i := range a.members {
		a.load[a.members[i].ID] = 0
	}
	for s := range count {
		if i := slices.IndexFunc(a.members, func(m Member) bool { return m.ID == held[s] }); i >= 0 && a.members[i].accepts(s) {
			a.set(s, held[s])
		}
	}
	for s := range count {
		if _, ok := a.of[s]; !ok {
			a.assignFree(s)
		}
	}
	for a.moveOne(count) {
	}
	return a.of
}

type assignment struct {
	members []Member
	of      map[int]string
	load    map[string]int
}

func (a *assignment) set(shard int, id string) {
	if before, ok := a.of[shard]; ok {
		a.load[before]--
	}
	a.of[shard] = id
	a.load[id]++
}

// assignFree assigns a shard to the member with the fewest shards, and of several to the one with the highest hash.
func (a *assignment) assignFree(shard int) {
	var best *Member
	for i := range a.members {
		m := &a.members[i]
		if !m.accepts(shard) {
			continue
		}
		if best == nil || a.load[m.ID] < a.load[best.ID] || a.load[m.ID] == a.load[best.ID] && score(shard, m.ID) > score(shard, best.ID) {
			best = m
		}
	}
	if best != nil {
		a.set(shard, best.ID)
	}
}

// moveOne moves a shard to a member that holds at least two shards less than its holder, and reports whether there was one.
func (a *assignment) moveOne(count int) bool {
	for i := range a.members {
		to, best := &a.members[i], -1
		for s := range count {
			from, ok := a.of[s]
			if !ok || !to.accepts(s) || a.load[from] < a.load[to.ID]+2 {
				continue
			}
			if best < 0 || a.load[from] > a.load[a.of[best]] || a.load[from] == a.load[a.of[best]] && score(s, to.ID) > score(best, to.ID) {
				best = s
			}
		}
		if best >= 0 {
			a.set(best, to.ID)
			return true
		}
	}
	return false
}

func score(shard int, member string) uint64 {
	return mix(hash(member) ^ mix(uint64(shard)+1)) //nolint:gosec // A shard is not negative.
}

// A Step contains the shards that a member gives away and takes.
type Step struct{ Give, Take []int }

// Next returns what a member does to reach the assignment: it gives away the shards that another member should hold, and takes free
// shards that it should hold. It never takes a shard from a member that is alive.
func Next(self string, count int, members []Member, held map[int]string) Step {
	alive := map[string]bool{}
	for i := range members {
		alive[members[i].ID] = true
	}
	var out Step
	want := Assign(count, members, held)
	for _, s := range slices.Sorted(maps.Keys(want)) {
		switch holder := held[s]; {
		case holder == self && want[s] != self:
			out.Give = append(out.Give, s)
		case !alive[holder] && want[s] == self:
			out.Take = append(out.Take, s)
		}
	}
	for s := range count {
		if _, ok := want[s]; !ok && held[s] == self {
			out.Give = append(out.Give, s)
		}
	}
	return out
}
