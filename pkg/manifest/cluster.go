// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// A Cluster is what the engine needs of the cluster that it works on.
//
//nolint:interfacebloat // It is the one seam to a cluster; its methods are used in one place each.
type Cluster interface {
	// REST sends requests to absolute paths. Errors are those of k8s.io/apimachinery/pkg/api/errors where the API
	// server answered. It has no rate limit on the client's side.
	REST() rest.Interface

	// Mapping of a kind. Kinds that are built in, and those learned, need no request. A kind that the cluster does not
	// have is a *NoKindError.
	Mapping(ctx context.Context, gvk schema.GroupVersionKind) (Mapping, error)

	// Learn the mapping of a kind whose definition is being installed.
	Learn(gvk schema.GroupVersionKind, m Mapping)

	// Watch tells what is known of the objects of all sets, without a request.
	Watch() Watch

	// Version of the cluster, for example v1.36.3.
	Version(ctx context.Context) (string, error)

	// APIVersions that the cluster serves, as group/version and group/version/Kind.
	APIVersions(ctx context.Context) ([]string, error)

	// Config to connect with, for charts that look things up in the cluster.
	Config() *rest.Config
}

// A Mapping says how objects of a kind are addressed.
type Mapping struct {
	// Resource is the plural name in the path.
	Resource string
	// Namespaced is false for kinds of the whole cluster.
	Namespaced bool
}

// A NoKindError says that the cluster does not serve a kind.
type NoKindError struct {
	GVK schema.GroupVersionKind
}

// Error names the kind.
func (e *NoKindError) Error() string {
	return fmt.Sprintf("the cluster has no kind %s in %s", e.GVK.Kind, e.GVK.GroupVersion())
}

// A Watch knows the objects that carry our label, from one watch for each kind.
type Watch interface {
	// Track makes sure that the kinds are watched, and waits until they have been listed once or the context ends. It
	// returns those that are not in sync, with the reason.
	Track(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error

	// Get what is known of an object. False means that it does not exist, provided that its kind is in sync.
	Get(k Key) (Summary, bool)

	// Put what was learned from an answer to a request of ours. The newest resource version wins.
	Put(k Key, s Summary)

	// Forget an object that an answer to a request of ours said is gone.
	Forget(k Key)
}

// A Key names an object, whatever version of its kind is used.
type Key struct {
	Group, Kind, Namespace, Name string
}

// String is the kind and the name as people write them: Deployment default/web.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Kind + " " + k.Name
	}
	return k.Kind + " " + k.Namespace + "/" + k.Name
}

// GroupKind of the object.
func (k Key) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: k.Group, Kind: k.Kind}
}
