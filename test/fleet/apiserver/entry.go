// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
)

// An entry is a cluster of a server.
type entry struct {
	counters

	name  string
	total *counters
	pki   *pki
	state atomic.Pointer[state]
	// fault is nil for a cluster that works.
	fault atomic.Pointer[fault]
	// replacement is that of the last fault of mode Replaced, or nil.
	replacement atomic.Pointer[replacement]
}

// A state is what a cluster has behind its address: objects in memory, or a view of a real cluster. It is replaced as a whole.
type state struct {
	cluster *cluster.Cluster
	view    *view
	token   string
}

// A Call is a kind of request: a verb such as apply, and a resource with its group, such as deployments.apps.
type Call struct{ Verb, Resource string }

// A Count is a number of requests and connections.
type Count struct {
	// Requests has the number of requests by call. The resource of a discovery document is its path.
	Requests map[Call]int
	// Codes has the number of responses by status code.
	Codes map[int]int
	// Writes is the number of requests that changed something, or tried to; dry runs do not count.
	Writes int
	// OpenWatches and OpenConnections are current; Connections counts all that were opened.
	OpenWatches, OpenConnections, Connections int
}

// counters count requests and connections. The zero value is ready for use.
type counters struct {
	mu    sync.Mutex
	count Count
	conns map[*conn]struct{}
}

// change changes the counters under their lock.
func (c *counters) change(f func(*Count)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count.Requests == nil {
		c.count.Requests, c.count.Codes = map[Call]int{}, map[int]int{}
	}
	f(&c.count)
}

func (c *counters) snapshot() Count {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.count
	out.Requests, out.Codes = maps.Clone(c.count.Requests), maps.Clone(c.count.Codes)
	return out
}

// reset sets all counters but those of what is open to 0.
func (c *counters) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count = Count{
		Requests: map[Call]int{}, Codes: map[int]int{}, OpenWatches: c.count.OpenWatches, OpenConnections: c.count.OpenConnections,
	}
}

// add changes the counters of the cluster and of the server.
func (e *entry) add(f func(*Count)) {
	e.change(f)
	e.total.change(f)
}

// opened records a connection.
func (e *entry) opened(c *conn) {
	e.add(func(n *Count) { n.Connections++; n.OpenConnections++ })
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conns == nil {
		e.conns = map[*conn]struct{}{}
	}
	e.conns[c] = struct{}{}
}

// closed records the end of a connection.
func (e *entry) closed(c *conn) {
	e.mu.Lock()
	delete(e.conns, c)
	if len(e.conns) == 0 {
		e.conns = nil
	}
	e.mu.Unlock()
	e.add(func(n *Count) { n.OpenConnections-- })
}

// closeConns closes all connections.
func (e *entry) closeConns() {
	if e == nil {
		return
	}
	e.mu.Lock()
	all := maps.Clone(e.conns)
	e.mu.Unlock()
	for c := range all {
		_ = c.abort()
	}
}
