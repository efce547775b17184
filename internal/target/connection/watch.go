// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"io"
	"mime"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	restwatch "k8s.io/client-go/rest/watch"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
)

// watches sends the requests of watches. The clients of client-go would start a goroutine for each of them.
type watches struct {
	rest         rest.Interface
	parameters   runtime.ParameterCodec
	whole, names form
}

// A form is what a watch contains of each object, and how.
type form struct {
	accept     string
	negotiator runtime.ClientNegotiator
}

// acceptWatch requests only the metadata of objects, as in the metadata client.
const acceptWatch = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," + acceptMetadata + ",application/json"

func newWatches(rc *rest.Config, requests rest.Interface) watches {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	objects, names := dynamic.ConfigFor(rc), metadata.ConfigFor(rc)
	return watches{
		rest: requests, parameters: runtime.NewParameterCodec(scheme),
		whole: form{objects.AcceptContentTypes, runtime.NewClientNegotiator(objects.NegotiatedSerializer, schema.GroupVersion{})},
		names: form{acceptWatch, runtime.NewClientNegotiator(names.NegotiatedSerializer, schema.GroupVersion{})},
	}
}

// Watch watches the objects of all namespaces.
func (c *watches) Watch(ctx context.Context, r informer.Resource, o metav1.ListOptions) (informer.Stream, error) {
	f := c.whole
	if r.MetadataOnly {
		f = c.names
	}
	o.Watch = true
	path := []string{"apis", r.Group, r.Version, r.Resource}
	if r.Group == "" {
		path = []string{"api", r.Version, r.Resource}
	}
	contentType := ""
	body, err := c.rest.Get().AbsPath(path...).SetHeader("Accept", f.accept).
		SpecificallyVersionedParams(&o, c.parameters, schema.GroupVersion{Version: "v1"}).
		Stream(context.WithValue(ctx, typeKey{}, &contentType))
	if err != nil {
		return nil, err
	}
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		mediaType = runtime.ContentTypeJSON
	}
	objects, events, framer, err := f.negotiator.StreamDecoder(mediaType, params)
	if err != nil {
		_ = body.Close()
		return nil, errors.Wrapf(err, "cannot watch %s", r.Resource)
	}
	return &stream{body: body, decoder: restwatch.NewDecoder(streaming.NewDecoder(framer.NewFrameReader(body), events), objects)}, nil
}

// A stream decodes the events of a watch.
type stream struct {
	body    io.ReadCloser
	decoder *restwatch.Decoder
}

// Next returns the next event.
func (s *stream) Next() (watch.Event, error) {
	kind, obj, err := s.decoder.Decode()
	return watch.Event{Type: kind, Object: obj}, err
}

// Idle returns false if the body of the response does not report when there is an event, or if there is one already.
func (s *stream) Idle(wake func()) bool {
	b, ok := s.body.(interface{ Idle(wake func()) bool })
	return ok && b.Idle(wake)
}

// Stop ends the watch.
func (s *stream) Stop() { _ = s.body.Close() } // It is not used anymore.

type typeKey struct{}

// typed stores the content type of a response in the variable that the context of its request contains.
type typed struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *typed) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if v, ok := req.Context().Value(typeKey{}).(*string); ok && err == nil {
		*v = resp.Header.Get("Content-Type")
	}
	return resp, err
}
