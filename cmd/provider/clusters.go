// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/sharding"
	"github.com/crossplane-contrib/provider-kyma/internal/target"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// clusters gives controllers access to target clusters.
type clusters struct {
	resolver *target.Resolver
	pool     *target.Pool
	attempts *config.Attempts
	shards   *sharding.Shards
	// changes counts the changes of credentials.
	changes atomic.Uint64
}

// Get returns the target cluster of a config. consumer identifies the object that uses the connection. The context must be that of work
// in the shard of the config.
func (c *clusters) Get(ctx context.Context, consumer string, cfg *config.Config) (cluster.Cluster, error) {
	if err := c.shards.CheckConfig(ctx, cfg.Kind, cfg.Namespace, cfg.Name); err != nil {
		return nil, &requeue.QuietError{Err: err}
	}
	for {
		before := c.changes.Load()
		connection, err := c.attempt(ctx, consumer, cfg)
		// If credentials have changed meanwhile, Rotate may have missed this attempt, which may have read the previous ones.
		if c.changes.Load() == before || ctx.Err() != nil {
			return connection, err
		}
	}
}

// attempt connects with a config, and records the result.
func (c *clusters) attempt(ctx context.Context, consumer string, cfg *config.Config) (cluster.Cluster, error) {
	connection, err := c.connect(ctx, consumer, cfg)
	if err != nil {
		if read := (*target.ReadError)(nil); !errors.As(err, &read) && ctx.Err() == nil {
			c.attempts.Failed(consumer, cfg, err)
		}
		return nil, err
	}
	c.attempts.Connected(consumer, cfg, connection)
	return connection, nil
}

// Changed reports that credentials of some config have changed. An attempt to connect that began before is repeated.
func (c *clusters) Changed() { c.changes.Add(1) }

// Rotate uses the current credentials of a config for the connection of its users. It returns the users that have to call Get again, and
// whether the others can use their connection now.
func (c *clusters) Rotate(ctx context.Context, cfg *config.Config, users []string) (left []string, connected bool, err error) {
	used, failed := c.attempts.Latest(cfg)
	if !used {
		return nil, false, nil
	}
	creds, err := c.resolver.Resolve(ctx, cfg.Namespace, cfg.Spec)
	if read := (*target.ReadError)(nil); errors.As(err, &read) || ctx.Err() != nil {
		return nil, false, err
	}
	if err != nil {
		return users, false, nil //nolint:nilerr // A pass over each of them reports the error.
	}
	left, connected = c.pool.Rotate(users, creds) //nolint:contextcheck // The probes of the connection outlive the call.
	if failed {
		left = users
	}
	return left, connected, nil
}

func (c *clusters) connect(ctx context.Context, consumer string, cfg *config.Config) (*target.Cluster, error) {
	creds, err := c.resolver.Resolve(ctx, cfg.Namespace, cfg.Spec)
	if err != nil {
		return nil, err
	}
	return c.pool.Get(consumer, creds) //nolint:contextcheck // The connection outlives the call.
}

// Last returns the cluster that the latest call of Get returned for a consumer, and whether there is one.
func (c *clusters) Last(consumer string) (cluster.Cluster, bool) {
	cluster, ok := c.pool.Last(consumer)
	if !ok {
		return nil, false
	}
	return cluster, true
}

// Misplaced records whether the objects of a consumer are in a different cluster than the one that its connection leads to.
func (c *clusters) Misplaced(consumer string, yes bool) { c.pool.Misplaced(consumer, yes) }

// Forget releases the connection of a consumer.
func (c *clusters) Forget(consumer string) {
	c.attempts.Forget(consumer)
	c.pool.Forget(consumer)
}

// changes forwards changes in target clusters to a controller. The pool needs it before the controller exists.
type changes struct {
	to atomic.Pointer[requeue.Requeuer]
}

// notify reports a change of an object to the controller, by the identity of the cluster and the ID of the ApplySet that contains the
// object. Other bundles may use a CRD, too.
func (c *changes) notify(identity, id string, key cluster.ObjectRef, _, _ *cluster.ObjectState) {
	r := c.to.Load()
	if r == nil {
		return
	}
	r.Changed(identity, id)
	if key.GroupKind() == crdKind {
		r.ChangedCRD(identity)
	}
}

var crdKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"} //nolint:gochecknoglobals // Constant.

// wake reports to the controller that the cluster of a consumer can be used again.
func (c *changes) wake(consumer string) {
	if r := c.to.Load(); r != nil {
		r.Wake(consumer)
	}
}
