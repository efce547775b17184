// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Leases of this package have these labels and annotations.
const (
	// labelRole is roleMember or roleShard.
	labelRole  = "kyma.m.crossplane.io/sharding"
	roleMember = "member"
	roleShard  = "shard"
	// annotationShards contains the shards that a member can hold, separated by commas. Without it, the member can hold all.
	annotationShards = "kyma.m.crossplane.io/shards"
	// leasePrefix is the beginning of the names of all Leases of this package.
	leasePrefix = "provider-kyma-"
	shardPrefix = leasePrefix + roleShard + "-"
)

// memberLease returns a Lease with a unique name for a replica. The name identifies the member.
func memberLease(o *Options, now time.Time) *coordinationv1.Lease {
	seconds := int32(duration / time.Second)
	at := metav1.NewMicroTime(now)
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name:   leasePrefix + roleMember + "-" + strings.ToLower(rand.Text()),
		Labels: map[string]string{labelRole: roleMember},
	}}
	l.Spec = coordinationv1.LeaseSpec{HolderIdentity: &o.Name, LeaseDurationSeconds: &seconds, AcquireTime: &at, RenewTime: &at}
	if o.Shards != nil {
		var shards []string
		for _, s := range slices.Sorted(maps.Keys(o.Shards)) {
			shards = append(shards, strconv.Itoa(s))
		}
		l.Annotations = map[string]string{annotationShards: strings.Join(shards, ",")}
	}
	return l
}

// shardLease returns the Lease of a shard that has none yet.
func shardLease(shard int) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("%s%d", shardPrefix, shard), Labels: map[string]string{labelRole: roleShard},
	}}
}

// A state is the content of the Leases at a time.
type state struct {
	// leases contains the Leases of members by name.
	leases  map[string]*coordinationv1.Lease
	members []Member
	// shards contains the Leases of shards.
	shards map[int]*coordinationv1.Lease
}

func stateOf(all []coordinationv1.Lease) *state {
	s := &state{leases: map[string]*coordinationv1.Lease{}, shards: map[int]*coordinationv1.Lease{}}
	for i := range all {
		l := &all[i]
		switch l.Labels[labelRole] {
		case roleMember:
			s.leases[l.Name] = l
			s.members = append(s.members, Member{ID: l.Name, Shards: shardsOf(l)})
		case roleShard:
			if n, err := strconv.Atoi(strings.TrimPrefix(l.Name, shardPrefix)); err == nil {
				s.shards[n] = l
			}
		}
	}
	return s
}

func shardsOf(l *coordinationv1.Lease) map[int]bool {
	text, ok := l.Annotations[annotationShards]
	if !ok {
		return nil
	}
	out := map[int]bool{}
	for part := range strings.SplitSeq(text, ",") {
		if n, err := strconv.Atoi(part); err == nil {
			out[n] = true
		}
	}
	return out
}

// remove removes a member.
func (s *state) remove(name string) {
	delete(s.leases, name)
	s.members = slices.DeleteFunc(s.members, func(m Member) bool { return m.ID == name })
}

// holders returns the member that holds each shard, alive or not.
func (s *state) holders() map[int]string {
	out := map[int]string{}
	for n, l := range s.shards {
		if l.Spec.HolderIdentity != nil {
			out[n] = *l.Spec.HolderIdentity
		}
	}
	return out
}

// heldBy returns the shards that a member holds, sorted.
func (s *state) heldBy(member string) []int {
	var out []int
	for n, holder := range s.holders() {
		if holder == member {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// An observer measures how long Leases of members were not renewed. It compares only times of this replica.
type observer struct {
	seen map[string]observation
	last time.Time
}

type observation struct {
	version string
	since   time.Time
}

// dead returns the names of the Leases that were not renewed for the duration, sorted. If the replica itself could not read them for some
// time, as when the API server was unavailable, all get the duration again.
func (o *observer) dead(now time.Time, leases map[string]*coordinationv1.Lease) []string {
	if now.Sub(o.last) > duration/2 {
		clear(o.seen)
	}
	o.last = now
	maps.DeleteFunc(o.seen, func(name string, _ observation) bool { return leases[name] == nil })
	var out []string
	for name, l := range leases {
		switch is, ok := o.seen[name]; {
		case !ok || is.version != l.ResourceVersion:
			o.seen[name] = observation{version: l.ResourceVersion, since: now}
		case now.Sub(is.since) >= duration:
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
