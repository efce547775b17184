// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"sync"
	"time"
)

// pollInterval is the pause between two passes of the simulated node, and between two checks of a wait.
const pollInterval = 200 * time.Millisecond

// A node simulates a cluster with nodes for packages: it runs the Deployments of providers, and the functions.
type node struct {
	pods      pods
	functions endpoints
	cancel    context.CancelFunc
	stopped   sync.WaitGroup

	// mu guards err, which is the error of the last pass.
	mu  sync.Mutex
	err error
}

// startNode starts a node at a host. It runs until stop.
func startNode(ctx context.Context, s host) *node {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	n := &node{pods: pods{running: map[string]*pod{}}, functions: endpoints{}, cancel: cancel}
	n.stopped.Go(func() { n.run(ctx, s) })
	return n
}

func (n *node) run(ctx context.Context, s host) {
	for {
		err := n.pods.sync(ctx, s)
		if e := n.functions.sync(ctx, s); err == nil {
			err = e
		}
		if ctx.Err() != nil {
			return
		}
		n.mu.Lock()
		n.err = err
		n.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollInterval):
		}
	}
}

// lastError returns the error of the last pass, or nil if the node was not started.
func (n *node) lastError() error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err
}

// stop stops the node and all its processes. It can be called on nil.
func (n *node) stop() {
	if n == nil {
		return
	}
	n.cancel()
	n.stopped.Wait()
	n.pods.stop()
	n.functions.stop()
}
