// SPDX-License-Identifier: Apache-2.0

package connect

import (
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/target/connection"
	"github.com/crossplane-contrib/provider-kyma/internal/target/mapper"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A Connection is a connection to one cluster. It is safe for concurrent use by any number of bundles and engines of one
// identity. If a connection does not verify its server, or has its own Transport, its cluster.Cluster.Identity is unique.
type Connection struct {
	cluster.Cluster

	connection *connection.Cluster
}

// A ChangeFunc is called when another client changes an object of a bundle. Old is nil for a new object, and now is nil
// for a deleted one. The bundle is the ID that Engine.ID returns. Writes of the engine itself are not reported. The
// function is called by the goroutine of a watch and must return quickly.
type ChangeFunc func(bundle string, key cluster.ObjectRef, old, now *cluster.ObjectState)

// An Option configures a connection.
type Option func(*options)

type options struct {
	connection.Options

	identity manifest.Identity
}

// WithIdentity sets the identity of the engines that use the connection, as manifest.WithIdentity does for an engine.
// Engines with different identities require different connections.
func WithIdentity(i manifest.Identity) Option {
	return func(o *options) { o.identity = i }
}

// WithOnChange sets a function that is called when another client changes an object of a bundle. The caller should then
// reconcile that bundle.
func WithOnChange(f ChangeFunc) Option {
	return func(o *options) {
		o.Change = func(_, bundle string, key cluster.ObjectRef, old, now *cluster.ObjectState) { f(bundle, key, old, now) }
	}
}

// WithLogger sets the logger of failing watches, which are logged at level 1. By default, nothing is logged.
func WithLogger(l logr.Logger) Option {
	return func(o *options) { o.Log = logging.NewLogrLogger(l) }
}

// New creates a connection from a REST config. It uses the authentication, TLS, proxy, impersonation, user agent, Transport and
// WrapTransport of the config. It ignores the rate limits, because the API server has its own, and the timeout, which would end
// watches. Connections to link-local addresses and to cloud metadata services are refused, unless the config has its own Dial
// function. New sends no requests. Errors describe what is wrong with the config or the identity.
func New(rc *rest.Config, o ...Option) (*Connection, error) {
	opts := options{
		Options: connection.Options{
			Builtin:   mapper.Builtin(),
			Transport: transport.Options{Dialer: netguard.New(netguard.Options{}).Dialer(netguard.Platform)},
		},
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

// KnowsUID reports whether UID would return this UID without a request, as of now.
func (c *Connection) KnowsUID(uid string) bool { return c.connection.KnowsUID(uid) }

// Close closes the connection: watches end, and later requests fail.
func (c *Connection) Close() { c.connection.Close() }
