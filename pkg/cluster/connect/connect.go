// SPDX-License-Identifier: Apache-2.0

package connect

import (
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/target/connection"
	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
	"github.com/crossplane-contrib/provider-kyma/internal/target/mapper"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A Connection is a connection to one cluster. It is safe for concurrent use by any number of engines of one identity, and of bundles.
// A connection that does not verify its server, or has a Transport of its own, has a cluster.Cluster.Identity that no other one has.
type Connection struct {
	cluster.Cluster

	connection *connection.Cluster
}

// A ChangeFunc is called when another client has changed an object of a bundle: old is nil for a new object, and now is nil for a
// deleted one. The bundle is its ID, as Engine.ID returns it. Writes of the engine itself are not reported. The function is
// called by the goroutine of a watch and should return soon.
type ChangeFunc func(bundle string, key cluster.ObjectRef, old, now *cluster.ObjectState)

// An Option of a connection.
type Option func(*options)

type options struct {
	connection.Options

	identity manifest.Identity
}

// WithIdentity watches for engines of an identity, which is that of manifest.WithIdentity. Engines of different identities need
// different connections.
func WithIdentity(i manifest.Identity) Option {
	return func(o *options) { o.identity = i }
}

// WithOnChange calls a function when another client changes an object of a bundle, which is then to be reconciled.
func WithOnChange(f ChangeFunc) Option {
	return func(o *options) { o.Change = informer.ChangeFunc(f) }
}

// WithLogger logs failing watches at level 1. By default nothing is logged.
func WithLogger(l logr.Logger) Option {
	return func(o *options) { o.Log = logging.NewLogrLogger(l) }
}

// New connection with a REST config, whose authentication, TLS, proxy, impersonation, user agent, Transport and
// WrapTransport are used. Its rate limits and its timeout are not: the API server limits by itself, and a timeout would
// end watches. Nothing is sent before the connection is used. Errors name what is wrong with the config or with the identity.
func New(rc *rest.Config, o ...Option) (*Connection, error) {
	opts := options{
		Options:  connection.Options{Builtin: mapper.Builtin()},
		identity: manifest.Identity{FieldManager: manifest.DefaultFieldManager, ManagedBy: manifest.DefaultManagedBy},
	}
	for _, f := range o {
		f(&opts)
	}
	if err := opts.identity.Validate(); err != nil {
		return nil, err
	}
	c, err := connection.New(rc, manifest.Interpreter(manifest.WithIdentity(opts.identity)), opts.Options)
	if err != nil {
		return nil, err
	}
	return &Connection{Cluster: c, connection: c}, nil
}

// Close the connection: watches end, and requests fail from now on.
func (c *Connection) Close() { c.connection.Close() }
