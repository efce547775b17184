// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// Media types.
const (
	// JSON asks for whole objects, and Metadata for their metadata only.
	JSON     = "application/json"
	Metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

	metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	applyPatch   = "application/apply-patch+yaml"

	// JSONPatch and MergePatch are types of patches.
	JSONPatch  = "application/json-patch+json"
	MergePatch = "application/merge-patch+json"
)

// A Client sends requests to one cluster. It has no state.
type Client struct {
	// FieldManager of everything that the client writes.
	FieldManager string

	cluster cluster.Cluster
}

// New returns a client of a cluster that writes as a field manager.
func New(c cluster.Cluster, fieldManager string) *Client {
	return &Client{FieldManager: fieldManager, cluster: c}
}

// path of an object; with an empty name that of the collection.
func path(gv schema.GroupVersion, m cluster.Mapping, namespace, name string) string {
	p := "/apis/" + gv.Group + "/" + gv.Version
	if gv.Group == "" {
		p = "/api/" + gv.Version
	}
	if m.Namespaced && namespace != "" {
		p += "/namespaces/" + namespace
	}
	p += "/" + m.Resource
	if name != "" {
		p += "/" + name
	}
	return p
}

// body returns the body of an answer. Result.Raw alone would not read the reason of an error from the body. The error is a
// *notfound.Error for a 404 that does not name an object, as it is not the answer of an API server.
func (c *Client) body(r rest.Result) ([]byte, error) {
	if err := r.Error(); err != nil {
		if notfound.Foreign(err) {
			return nil, c.foreign()
		}
		return nil, err
	}
	return r.Raw()
}

// foreign returns the error for an answer that is not that of an API server.
func (c *Client) foreign() error {
	return &notfound.Error{Host: c.cluster.Config().Host}
}

// document returns what the cluster has at a path.
func (c *Client) document(ctx context.Context, path string) ([]byte, error) {
	return c.body(c.cluster.REST().Get().AbsPath(path).SetHeader("Accept", JSON).Do(ctx))
}

// Absent reports whether a request for an object, or for a collection if the name is empty, failed because the object or its
// kind does not exist. The kind may have been deleted with its CRD: the API server then answers as any web server does, so that
// Absent asks the discovery documents. It returns errors that mean anything else.
func (c *Client) Absent(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, name string, err error) (bool, error) {
	switch {
	case name != "" && notfound.IsObject(err, m.Resource, name):
		return true, nil
	case notfound.Is(err):
		// It names another object than the one in the request, as the answer of a gateway that does not know the cluster.
		return false, c.foreign()
	case !notfound.Foreign(err):
		return false, err
	}
	served, serr := notfound.Served(ctx, c.document, gvk)
	if serr != nil || !served {
		return serr == nil, serr
	}
	return false, err
}
