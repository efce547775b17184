// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// A Cluster is everything that the engine requires of a cluster.
type Cluster interface {
	Access
	Mapper
	Versions

	// Cache returns the cache of the objects of all bundles.
	Cache() Cache
}

// A Delegate is a Cluster that sends requests as a different user than its connection, for example with impersonation. The
// engine uses the Delegate for the objects of a bundle, and its Owner for the inventory, so the other user doesn't need access
// to inventories.
type Delegate interface {
	Cluster

	// Owner returns the Cluster with the user of the connection.
	Owner() Cluster
}

// An Identified Cluster knows when a different cluster might respond. The engine then requests the UID before it sends a change.
type Identified interface {
	Cluster

	// KnowsUID reports whether UID would return this UID without a request, as of now. It must be quick, and must not send requests.
	KnowsUID(uid string) bool
}

// Access sends requests to a cluster.
type Access interface {
	// Identity returns the identity of the cluster as far as the connection proves it. Connections with equal identities
	// lead to the same cluster, so what an engine knows about a bundle through one of them holds for the others. A
	// connection that proves nothing has a unique identity. The identity of a Cluster never changes.
	Identity() string

	// UID returns the UID of the namespace kube-system, which distinguishes clusters even if they have the same address. It
	// sends at most one request per hour, and one after each of these events: a network connection was opened or closed, an outage
	// ended, or a kind was listed again. The result is empty if the cluster has no such namespace, or if the credentials don't allow
	// reading it. The error is not nil if a different cluster has appeared behind the address: the Cluster cannot be used any longer.
	UID(ctx context.Context) (string, error)

	// ConfirmUID is like UID, but always sends a request.
	ConfirmUID(ctx context.Context) (string, error)

	// REST returns a client for requests to absolute paths, without a rate limit. Errors in responses of the API server are those
	// of k8s.io/apimachinery/pkg/api/errors.
	REST() rest.Interface

	// Config returns the connection configuration, for charts that look up objects in the cluster.
	Config() *rest.Config
}

// A Mapper knows how to address objects of the kinds that a cluster serves.
type Mapper interface {
	// Mapping returns how to address objects of a kind. Built-in and learned kinds require no request. If the cluster does not
	// serve the kind, the error is a *NoKindError.
	Mapping(ctx context.Context, gvk schema.GroupVersionKind) (Mapping, error)

	// AddMapping stores the mapping of a kind whose CRD is being installed.
	AddMapping(gvk schema.GroupVersionKind, m Mapping)
}

// Versions provides the versions that charts can query.
type Versions interface {
	// Version returns the version of the cluster, for example v1.36.3.
	Version(ctx context.Context) (string, error)

	// APIVersions returns the API versions and kinds that the cluster serves, as group/version and group/version/Kind.
	APIVersions(ctx context.Context) ([]string, error)
}

// A Mapping describes how to address objects of a kind.
type Mapping struct {
	// Resource is the plural name in the path.
	Resource string
	// Namespaced is false for cluster-scoped kinds.
	Namespaced bool
}

// A NoKindError reports a kind that the cluster does not serve.
type NoKindError struct {
	GVK schema.GroupVersionKind
}

// Error returns a message that names the kind and its version.
func (e *NoKindError) Error() string {
	return fmt.Sprintf("the cluster does not serve kind %s in %s", e.GVK.Kind, e.GVK.GroupVersion())
}

// A TooManyError reports that a cache does not watch a kind, because the cluster contains too many objects of this kind, or
// because they are too large.
type TooManyError struct {
	// Kind is the kind, and Selector the label selector of the objects.
	Kind, Selector string
	// Objects is the maximum number of objects of a kind, and Bytes is the maximum size of the data that the cache keeps for
	// them. One of these limits was exceeded, or the limit for all kinds together.
	Objects int
	Bytes   int64
	// Shared is true if Bytes is instead the limit for all clusters together, and this cluster uses more than most of them.
	Shared bool
}

// Error returns a message that contains the kind and the limits, and explains what to do.
func (e *TooManyError) Error() string {
	if e.Shared {
		return fmt.Sprintf("objects of kind %s with label %s are not watched, because the objects of all clusters are too large (the maximum is "+
			"%d MiB), and this cluster has many; they are read one by one: delete the ones that do not belong to a module, or increase the "+
			"memory limit of the provider", e.Kind, e.Selector, e.Bytes>>20)
	}
	return fmt.Sprintf("objects of kind %s with label %s are not watched, because there are too many or they are too "+
		"large (the maximum is %d objects or %d MiB); they are read one by one: delete the ones that do not "+
		"belong to a module", e.Kind, e.Selector, e.Objects, e.Bytes>>20)
}

// A ListingError reports kinds whose first list is in progress, so nothing is known about their objects yet. Only a cache that does not
// wait returns it. The methods of an Engine return it before they have changed anything; call them again after Notify.
type ListingError struct {
	// Kinds contains the names of the kinds, sorted.
	Kinds []string
	// Notify calls a function, in a separate goroutine, as soon as none of the kinds is being listed anymore.
	Notify func(f func())
}

// Error returns a message that names the kinds.
func (e *ListingError) Error() string {
	return "the objects of kind " + strings.Join(e.Kinds, ", ") + " are being listed"
}

// A Cache holds the state of the objects that have the label of the engine. It watches each tracked kind once.
type Cache interface { //nolint:interfacebloat // What the engine asks of a watch.
	// Interpreter returns the Interpreter that the cache was created with. The engine requires a cache with the
	// manifest.Interpreter for its own identity.
	Interpreter() Interpreter

	// Track starts watching the kinds, and waits until each has been listed once or the context ends. It returns the
	// kinds that are not in sync, with the reason. A cache whose caller can be called back may return a *ListingError instead of
	// waiting.
	Track(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error

	// Examine makes each change of the objects of kinds a change of their state, because readiness rules may read any field. Call it
	// before you evaluate rules for objects of these kinds.
	Examine(gks []schema.GroupKind)

	// Get returns the state of an object of a kind that is in sync. False means that the object does not exist, or that its
	// state is unknown because the kind is not in sync. Get never returns a state that is known to be outdated.
	Get(r ObjectRef) (ObjectState, bool)

	// Kinds returns the kinds that are in sync, in the watched versions, and whether the cache contains an object of an ApplySet. It
	// sends no request, and takes no longer for more objects.
	Kinds(set string) map[schema.GroupVersionKind]bool

	// Put stores a state from a response of the API server. The newest resource version wins.
	Put(r ObjectRef, s ObjectState)

	// Forget removes an object that is gone according to the API server.
	Forget(r ObjectRef)
}
