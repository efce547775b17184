// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"container/list"
	"sync"
	"time"
)

// validity is how long a proof is valid. After that, the server is asked again.
const validity = time.Hour

// A Proof states that a caller is allowed to have some content.
type Proof struct {
	// Caller identifies a server and credentials for it.
	Caller string
	// Content identifies the content and its location.
	Content string
}

// proofs records what servers have allowed. The oldest proofs are dropped first. If a server rejects the credentials of a
// caller, it might have withdrawn any of its permissions, so all proofs of this caller are dropped.
type proofs struct {
	now  func() time.Time
	most int

	// mu guards the fields below.
	mu       sync.Mutex
	order    *list.List // *proven, the newest first.
	byCaller map[string]map[string]*list.Element
}

type proven struct {
	Proof

	until time.Time
}

func newProofs(most int, now func() time.Time) *proofs {
	return &proofs{now: now, most: most, order: list.New(), byCaller: map[string]map[string]*list.Element{}}
}

// has reports whether a proof is valid.
func (p *proofs) has(proof Proof) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.byCaller[proof.Caller][proof.Content]
	if ok && !p.now().Before(e.Value.(*proven).until) { //nolint:forcetypeassert // Only proven is put in.
		p.remove(e)
		return false
	}
	return ok
}

// add adds a proof, or renews it.
func (p *proofs) add(proof Proof) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.byCaller[proof.Caller][proof.Content]; ok {
		p.remove(e)
	}
	if p.byCaller[proof.Caller] == nil {
		p.byCaller[proof.Caller] = map[string]*list.Element{}
	}
	p.byCaller[proof.Caller][proof.Content] = p.order.PushFront(&proven{Proof: proof, until: p.now().Add(validity)})
	for p.order.Len() > p.most {
		p.remove(p.order.Back())
	}
}

// drop drops all proofs of a caller.
func (p *proofs) drop(caller string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.byCaller[caller] {
		p.remove(e)
	}
}

// remove removes a proof. The caller holds mu.
func (p *proofs) remove(e *list.Element) {
	v := p.order.Remove(e).(*proven) //nolint:forcetypeassert // Only proven is put in.
	delete(p.byCaller[v.Caller], v.Content)
	if len(p.byCaller[v.Caller]) == 0 {
		delete(p.byCaller, v.Caller)
	}
}
