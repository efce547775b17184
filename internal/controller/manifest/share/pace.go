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
	return &pace{configs: bytelru.New[place, speed](paceLimit), namespaces: bytelru.New[string, float64](paceLimit)}
}

// isSlow reports whether a pass that begins now is expected to be slow. response is the average response time of the cluster, or 0 if
// it is unknown. If nothing is known about the ProviderConfig either, it is slow if most passes of its namespace are, or if there were none.
func (p *pace) isSlow(at place, response time.Duration, now time.Time) bool {
	s, ok := p.configs.Get(at)
	if response > 0 {
		s.response, ok = response, true
	}
	if ok {
		return s.isSlow(now)
	}
	slow, ok := p.namespaces.Get(at.namespace)
	return !ok || slow >= 0.5
}

// record adds a pass that ended now. It ignores quick passes before the first response of the cluster.
func (p *pace) record(at place, response, took time.Duration, now time.Time) {
	if response == 0 && took < slowPass {
		return
	}
	s, _ := p.configs.Get(at)
	s = speed{response: response, longest: max(took, s.longestAsOf(now)), at: now}
	p.configs.AddSized(at, s, paceSize)
	slow := 0.0
	if s.isSlow(now) {
		slow = 1
	}
	if average, ok := p.namespaces.Get(at.namespace); ok {
		slow = average + (slow-average)/namespaceWeight
	}
	p.namespaces.AddSized(at.namespace, slow, paceSize)
}
