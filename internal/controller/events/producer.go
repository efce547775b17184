// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Producer returns a runnable that does the same as r. The queue stops after it.
func (q *Queue) Producer(r manager.Runnable) manager.Runnable {
	return &producer{Runnable: r, queue: q}
}

type producer struct {
	manager.Runnable

	queue *Queue
}

// Start runs the runnable.
func (p *producer) Start(ctx context.Context) error {
	p.queue.count(1)
	defer p.queue.count(-1)
	return p.Runnable.Start(ctx) //nolint:wrapcheck // It is the error of the runnable.
}

// NeedLeaderElection returns what the runnable returns.
func (p *producer) NeedLeaderElection() bool {
	l, ok := p.Runnable.(manager.LeaderElectionRunnable)
	return !ok || l.NeedLeaderElection()
}

// count changes the number of running producers.
func (q *Queue) count(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.producers += n
	q.ended.Broadcast()
}

// awaitProducers waits until no producer is running.
func (q *Queue) awaitProducers() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.producers > 0 {
		q.ended.Wait()
	}
}
