// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/sendcheck"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// These are the media types of requests and responses.
const (
	// JSON requests complete objects. Metadata requests only their metadata.
	JSON     = "application/json"
	Metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

	metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	applyPatch   = "application/apply-patch+yaml"

	// JSONPatch and MergePatch are patch types.
	JSONPatch  = "application/json-patch+json"
	MergePatch = "application/merge-patch+json"
)

// A Client sends requests to one cluster for a short time: it remembers its writes, and which kinds the cluster serves in another version.
type Client struct {
	// FieldManager is the field manager of everything that the client writes.
	FieldManager string

	// Guard is called before each request that changes the cluster, and again immediately before the request is sent if the transport of
	// the cluster supports sendcheck. If it returns an error, the request is not sent. It can be nil.
	Guard func(ctx context.Context) error
	// CheckCluster is called after Guard. If it returns an error, the request is not sent. The function that it returns reports whether
	// the result is still valid. It is called immediately before the request is sent, like Guard, and CheckCluster is called again if it
	// returns false. CheckCluster can be nil.
	CheckCluster func(ctx context.Context) (valid func() bool, err error)

	cluster Cluster
	written writes
	moves   moves
}

// A Cluster is the part of cluster.Cluster that a Client uses.
type Cluster interface {
	cluster.Access
	cluster.Mapper

	Cache() cluster.Cache
}

// New returns a client of a cluster that writes with the given field manager.
func New(c Cluster, fieldManager string) *Client {
	return &Client{FieldManager: fieldManager, cluster: c}
}

// Written returns the objects that the client wrote, in the order of the responses. It does not contain namespaces that the
// client created because they were missing, or writes whose response was lost.
func (c *Client) Written() []Written { return c.written.list() }

// path returns the URL path of an object, or the path of the collection if the name is empty.
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

// mostChecks is the maximum number of calls of CheckCluster for a request.
const mostChecks = 3

// An InterruptedError reports that a write was not sent. Before each attempt, the network connection was interrupted, so that it was
// unknown which cluster would receive the write.
type InterruptedError struct{}

func (InterruptedError) Error() string {
	return "the network connection to the API server was interrupted again and again, and a different cluster might respond"
}

// write sends a request that changes the cluster, unless Guard or CheckCluster refuses it, and returns the body of the response and its status
// code.
func (c *Client) write(ctx context.Context, r *rest.Request) (b []byte, code int, err error) {
	for range mostChecks {
		if b, code, err = c.writeOnce(ctx, r); !errors.As(err, &InterruptedError{}) {
			break
		}
	}
	return b, code, err
}

func (c *Client) writeOnce(ctx context.Context, r *rest.Request) ([]byte, int, error) {
	guard, valid := func() error { return nil }, func() bool { return true }
	if c.Guard != nil {
		guard = func() error { return c.Guard(ctx) }
	}
	if err := guard(); err != nil {
		return nil, 0, err
	}
	if c.CheckCluster != nil {
		var err error
		if valid, err = c.CheckCluster(ctx); err != nil {
			return nil, 0, err
		}
	}
	code := 0
	b, err := c.body(r.Do(sendcheck.With(ctx, func() error {
		if err := guard(); err != nil {
			return err
		}
		if !valid() {
			return InterruptedError{}
		}
		return nil
	})).StatusCode(&code))
	return b, code, err
}

// body returns the JSON body of a response. A successful response that does not come from an API server results in a *PageError.
func (c *Client) body(r rest.Result) ([]byte, error) {
	b, err := c.raw(r)
	if err == nil && !isFromAPIServer(b) {
		return nil, &PageError{Host: c.cluster.Config().Host}
	}
	return b, err
}

// raw returns the body of a response. Unlike Result.Raw, it reads the reason of an error from the body. A 404 that does not name
// an object does not come from an API server and results in a *notfound.Error.
func (c *Client) raw(r rest.Result) ([]byte, error) {
	if err := r.Error(); err != nil {
		if notfound.Foreign(err) {
			return nil, c.foreign()
		}
		return nil, err
	}
	return r.Raw()
}

// foreign returns the error for a response that does not come from an API server.
func (c *Client) foreign() error {
	return &notfound.Error{Host: c.cluster.Config().Host}
}

// document returns the JSON document at a URL path.
func (c *Client) document(ctx context.Context, path string) ([]byte, error) {
	return c.body(c.cluster.REST().Get().AbsPath(path).SetHeader("Accept", JSON).Do(ctx))
}

// Absent reports whether a request failed because the object or its kind does not exist. For a collection, pass an empty name. If
// the kind was deleted with its CRD, the API server responds with a generic 404, so Absent then checks the discovery documents.
// It returns any other error, and a *MovedError if the cluster serves the kind in another version.
func (c *Client) Absent(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, name string, err error) (bool, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	switch {
	case name != "" && notfound.IsObject(err, m.Resource, name):
		return true, nil
	case notfound.Is(err):
		// The response names another object. A gateway that does not know the cluster can send such a response.
		return false, c.foreign()
	case !notfound.Foreign(err):
		return false, err
	}
	find := notfound.Served
	if name == "" {
		find = notfound.Listed
	}
	served, serr := find(ctx, c.document, gvk)
	if served || serr != nil {
		return false, cmp.Or(serr, err)
	}
	moved, serr := c.moved(ctx, gvk)
	if moved != nil {
		return false, moved
	}
	return serr == nil, serr
}

// moved returns in which other version the cluster serves a kind, or nil if there is none. It asks once for each kind.
func (c *Client) moved(ctx context.Context, gvk schema.GroupVersionKind) (*MovedError, error) {
	if e, known := c.moves.get(gvk); known {
		return e, nil
	}
	ctx, done := decoding.Hold(ctx)
	defer done()
	r, err := notfound.Elsewhere(ctx, c.document, gvk)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot find the versions of kind %s", gvk.Kind)
	}
	var e *MovedError
	if r != nil {
		served := gvk.GroupKind().WithVersion(r.Version)
		e = &MovedError{Requested: gvk, Served: served, mapping: cluster.Mapping{Resource: r.Name, Namespaced: r.Namespaced}}
	}
	c.moves.set(gvk, e)
	return e, nil
}

// mapping returns the mapping of a kind. The error is a *MovedError if the cluster serves the kind in another version only, and a
// *cluster.NoKindError if it serves the kind in no version.
func (c *Client) mapping(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error) {
	m, err := c.cluster.Mapping(ctx, gvk)
	if !IsNoKind(err) {
		return m, err
	}
	if moved, failed := c.moved(ctx, gvk); failed != nil {
		err = failed
	} else if moved != nil {
		err = moved
	}
	return m, err
}

// inServed calls do with a kind and its mapping. If the cluster serves the kind in another version only, it calls do with that version.
func (c *Client) inServed(
	ctx context.Context, gvk schema.GroupVersionKind, do func(gvk schema.GroupVersionKind, m cluster.Mapping) error,
) error {
	m, err := c.mapping(ctx, gvk)
	if err == nil {
		err = do(gvk, m)
	}
	if e := (*MovedError)(nil); errors.As(err, &e) {
		return do(e.Served, e.mapping)
	}
	return err
}

// Mapping returns the mapping of a kind, in another version if the cluster serves it there only.
func (c *Client) Mapping(ctx context.Context, gvk schema.GroupVersionKind) (out cluster.Mapping, err error) {
	err = c.inServed(ctx, gvk, func(_ schema.GroupVersionKind, m cluster.Mapping) error {
		out = m
		return nil
	})
	return out, err
}
