// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// A crash is the first unexpected end of a server of a cluster. The first end of an API server is not a crash, see keepAPIServer.
type crash struct {
	cluster string
	once    sync.Once
	crashed chan struct{}
	err     error // written before crashed is closed
}

// watch records an error when a server ends unexpectedly.
func (c *crash) watch(p *process.Process) {
	go func() {
		<-p.Done()
		if err := p.Err(); err != nil {
			c.record(err)
		}
	}()
}

// record keeps the error of the first crash.
func (c *crash) record(err error) {
	c.once.Do(func() {
		c.err = errors.Wrapf(err, "cluster %q", c.cluster)
		close(c.crashed)
	})
}

// Crashed returns a channel that is closed when a server ends unexpectedly.
func (c *crash) Crashed() <-chan struct{} { return c.crashed }

// Err returns an error that names the server that ended unexpectedly, with the end of its log, or nil if there is none.
func (c *crash) Err() error {
	select {
	case <-c.crashed:
		return c.err
	default:
		return nil
	}
}

// unlessCrashed calls do with a context that a crash cancels. After a crash, it returns the error of the server.
func (c *crash) unlessCrashed(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-c.crashed:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := do(ctx)
	if crash := c.Err(); crash != nil {
		return crash
	}
	return err
}
