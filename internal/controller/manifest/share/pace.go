// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
)

const (
	// slowPass is the duration from which passes are slow.
	slowPass = time.Second
	// halfLife is the time after which a pass counts as half as long. Quick passes in between don't matter, because a pass over a Manifest
	// that waits for something is quick on any cluster.
	halfLife = 30 * time.Second
	// namespaceWeight determines how fast the average of a namespace follows the durations of its ProviderConfigs.
	namespaceWeight = 8
	// paceSize is the approximate size of an entry and its key, and paceLimit is the size of all entries.
	paceSize  = 256
	paceLimit = 8 << 20
)

// A pace stores how long passes took recently for each ProviderConfig, and the average for each namespace. Its size is limited, because
// tenants choose the names.
type pace struct {
	configs    *bytelru.Cache[place, longest]
	namespaces *bytelru.Cache[string, time.Duration]
}

// A place identifies the ProviderConfig of a Manifest. Namespaces with the same ClusterProviderConfig have different places, so that none
// can slow down the others.
type place struct{ namespace, config string }

// longest is the duration of the longest pass, as of a point in time.
type longest struct {
	d  time.Duration
	at time.Time
}

// after returns the duration as of a later point in time.
func (l longest) after(now time.Time) time.Duration {
	return time.Duration(float64(l.d) * math.Exp2(-float64(now.Sub(l.at))/float64(halfLife)))
}

func newPace() *pace {
	return &pace{configs: bytelru.New[place, longest](paceLimit), namespaces: bytelru.New[string, time.Duration](paceLimit)}
}

// isSlow reports whether the next pass is slow. Until the first pass of a ProviderConfig has ended, the average of the namespace counts.
func (p *pace) isSlow(at place, now time.Time) bool {
	if l, ok := p.configs.Get(at); ok {
		return l.after(now) >= slowPass
	}
	d, ok := p.namespaces.Get(at.namespace)
	return !ok || d >= slowPass
}

// record adds the duration of a pass that ended now.
func (p *pace) record(at place, d time.Duration, now time.Time) {
	if l, ok := p.configs.Get(at); ok {
		d = max(d, l.after(now))
	}
	p.configs.AddSized(at, longest{d: d, at: now}, paceSize)
	if average, ok := p.namespaces.Get(at.namespace); ok {
		d = average + (d-average)/namespaceWeight
	}
	p.namespaces.AddSized(at.namespace, d, paceSize)
}
