// SPDX-License-Identifier: Apache-2.0

package target

import (
	"maps"
	"slices"
	"time"
)

// steady is the age of a connection before which its consumers get no new connection if it turns out to lead to a different cluster.
// Otherwise, an address that belongs to several clusters alternately would keep the workers busy.
const steady = time.Minute

// wakeConsumers wakes the consumers of a cluster.
func (p *Pool) wakeConsumers(c *Cluster) {
	p.mu.Lock()
	consumers := p.consumersOf(c)
	p.mu.Unlock()
	p.wakeAll(consumers)
}

// replaced closes the connection to a cluster, because its address belongs to a different cluster now. It wakes the consumers, so that
// they get a new connection.
func (p *Pool) replaced(c *Cluster) {
	p.mu.Lock()
	consumers, age := p.consumersOf(c), time.Duration(0)
	if len(consumers) > 0 {
		age = time.Since(p.opened[c].opened)
	}
	for _, consumer := range consumers {
		p.removeConsumer(consumer)
	}
	p.mu.Unlock()
	if age >= steady {
		p.wakeAll(consumers)
		return
	}
	time.AfterFunc(steady-age, func() { p.wakeAll(consumers) })
}

// consumersOf returns the consumers of a cluster, or nothing if the pool has closed it. The caller holds mu.
func (p *Pool) consumersOf(c *Cluster) []string {
	if e := p.opened[c]; e != nil {
		return slices.Collect(maps.Keys(e.consumers))
	}
	return nil
}

func (p *Pool) wakeAll(consumers []string) {
	if p.wake == nil {
		return
	}
	for _, consumer := range consumers {
		p.wake(consumer)
	}
}
