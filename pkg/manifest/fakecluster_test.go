// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/internal/sendcheck"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

var errCut = errors.New("the connection was cut")

// A fakeCluster connects the engine to a fakeServer. Its watch is up to date unless a test changes that.
type fakeCluster struct {
	server *fakeServer
	client rest.Interface
	config *rest.Config

	mu      sync.Mutex
	learned map[schema.GroupVersionKind]cluster.Mapping
	// version and apis are the version and the API groups that the cluster serves. known is the version that is known without a
	// request.
	version, known string
	apis           []string
	// blind contains kinds that cannot be watched, and tracked the kinds that were tracked.
	blind   map[string]bool
	tracked map[schema.GroupVersionKind]bool
	// listing contains kinds whose first list is under way, and prepared contains those that were tracked without waiting.
	listing, prepared map[string]bool
	// examined contains kinds whose objects are hashed.
	examined map[string]bool
	// late contains objects that the watch does not show yet.
	late map[cluster.ObjectRef]bool
	// left is the number of writes until the connection is cut, or negative for never. If lost is set, the server receives the
	// last write, and only its response is lost.
	left int
	lost bool
	// before is called before each request, by several goroutines at the same time. It can be nil, and is only changed while no
	// request is sent.
	before func(r *http.Request)
	// behind contains outdated states that the watch shows, or nil for objects that it does not show.
	behind map[cluster.ObjectRef]*cluster.ObjectState
	// watch is what is watched; nil for a watch that is up to date. weather is what is between the engine and the server, or nil.
	watch   *fakeWatch
	weather *fakeNetwork
	// uid is the UID that the server returned over the current connection. It is empty if it must be requested.
	uid string
}

func newFakeCluster(t testing.TB, s *fakeServer) *fakeCluster {
	t.Helper()
	c := &fakeCluster{
		server: s, learned: map[schema.GroupVersionKind]cluster.Mapping{}, blind: map[string]bool{}, prepared: map[string]bool{}, examined: map[string]bool{},
		left: -1, tracked: map[schema.GroupVersionKind]bool{},
	}
	c.version, c.apis = "v1.36.3", []string{"v1", "apps/v1"}
	c.config = &rest.Config{Host: "http://fake", QPS: -1, ContentConfig: rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{Version: "v1"}, NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
	}}
	client, err := rest.RESTClientForConfigAndClient(c.config, &http.Client{Transport: c})
	if err != nil {
		t.Fatal(err)
	}
	c.client = client
	return c
}

// cutAfter cuts the connection after a number of writes. If lost is set, only the response to the last write is lost.
func (c *fakeCluster) cutAfter(n int, lost bool) { c.left, c.lost = n, lost }

// RoundTrip sends a request to the server without a network.
func (c *fakeCluster) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	cut, lose := c.left == 0, false
	if c.left > 0 && r.Method != http.MethodGet {
		c.left--
		lose = c.lost && c.left == 0
	}
	c.mu.Unlock()
	if cut {
		return nil, errCut
	}
	if c.before != nil {
		c.before(r)
	}
	if err := sendcheck.Run(r.Context()); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = io.NopCloser(http.NoBody)
	}
	if c.watch != nil {
		defer c.watch.requested()
	}
	serve := func() *http.Response {
		rec := httptest.NewRecorder()
		c.server.ServeHTTP(rec, r)
		return rec.Result()
	}
	if lose {
		serve()
		return nil, errCut
	}
	if c.weather != nil {
		return c.weather.pass(r, serve)
	}
	return serve(), nil
}

func (c *fakeCluster) REST() rest.Interface             { return c.client }
func (c *fakeCluster) Cache() cluster.Cache             { return c }
func (c *fakeCluster) Interpreter() cluster.Interpreter { return Interpreter() }
func (c *fakeCluster) Identity() string                 { return c.config.Host }
func (c *fakeCluster) UID(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uid != "" {
		return c.uid, nil
	}
	c.uid = c.server.cluster
	return c.uid, c.server.clusterErr
}

// KnowsUID reports whether the cluster is the one with a UID, and no other network connection was opened.
func (c *fakeCluster) KnowsUID(uid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.uid != "" && c.uid == uid
}

func (c *fakeCluster) ConfirmUID(ctx context.Context) (string, error) {
	c.reconnect()
	return c.UID(ctx)
}

// reconnect opens another network connection, so that the next UID is the one of the cluster that responds from then on.
func (c *fakeCluster) reconnect() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uid = ""
}

func (c *fakeCluster) Config() *rest.Config                    { return c.config }
func (c *fakeCluster) Version(context.Context) (string, error) { return c.version, nil }
func (c *fakeCluster) LastVersion() string                     { return c.known }

// APIVersions returns what a test set, and all kinds.
func (c *fakeCluster) APIVersions(context.Context) ([]string, error) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	out := slices.Clone(c.apis)
	for _, k := range c.server.kinds() {
		out = append(out, k.GroupVersion().String()+"/"+k.Kind)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Kinds returns the kinds that were tracked. A connection that is new knows none.
func (c *fakeCluster) Kinds(set string) map[schema.GroupVersionKind]bool {
	c.mu.Lock()
	out := maps.Clone(c.tracked)
	c.mu.Unlock()
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for gvk := range out {
		if c.blind[gvk.Kind] {
			delete(out, gvk)
		}
	}
	for k, o := range c.server.objects {
		for gvk := range out {
			l := o.u().GetLabels()
			if gvk.GroupKind() == k.GroupKind() && l[object.LabelPartOf] == set && l[object.LabelManagedBy] == object.DefaultManagedBy {
				out[gvk] = true
			}
		}
	}
	return out
}

func (c *fakeCluster) Put(k cluster.ObjectRef, s cluster.ObjectState) {
	if c.watch != nil {
		c.watch.put(k, s)
	}
}

func (c *fakeCluster) Forget(k cluster.ObjectRef) {
	if c.watch != nil {
		c.watch.forget(k)
	}
}

func (c *fakeCluster) AddMapping(gvk schema.GroupVersionKind, m cluster.Mapping) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learned[gvk] = m
}

func (c *fakeCluster) Mapping(_ context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for _, k := range c.server.kinds() {
		if k.GroupVersionKind == gvk {
			return k.Mapping, nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.learned[gvk]; ok {
		return m, nil
	}
	return cluster.Mapping{}, &cluster.NoKindError{GVK: gvk}
}

func (c *fakeCluster) Track(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
	c.mu.Lock()
	for _, gvk := range gvks {
		c.tracked[gvk] = false
	}
	c.mu.Unlock()
	out := map[schema.GroupVersionKind]error{}
	for _, gvk := range gvks {
		if ctx.Err() != nil {
			c.prepared[gvk.Kind] = true
		}
		switch {
		case c.blind[gvk.Kind]:
			out[gvk] = errCut
		case c.listing[gvk.Kind]:
			out[gvk] = &cluster.ListingError{Kinds: []string{gvk.Kind}, Notify: func(func()) {}}
		}
	}
	return out
}

func (c *fakeCluster) Examine(gks []schema.GroupKind) {
	for _, gk := range gks {
		c.examined[gk.Kind] = true
	}
}

func (c *fakeCluster) Get(k cluster.ObjectRef) (cluster.ObjectState, bool) {
	if s, ok := c.behind[k]; ok {
		if s == nil {
			return cluster.ObjectState{}, false
		}
		return *s, true
	}
	if c.watch != nil && !c.blind[k.Kind] {
		return c.watch.get(k)
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	o := c.server.objects[k]
	if o == nil || c.blind[k.Kind] || c.listing[k.Kind] || c.late[k] || o.u().GetLabels()[object.LabelManagedBy] != object.DefaultManagedBy {
		return cluster.ObjectState{}, false
	}
	return health.StateOf(object.DefaultFieldManager, &unstructured.Unstructured{Object: o.full()}), true
}
