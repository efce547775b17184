// SPDX-License-Identifier: Apache-2.0

package share

import (
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
)

const (
	// slowPass is the average duration from which the passes of a ProviderConfig are slow.
	slowPass = time.Second
	// An average moves by one part in configWeight or namespaceWeight to each new duration.
	configWeight    = 2
	namespaceWeight = 8
	// paceSize is the approximate size of an average and its key, and paceLimit is the size of all averages.
	paceSize  = 256
	paceLimit = 8 << 20
)

// A pace stores the average duration of the passes of each ProviderConfig and each namespace. Its size is limited, because tenants choose
// the names.
type pace struct {
	configs    *bytelru.Cache[place, time.Duration]
	namespaces *bytelru.Cache[string, time.Duration]
}

// A place identifies the ProviderConfig of a Manifest. Namespaces with the same ClusterProviderConfig have different places, so that none
// can slow down the others.
type place struct{ namespace, config string }

func newPace() *pace {
	return &pace{configs: bytelru.New[place, time.Duration](paceLimit), namespaces: bytelru.New[string, time.Duration](paceLimit)}
}

// isSlow reports whether the next pass is slow. Until the first pass of a ProviderConfig has ended, the average of the namespace counts.
func (p *pace) isSlow(at place) bool {
	d, ok := p.configs.Get(at)
	if !ok {
		d, ok = p.namespaces.Get(at.namespace)
	}
	return !ok || d >= slowPass
}

// record adds the duration of a pass.
func (p *pace) record(at place, d time.Duration) {
	add(p.configs, at, d, configWeight)
	add(p.namespaces, at.namespace, d, namespaceWeight)
}

func add[K comparable](c *bytelru.Cache[K, time.Duration], k K, d time.Duration, weight time.Duration) {
	if average, ok := c.Get(k); ok {
		d = average + (d-average)/weight
	}
	c.AddSized(k, d, paceSize)
}
