// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"container/list"
	"sync"
	"time"
)

// validity is how long a grant is valid. After that, the server is asked again.
const validity = time.Hour

// A Grant states that a caller is allowed to have some content.
type Grant struct {
	// Caller identifies a server and credentials for it.
	Caller string
	// Content identifies the content and its location.
	Content string
}

// grants records what servers have allowed. The oldest grants are dropped first. If a server rejects the credentials of a
// caller, it might have withdrawn any of its permissions, so all grants of this caller are dropped.
type grants struct {
	now  func() time.Time
	most int

	// mu guards the fields below.
	mu       sync.Mutex
	order    *list.List // *entry, the newest first.
	byCaller map[string]map[string]*list.Element
}

type entry struct {
	Grant

	until time.Time
}

func newGrants(most int, now func() time.Time) *grants {
	return &grants{now: now, most: most, order: list.New(), byCaller: map[string]map[string]*list.Element{}}
}

// has reports whether a grant is valid.
func (g *grants) has(grant Grant) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	e, ok := g.byCaller[grant.Caller][grant.Content]
	if ok && !g.now().Before(e.Value.(*entry).until) { //nolint:forcetypeassert // Only entry is put in.
		g.remove(e)
		return false
	}
	return ok
}

// add adds a grant, or renews it.
func (g *grants) add(grant Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e, ok := g.byCaller[grant.Caller][grant.Content]; ok {
		g.remove(e)
	}
	if g.byCaller[grant.Caller] == nil {
		g.byCaller[grant.Caller] = map[string]*list.Element{}
	}
	g.byCaller[grant.Caller][grant.Content] = g.order.PushFront(&entry{Grant: grant, until: g.now().Add(validity)})
	for g.order.Len() > g.most {
		g.remove(g.order.Back())
	}
}

// drop drops all grants of a caller.
func (g *grants) drop(caller string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range g.byCaller[caller] {
		g.remove(e)
	}
}

// remove removes a grant. The caller holds mu.
func (g *grants) remove(e *list.Element) {
	v := g.order.Remove(e).(*entry) //nolint:forcetypeassert // Only entry is put in.
	delete(g.byCaller[v.Caller], v.Content)
	if len(g.byCaller[v.Caller]) == 0 {
		delete(g.byCaller, v.Caller)
	}
}
