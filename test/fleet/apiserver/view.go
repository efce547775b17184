// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/kinds"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/wire"
)

// ViewLabel is the label of the objects that were created through a view. Its value is the name of the cluster.
const ViewLabel = "cluster." + Domain

// AddView adds a cluster that is a part of the real cluster of a REST config: lists and watches only show the objects that were
// created through this cluster, and the namespace kube-system has another UID. Names are shared: two views must not create objects
// with the same name in the same namespace. All views of a real cluster should share a Backend.
func (s *Server) AddView(name string, b *Backend) error {
	v := &view{cluster: name, uid: uuid.NewString(), backend: b}
	v.proxy = &httputil.ReverseProxy{
		Rewrite: v.rewrite, Transport: b.transport, ModifyResponse: v.modify, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
	}
	return s.add(name, state{view: v})
}

// A Backend is a real API server.
type Backend struct {
	url       *url.URL
	transport http.RoundTripper
}

// NewBackend returns the API server of a REST config, whose client must be allowed to do everything.
func NewBackend(c *rest.Config) (*Backend, error) {
	u, err := url.Parse(c.Host)
	if err != nil {
		return nil, errors.Wrap(err, "cannot parse the address of the API server")
	}
	t, err := rest.TransportFor(c)
	return &Backend{url: u, transport: t}, errors.Wrap(err, "cannot connect to the API server")
}

// A view is a part of a real cluster.
type view struct {
	cluster, uid string
	backend      *Backend
	proxy        *httputil.ReverseProxy
}

// serve answers a request with the response of the real API server.
func (v *view) serve(w http.ResponseWriter, r *http.Request, e *entry) {
	if err := v.label(w, r); err != nil {
		writeError(w, err)
		return
	}
	if r.URL.Query().Has("watch") {
		e.add(func(n *Count) { n.OpenWatches++ })
		defer e.add(func(n *Count) { n.OpenWatches-- })
		w = &watchWriter{ResponseWriter: w, entry: e, done: r.Context().Done()}
	}
	v.proxy.ServeHTTP(w, r)
}

// label adds the label of the view to the object in the body of a request, or to the selector of a list or watch.
func (v *view) label(w http.ResponseWriter, r *http.Request) error {
	gv, parts, ok := split(r.URL.Path)
	if !ok {
		return nil
	}
	_, parts = inNamespace(gv, parts)
	switch {
	case len(parts) == 1 && (r.Method == http.MethodGet || r.Method == http.MethodDelete):
		q := r.URL.Query()
		q.Set("labelSelector", withLabel(q.Get("labelSelector"), v.cluster))
		r.URL.RawQuery = q.Encode()
		return nil
	case len(parts) <= 2 && createsObject(r):
		b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			return kerrors.NewBadRequest(err.Error())
		}
		if b, err = labelObject(b, v.cluster); err != nil {
			return err
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
		r.Header.Set("Content-Length", strconv.Itoa(len(b)))
	}
	return nil
}

// createsObject reports whether the body of a request is an object that the request can create.
func createsObject(r *http.Request) bool {
	return r.Method == http.MethodPost || r.Method == http.MethodPut ||
		r.Method == http.MethodPatch && strings.HasPrefix(r.Header.Get("Content-Type"), applyPatch)
}

// withLabel adds the label of a cluster to a label selector.
func withLabel(selector, cluster string) string {
	own := ViewLabel + "=" + cluster
	if selector == "" {
		return own
	}
	return selector + "," + own
}

// labelObject adds the label of a cluster to an object in JSON. Reviews and other objects without a name are unchanged.
func labelObject(b []byte, cluster string) ([]byte, error) {
	object := map[string]any{}
	if err := utiljson.Unmarshal(b, &object); err != nil {
		return nil, kerrors.NewBadRequest("a view only accepts JSON: " + err.Error())
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok || metadata["name"] == nil && metadata["generateName"] == nil {
		return b, nil
	}
	labels, ok := metadata["labels"].(map[string]any)
	if !ok {
		labels = map[string]any{}
		metadata["labels"] = labels
	}
	labels[ViewLabel] = cluster
	return json.Marshal(object)
}

// rewrite directs a request to the real API server, with its credentials.
func (v *view) rewrite(p *httputil.ProxyRequest) {
	p.SetURL(v.backend.url)
	p.Out.Header.Del("Authorization")
	if isSystemNamespace(p.In.URL.Path) {
		p.Out.Header.Set("Accept", strings.ReplaceAll(p.In.Header.Get("Accept"), "application/vnd.kubernetes.protobuf", wire.JSON))
		p.Out.Header.Del("Accept-Encoding")
	}
}

func isSystemNamespace(path string) bool { return path == "/api/v1/namespaces/"+metav1.NamespaceSystem }

// modify replaces the UID of the namespace that identifies a cluster.
func (v *view) modify(r *http.Response) error {
	if r.StatusCode != http.StatusOK || !isSystemNamespace(r.Request.URL.Path) {
		return nil
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return errors.Wrap(err, "cannot read namespace kube-system")
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal(b, &object); err != nil {
		return errors.Wrap(err, "cannot decode namespace kube-system")
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		metadata["uid"] = v.uid
	}
	if b, err = json.Marshal(object); err != nil {
		return errors.Wrap(err, "cannot encode namespace kube-system")
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	r.Header.Set("Content-Length", strconv.Itoa(len(b)))
	return nil
}

// A watchWriter sends the events of a watch, unless watches of the cluster stall.
type watchWriter struct {
	http.ResponseWriter

	entry *entry
	done  <-chan struct{}
}

// Write sends data when watches no longer stall.
func (w *watchWriter) Write(b []byte) (int, error) {
	for f := w.entry.now(); f.Mode == StalledWatches; f = w.entry.now() {
		select {
		case <-f.ended:
		case <-w.done:
			return 0, http.ErrAbortHandler
		}
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap returns the writer of the HTTP server.
func (w *watchWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// kinds returns the kinds by which requests are counted.
func (s *state) kinds() *kinds.Set {
	if s.view != nil {
		return kinds.Builtin()
	}
	return s.cluster.Kinds()
}
