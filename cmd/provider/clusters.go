// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync/atomic"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/target"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// clusters are the target clusters as the controllers see them.
type clusters struct {
	resolver *target.Resolver
	pool     *target.Pool
}

// Get the cluster of a config.
func (c *clusters) Get(ctx context.Context, user string, cfg *config.Config) (cluster.Cluster, error) {
	creds, err := c.resolver.Resolve(ctx, cfg.Namespace, cfg.Spec)
	if err != nil {
		return nil, err
	}
	return c.pool.Get(user, creds) //nolint:contextcheck // The connection outlives the call.
}

// Last is the cluster that a user got last.
func (c *clusters) Last(user string) (cluster.Cluster, bool) {
	cluster, ok := c.pool.Last(user)
	if !ok {
		return nil, false
	}
	return cluster, true
}

// Forget a user.
func (c *clusters) Forget(user string) { c.pool.Forget(user) }

// changes passes on which set has changed in a cluster. The pool needs it before the controller exists that listens.
type changes struct {
	to atomic.Pointer[func(id string)]
}

func (c *changes) tell(id string, _ cluster.ObjectRef, _, _ *cluster.ObjectState) {
	if f := c.to.Load(); f != nil {
		(*f)(id)
	}
}
