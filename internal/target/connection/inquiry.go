// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// restTime is the minimum time between two inquiries while the cluster is Connected. Otherwise, a server that closes its network
// connection after each response would be asked again and again.
const restTime = 5 * time.Second

// An inquiry requests in a goroutine what callers want to know that must not wait. The goroutine only runs while there is something to
// request, so a connected idle cluster costs nothing.
type inquiry struct {
	// ask sends the requests. done is called after each call of ask.
	ask  func(ctx context.Context) error
	done func()

	// root is canceled by stop, which ends the goroutine.
	root    context.Context //nolint:containedctx // It is the lifetime of the connection.
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu sync.Mutex
	// active is true while the goroutine runs, and outdated if its result must not be used. mu protects them and all fields below.
	active, outdated bool
	closed           bool
	// ended is the time of the last result, or zero if there is none that can be used. err is the error of that result. unread is true until
	// a caller got it: a caller that is queued when the result is known can need longer than restTime.
	ended  time.Time
	err    error
	unread bool
}

func newInquiry(ask func(context.Context) error, done func()) *inquiry {
	q := &inquiry{ask: ask, done: done}
	q.root, q.cancel = context.WithCancel(context.Background())
	return q
}

// result returns the error of the last result, and true, if it is recent or was not returned yet. Otherwise, it starts the goroutine, unless it is running, and
// returns false.
func (q *inquiry) result() (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return true, transport.ErrClosed
	case q.active:
		return false, nil
	case !q.ended.IsZero() && (q.unread || time.Since(q.ended) < restTime):
		q.unread = false
		return true, q.err
	}
	q.active = true
	q.running.Go(q.run)
	return false, nil
}

// outdate discards the last result, and the one of the goroutine if it is running.
func (q *inquiry) outdate() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended, q.unread, q.outdated = time.Time{}, false, q.active
}

func (q *inquiry) run() {
	for again := true; again; {
		err := errors.New("the response of the cluster is not valid")
		panics.Log("the response of a cluster to a request for its UID", func() { err = q.ask(q.root) })
		q.mu.Lock()
		again = q.outdated && !q.closed
		q.outdated, q.active, q.ended, q.err, q.unread = false, again, time.Now(), transport.Kept(err), !again
		q.mu.Unlock()
	}
	q.done()
}

// stop ends the goroutine, and waits for it.
func (q *inquiry) stop() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.cancel()
	q.running.Wait()
}

// LastUID returns the last result of UID, and true. It sends no requests and doesn't wait: if UID would send a request, it returns
// false, a goroutine calls UID, and Options.Changed is called afterwards. The goroutine also waits for the version of the cluster, which
// LastVersion returns from then on, unless the cluster doesn't reveal it. For some seconds after that, LastUID returns the same result,
// even if UID would send another request. After the connection was closed, the error is transport.ErrClosed.
func (c *Cluster) LastUID() (string, bool, error) {
	if e := c.uid.replaced.Load(); e != nil {
		return "", true, e
	}
	last := c.uid.last.Load()
	if last.isValid(c.epoch()) {
		return last.uid, true, nil
	}
	known, err := c.inquiry.result()
	last = c.uid.last.Load()
	if !known || err != nil || last == nil {
		return "", known, err
	}
	return last.uid, true, nil
}

// inquire requests the version, unless it is known, and the UID, each with the timeout of a probe, because a cluster that is quick enough
// for probes is used. If a probe is in progress, it waits for its version, because a request at the same time can open another network
// connection.
func (c *Cluster) inquire(ctx context.Context) error {
	within := func(ask func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, probeTime)
		defer cancel()
		return ask(ctx)
	}
	// A cluster without a version is used like any other.
	_ = within(func(ctx context.Context) error {
		_, err := c.version.get(ctx, math.MaxInt64, c.requestVersion)
		return err
	})
	return within(func(ctx context.Context) error {
		_, err := c.UID(ctx)
		return err
	})
}
