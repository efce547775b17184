// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
)

const (
	// slowResponse is the average response time from which a cluster is slow.
	slowResponse = 500 * time.Millisecond
	// slowPass is the duration from which passes are slow even if the cluster isn't, for example because of the time for rendering.
	slowPass = 5 * time.Second
	// halfLife is the time after which a pass counts as half as long. Quick passes in between don't matter, because a pass over a Manifest
	// that waits for something is always quick.
	halfLife = 30 * time.Second
	// namespaceWeight determines how fast the average of a namespace follows its ProviderConfigs.
	namespaceWeight = 8
	// paceSize is the approximate size of an entry and its key, and paceLimit is the size of all entries.
	paceSize  = 256
	paceLimit = 8 << 20
)

// A pace stores which ProviderConfigs are slow. Its size is limited, because tenants choose the names.
type pace struct {
	configs *bytelru.Cache[place, speed]
	// namespaces contains the share of the passes of each namespace that were slow.
	namespaces *bytelru.Cache[string, float64]
}

// A place identifies the ProviderConfig of a Manifest. Namespaces with the same ClusterProviderConfig have different places, so that none
// can slow down the others.
type place struct{ namespace, config string }

// A speed is what is known about a ProviderConfig.
type speed struct {
	// response is the average response time of its cluster.
	response time.Duration
	// longest is the duration of the longest pass, as of a point in time.
	longest time.Duration
	at      time.Time
}

// isSlow reports whether a pass that begins now is expected to be slow.
func (s speed) isSlow(now time.Time) bool {
	return s.response >= slowResponse || s.longestAsOf(now) >= slowPass
}

func (s speed) longestAsOf(now time.Time) time.Duration {
	return time.Duration(float64(s.longest) * math.Exp2(-float64(now.Sub(s.at))/float64(halfLife)))
}

func newPace() *pace {
	return &pace{configs: bytelru.New[place, speed]("config_speeds", paceLimit), namespaces: bytelru.New[string, float64]("namespace_speeds", paceLimit)}
}

// An expectation says how long a pass will take.
type expectation int

const (
	// unknown is the expectation if there were no passes to conclude it from.
	unknown expectation = iota
	// quick is the expectation if the last passes were quick and the cluster responds quickly.
	quick
	// slow is the expectation if the cluster responds slowly, or if previous passes took long.
	slow
)

func expect(isSlow bool) expectation {
	if isSlow {
		return slow
	}
	return quick
}

// expect returns the expectation for a pass that begins now. response is the average response time of the cluster, or 0 if it is
// unknown. If nothing is known about the ProviderConfig either, or only that a pass took long some time ago, the passes of its namespace
// decide.
func (p *pace) expect(at place, response time.Duration, now time.Time) expectation {
	s, ok := p.configs.Get(at)
	if response > 0 {
		s.response, ok = response, true
	}
	share, known := p.namespaces.Get(at.namespace)
	switch {
	case ok && (s.isSlow(now) || s.longest < slowPass): // Otherwise, each of many ProviderConfigs would be quick when its turn comes.
		return expect(s.isSlow(now))
	case !known:
		return unknown
	default:
		return expect(share >= 0.5)
	}
}

// record adds a pass that ended now. It ignores quick passes before the first response of the cluster.
func (p *pace) record(at place, response, took time.Duration, now time.Time) {
	if response == 0 && took < slowPass {
		return
	}
	s, _ := p.configs.Get(at)
	s = speed{response: response, longest: max(took, s.longestAsOf(now)), at: now}
	p.configs.AddSized(at, s, paceSize)
	share := 0.0
	if s.isSlow(now) {
		share = 1
	}
	if average, ok := p.namespaces.Get(at.namespace); ok {
		share = average + (share-average)/namespaceWeight
	}
	p.namespaces.AddSized(at.namespace, share, paceSize)
}
