// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"slices"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/wire"
)

// A recorder remembers the status code of a response.
type recorder struct {
	http.ResponseWriter

	code int
}

// WriteHeader sends the headers.
func (r *recorder) WriteHeader(code int) {
	if r.code == 0 {
		r.code = code
	}
	r.ResponseWriter.WriteHeader(code)
}

// Unwrap returns the writer of the HTTP server.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// ServeHTTP answers a request for the cluster that the server name of the connection selects.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := s.byServerName(r.TLS.ServerName)
	if e == nil {
		http.Error(w, "no cluster has this server name", http.StatusMisdirectedRequest)
		return
	}
	st := e.answering()
	rec := &recorder{ResponseWriter: w}
	defer e.add(func(c *Count) { c.Codes[rec.code]++ })
	t, isResource := parse(r.URL.Path, st.kinds())
	call := Call{Verb: "get", Resource: r.URL.Path}
	if isResource {
		call = Call{Verb: verbOf(r, t), Resource: t.Kind.GroupResource().String()}
		if t.Subresource != "" {
			call.Resource += "/" + t.Subresource
		}
	}
	e.add(func(c *Count) {
		c.Requests[call]++
		if isResource && r.Method != http.MethodGet && r.URL.Query().Get("dryRun") == "" {
			c.Writes++
		}
	})
	if e.fail(rec, r) {
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+st.token {
		writeError(rec, kerrors.NewUnauthorized("Unauthorized"))
		return
	}
	if st.view != nil {
		st.view.serve(rec, r, e)
		return
	}
	if !isResource {
		serveDocument(s, rec, r, st.cluster)
		return
	}
	(&session{server: s, entry: e, cluster: st.cluster, target: t, verb: call.Verb, w: rec, r: r}).serve()
}

// A session is a request for a resource.
type session struct {
	server  *Server
	entry   *entry
	cluster *cluster.Cluster
	target  cluster.Target
	verb    string
	format  wire.Format
	w       http.ResponseWriter
	r       *http.Request
}

func (c *session) serve() {
	var err error
	if c.format, err = wire.Negotiate(c.r.Header.Get("Accept"), slices.Contains([]string{"list", "deletecollection"}, c.verb)); err == nil {
		err = c.do()
	}
	if err != nil {
		// Errors are JSON, even if the client asks for metadata as protobuf.
		writeError(c.w, err)
	}
}

// errUnknown means that a call is not implemented.
var errUnknown = errors.New("the simulated API server does not implement this call")

// isKnown reports whether the verb is implemented for the resource or the subresource.
func (c *session) isKnown() bool {
	if c.target.Subresource != "" {
		return c.target.Subresource == "status" && c.target.Kind.HasStatus && slices.Contains([]string{"get", "update", "patch", "apply"}, c.verb)
	}
	return c.verb == "apply" || slices.Contains(verbsOf(c.target.Kind), c.verb)
}

func (c *session) do() error {
	if !c.isKnown() {
		return c.unknown()
	}
	switch c.verb {
	case "get":
		out, err := c.cluster.Get(c.target)
		return c.respond(http.StatusOK, out, err)
	case "list":
		return c.list()
	case "watch":
		return c.watch()
	case "create", "update":
		return c.write()
	case "apply":
		return c.apply()
	case "patch":
		return c.patch()
	default:
		return c.delete()
	}
}

func (c *session) unknown() error {
	c.server.recordUnknown(c.verb + " " + c.target.Kind.GroupResource().String() + "/" + c.target.Subresource)
	return kerrors.NewGenericServerResponse(http.StatusNotImplemented, c.verb, schema.GroupResource{}, "", errUnknown.Error(), 0, true)
}

// respond sends an object, or returns the error.
func (c *session) respond(code int, object map[string]any, err error) error {
	if err != nil {
		return err
	}
	b, err := c.format.Object(wire.Item{
		Metadata: func() map[string]any {
			m, _ := object["metadata"].(map[string]any)
			return cluster.MetadataView(c.target.Kind, m)
		},
		Body: func() map[string]any { return object },
	})
	if err != nil {
		return err
	}
	write(c.w, c.format, code, b)
	return nil
}

func write(w http.ResponseWriter, f wire.Format, code int, body []byte) {
	w.Header().Set("Content-Type", f.ContentType())
	w.WriteHeader(code)
	_, _ = w.Write(body) // The client may be gone.
}

// writeError sends an error as a status.
func writeError(w http.ResponseWriter, err error) {
	s := wire.StatusOf(err)
	f := wire.Format{}
	b, err := f.Status(s)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, f, int(s.Code), b)
}

// managerOf returns the field manager of a request: by default, the beginning of its user agent.
func managerOf(r *http.Request) string {
	const longest = 128
	if m := r.URL.Query().Get("fieldManager"); m != "" {
		return m
	}
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	return agent[:min(len(agent), longest)]
}
