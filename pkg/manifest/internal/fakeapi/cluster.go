// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Cluster is a fake API server, and a connection to it. It logs all requests.
type Cluster struct {
	// Meet is called with the log line of each request before the request is served, so that a test can count requests, or act as
	// another client. If it returns an error, the request fails with that error: an error of k8s.io/apimachinery/pkg/api/errors
	// comes from the API server, ErrPage from another web server, and any other error from the connection.
	Meet func(line string) error
	// Left is called after each request that was served. If it returns an error, the connection fails with that error, and the
	// response is lost.
	Left func(line string) error
	// Unready makes the cluster create CRDs without the status of an established CRD.
	Unready bool
	// Unconditional makes the cluster ignore the resource version of an apply, which no API server of Kubernetes does.
	Unconditional bool

	client rest.Interface

	mu       sync.Mutex
	objects  map[cluster.ObjectRef]*unstructured.Unstructured
	learned  map[schema.GroupVersionKind]cluster.Mapping
	log      []string
	cached   []string
	revision int
	uids     int
}

// New returns a cluster that contains the namespace default.
func New(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{
		objects: map[cluster.ObjectRef]*unstructured.Unstructured{}, learned: map[schema.GroupVersionKind]cluster.Mapping{}, revision: 100,
	}
	client, err := rest.RESTClientForConfigAndClient(c.Config(), &http.Client{Transport: c})
	if err != nil {
		t.Fatal(err)
	}
	c.client = client
	c.Create("kubectl", `{apiVersion: v1, kind: Namespace, metadata: {name: default}}`)
	return c
}

// RoundTrip serves a request without a network.
func (c *Cluster) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	code, answer, err := c.answer(r, body)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: code, Body: io.NopCloser(bytes.NewReader(answer)), Request: r, Header: http.Header{"Content-Type": {contentType(answer)}},
	}, nil
}

func contentType(answer []byte) string {
	if bytes.HasPrefix(answer, []byte("{")) {
		return "application/json"
	}
	return "text/plain"
}

// REST returns a client for the cluster.
func (c *Cluster) REST() rest.Interface { return c.client }

// Config returns a configuration that only the client of this cluster can connect with.
func (c *Cluster) Config() *rest.Config {
	return &rest.Config{Host: "http://fake", QPS: -1, ContentConfig: rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{Version: "v1"}, NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
	}}
}

// UID returns an empty UID, which means that it is unknown.
func (c *Cluster) UID(context.Context) (string, error) { return "", nil }

// ConfirmUID returns an empty UID.
func (c *Cluster) ConfirmUID(context.Context) (string, error) { return "", nil }

// Mapping returns the mapping of a kind that is served or was added with AddMapping.
func (c *Cluster) Mapping(_ context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := servedBy(c.objects)[gvk]; ok {
		return m, nil
	}
	if m, ok := c.learned[gvk]; ok {
		return m, nil
	}
	return cluster.Mapping{}, &cluster.NoKindError{GVK: gvk}
}

// AddMapping adds the mapping of a kind.
func (c *Cluster) AddMapping(gvk schema.GroupVersionKind, m cluster.Mapping) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learned[gvk] = m
}

// Version returns the version of the cluster.
func (c *Cluster) Version(context.Context) (string, error) { return "v1.36.3", nil }

// APIVersions returns no versions.
func (c *Cluster) APIVersions(context.Context) ([]string, error) { return nil, nil }

// Cache returns a cache that is always up to date, and that logs its updates.
func (c *Cluster) Cache() cluster.Cache { return c }

// Identity returns an empty identity.
func (c *Cluster) Identity() string { return "" }

// Interpreter returns the interpreter of the default identity.
func (c *Cluster) Interpreter() cluster.Interpreter {
	return health.Interpreter{Identity: object.DefaultIdentity()}
}

// Track does nothing.
func (c *Cluster) Track(context.Context, []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
	return nil
}

// Examine does nothing.
func (c *Cluster) Examine([]schema.GroupKind) {}

// Get returns the state of an object that has the label of the engine.
func (c *Cluster) Get(r cluster.ObjectRef) (cluster.ObjectState, bool) {
	u := c.Object(r)
	if u == nil || u.GetLabels()[object.LabelManagedBy] != object.DefaultManagedBy {
		return cluster.ObjectState{}, false
	}
	return health.StateOf(object.DefaultFieldManager, u), true
}

// Kinds returns no kinds.
func (c *Cluster) Kinds(string) map[schema.GroupVersionKind]bool { return nil }

// Put logs the update of an object in the cache.
func (c *Cluster) Put(r cluster.ObjectRef, s cluster.ObjectState) {
	c.noteCached("put " + r.String() + " " + s.UID)
}

// Forget logs the removal of an object from the cache.
func (c *Cluster) Forget(r cluster.ObjectRef) { c.noteCached("forget " + r.String()) }

func (c *Cluster) noteCached(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cached = append(c.cached, line)
}

// Cached returns the log of the cache since the last call.
func (c *Cluster) Cached() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.cached
	c.cached = nil
	return out
}

// Requests returns the log of the requests since the last call. A line consists of the verb and the object, with additional
// words: "try" means a dry run, "new" that the object must not exist, "at" that it must have the given UID, and "unforced" that
// no field is taken from other managers.
func (c *Cluster) Requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.log
	c.log = nil
	return out
}

// Object returns a copy of an object, or nil if it does not exist.
func (c *Cluster) Object(r cluster.ObjectRef) *unstructured.Unstructured {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u := c.objects[r]; u != nil {
		return u.DeepCopy()
	}
	return nil
}

// Refs returns the display names of all objects, sorted, except for the namespace default.
func (c *Cluster) Refs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for r := range c.objects {
		if r.String() != "Namespace default" {
			out = append(out, r.String())
		}
	}
	slices.Sort(out)
	return out
}

// All returns copies of all objects.
func (c *Cluster) All() map[cluster.ObjectRef]map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[cluster.ObjectRef]map[string]any, len(c.objects))
	for r, u := range c.objects {
		out[r] = u.DeepCopy().Object
	}
	return out
}
