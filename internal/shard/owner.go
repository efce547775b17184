// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// duration is the time after which other members regard a member as dead that has not renewed its Lease.
	duration = 8 * time.Second
	// safe is the time after its last renewal after which a member writes nothing. The difference is for requests that were sent just
	// before.
	safe = 5 * time.Second
)

// ErrNotHeld is the cause of the end of work whose shard this replica no longer holds.
var ErrNotHeld = errors.New("this replica no longer holds the shard of the object")

// errForeign is the error of work that must not write, because it belongs to no shard.
var errForeign = errors.New("this replica does not hold the shard of the object")

// An Owner knows the shards that this replica holds, and the work in them. It is safe for concurrent use.
type Owner struct {
	now func() time.Time

	mu sync.Mutex
	// renewed is the time of the request that last renewed the Lease of the member. It is zero before.
	renewed time.Time
	held    map[int]*tenure
	// lapse suspends the work when the last renewal is too old.
	lapse  *time.Timer
	gained []func(shards []int)
	lost   []func(shards []int)
}

// A tenure is the time in which a replica works on a shard.
type tenure struct {
	ctx    context.Context //nolint:containedctx // It ends all work of the tenure.
	end    context.CancelCauseFunc
	work   sync.WaitGroup
	giving bool
}

// NewOwner returns an Owner without shards.
func NewOwner() *Owner { return &Owner{now: time.Now, held: map[int]*tenure{}} }

// OnGain registers a function that is called with the shards that the replica has gained, and now with those that it holds. It is also
// called if work in a shard was cancelled because the Lease could not be renewed in time. The function must not block.
func (o *Owner) OnGain(f func(shards []int)) {
	o.mu.Lock()
	o.gained = append(o.gained, f)
	held := slices.Sorted(maps.Keys(o.held))
	o.mu.Unlock()
	if len(held) > 0 {
		f(held)
	}
}

// OnLoss registers a function that is called after all work in some shards has ended, and before another replica can take them.
func (o *Owner) OnLoss(f func(shards []int)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lost = append(o.lost, f)
}

// Holds reports whether the replica holds a shard.
func (o *Owner) Holds(shard int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.held[shard] != nil
}

// Held returns the shards that the replica holds, sorted.
func (o *Owner) Held() []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.held))
}

type contextKey struct{}

// work is the value of a context that Enter or Without returned.
type work struct {
	shard  int
	tenure *tenure
	still  func() bool
}

// Enter begins work in a shard. It returns a context that ends with an ErrNotHeld when the replica loses the shard, and a function that
// the caller must call at the end of the work. It returns false if the replica does not hold the shard or gives it away. still reports
// whether the work still belongs to the shard; Check calls it.
func (o *Owner) Enter(ctx context.Context, shard int, still func() bool) (context.Context, func(), bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.held[shard]
	if t == nil || t.giving || o.isStale() {
		return nil, nil, false
	}
	t.work.Add(1)
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, contextKey{}, work{shard: shard, tenure: t, still: still}))
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
		t.work.Done()
	}, true
}

// Without returns a context for work that must not write anything.
func Without(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, work{})
}

// FromContext returns the shard of the context of work, and whether there is one.
func FromContext(ctx context.Context) (int, bool) {
	w, ok := ctx.Value(contextKey{}).(work)
	return w.shard, ok && w.tenure != nil
}

// Check returns an error if the work of a context must not write any longer: another replica may hold its shard. It returns an error for
// a context of Without too, and none for a context that is not one of work.
func (o *Owner) Check(ctx context.Context) error {
	w, ok := ctx.Value(contextKey{}).(work)
	if !ok {
		return nil
	}
	if w.tenure == nil {
		return errForeign
	}
	o.mu.Lock()
	valid := o.held[w.shard] == w.tenure && !o.isStale()
	o.mu.Unlock()
	if !valid || !w.still() {
		return ErrNotHeld
	}
	return nil
}

// CheckWork is like Check, but returns an error for a context that is not one of work.
func (o *Owner) CheckWork(ctx context.Context) error {
	if _, ok := ctx.Value(contextKey{}).(work); !ok {
		return errForeign
	}
	return o.Check(ctx)
}

// isStale reports whether another replica may have taken the shards. The monotonic clock stops while a machine is suspended, and the
// wall clock can be set back. The caller holds the lock.
func (o *Owner) isStale() bool {
	now := o.now()
	return max(now.Sub(o.renewed), now.Round(0).Sub(o.renewed.Round(0))) >= safe
}

// renew records a successful renewal of the Lease by a request that began at a time. If the previous renewal was too old, all work was
// suspended, and begins again.
func (o *Owner) renew(begun time.Time) {
	o.mu.Lock()
	var again []int
	if o.isStale() {
		again = o.suspend()
	}
	o.renewed = begun
	if o.lapse != nil {
		o.lapse.Stop()
	}
	o.lapse = time.AfterFunc(safe-o.now().Sub(begun), func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.isStale() {
			o.suspend()
		}
	})
	o.mu.Unlock()
	o.notifyGain(again)
}

// suspend cancels all work, and starts new tenures, which remain unusable until a renewal. The caller holds the lock.
func (o *Owner) suspend() []int {
	var out []int
	for s, t := range o.held {
		if t.giving {
			t.end(ErrNotHeld)
			continue
		}
		out = append(out, s)
		t.end(ErrNotHeld)
		o.held[s] = newTenure(t)
	}
	slices.Sort(out)
	return out
}

// newTenure returns a tenure. If it replaces another one, the work of both must end before the shard is released.
func newTenure(before *tenure) *tenure {
	t := &tenure{}
	t.ctx, t.end = context.WithCancelCause(context.Background())
	if before != nil {
		t.work.Go(before.work.Wait)
	}
	return t
}

// gain begins tenures of shards.
func (o *Owner) gain(shards ...int) {
	var out []int
	o.mu.Lock()
	for _, s := range shards {
		if o.held[s] == nil {
			o.held[s] = newTenure(nil)
			out = append(out, s)
		}
	}
	o.mu.Unlock()
	o.notifyGain(out)
}

func (o *Owner) notifyGain(shards []int) {
	if len(shards) == 0 {
		return
	}
	o.mu.Lock()
	listeners := slices.Clone(o.gained)
	o.mu.Unlock()
	for _, f := range listeners {
		f(shards)
	}
}

// give cancels the work in a shard, which can still save its state, and returns a channel that is closed when all work has ended. It
// returns nil if the shard is not held.
func (o *Owner) give(shard int) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.held[shard]
	if t == nil {
		return nil
	}
	t.giving = true
	t.end(ErrNotHeld)
	done := make(chan struct{})
	go func() {
		t.work.Wait()
		close(done)
	}()
	return done
}

// lose ends the tenures of shards immediately. Their work can't write any longer.
func (o *Owner) lose(shards ...int) {
	var out []int
	o.mu.Lock()
	for _, s := range shards {
		if t := o.held[s]; t != nil {
			delete(o.held, s)
			t.end(ErrNotHeld)
			out = append(out, s)
		}
	}
	listeners := slices.Clone(o.lost)
	o.mu.Unlock()
	if len(out) == 0 {
		return
	}
	for _, f := range listeners {
		f(out)
	}
}
