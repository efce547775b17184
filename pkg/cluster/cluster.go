// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// A Cluster is what the engine needs of a cluster.
//
//nolint:interfacebloat // The one interface to a cluster: each method is used in one place.
type Cluster interface {
	// Identity of the cluster, as far as the connection proves it: those of equal identities lead to the same cluster, so that what
	// an engine knows of a bundle through one of them holds for the others. A connection that proves nothing has an identity of
	// its own. The identity of one Cluster never changes.
	Identity() string

	// REST returns a client for requests to absolute paths, without a rate limit. Where the API server answered, errors are
	// those of k8s.io/apimachinery/pkg/api/errors.
	REST() rest.Interface

	// Mapping returns how objects of a kind are addressed. Built-in and learned kinds need no request. The error is a
	// *NoKindError where the cluster does not serve the kind.
	Mapping(ctx context.Context, gvk schema.GroupVersionKind) (Mapping, error)

	// Learn the mapping of a kind whose CRD is being installed.
	Learn(gvk schema.GroupVersionKind, m Mapping)

	// Cache returns the cache of the objects of all bundles.
	Cache() Cache

	// Version returns the version of the cluster, for example v1.36.3.
	Version(ctx context.Context) (string, error)

	// APIVersions returns what the cluster serves, as group/version and group/version/Kind.
	APIVersions(ctx context.Context) ([]string, error)

	// Config returns the configuration to connect with, for charts that look up objects in the cluster.
	Config() *rest.Config
}

// A Mapping says how objects of a kind are addressed.
type Mapping struct {
	// Resource is the plural name in the path.
	Resource string
	// Namespaced is false for kinds of the whole cluster.
	Namespaced bool
}

// A NoKindError is returned for a kind that the cluster does not serve.
type NoKindError struct {
	GVK schema.GroupVersionKind
}

// Error returns a message that names the kind and its version.
func (e *NoKindError) Error() string {
	return fmt.Sprintf("the cluster has no kind %s in %s", e.GVK.Kind, e.GVK.GroupVersion())
}

// A Cache holds the state of the objects that the engine has labelled, from one watch for each kind.
type Cache interface {
	// Interpreter returns what the cache was made with. The engine works only on a cache that has manifest.Interpreter of its
	// identity.
	Interpreter() Interpreter

	// Track starts to watch the kinds, and waits until each has been listed once or the context ends. It returns the kinds
	// that are not in sync, with the reason.
	Track(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error

	// Get returns the state of an object. False means that the object does not exist, provided that its kind is in sync.
	Get(r ObjectRef) (ObjectState, bool)

	// Put stores a state that the API server returned for a request. The newest resource version wins.
	Put(r ObjectRef, s ObjectState)

	// Forget removes an object that the API server says is gone.
	Forget(r ObjectRef)
}
