// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"io"
	"mime"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	restwatch "k8s.io/client-go/rest/watch"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// watches sends the requests of watches. The clients of client-go would start a goroutine for each of them.
type watches struct {
	rest      rest.Interface
	reopening *reopening
}

// A form is what a watch contains of each object, and how.
type form struct {
	accept     string
	negotiator runtime.ClientNegotiator
}

// acceptWatch requests only the metadata of objects, as in the metadata client.
const acceptWatch = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," + acceptMetadata + ",application/json"

// codecs contains what all connections share, because it is large and does not change.
type codecs struct {
	// responses decodes the types that all API servers return, and parameters encodes the options of lists and watches.
	responses  runtime.NegotiatedSerializer
	parameters runtime.ParameterCodec
	// whole and names are the forms of watches.
	whole, names form
}

//nolint:gochecknoglobals // It does not change.
var sharedCodecs = sync.OnceValue(func() *codecs {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	objects, names := dynamic.ConfigFor(&rest.Config{}), metadata.ConfigFor(&rest.Config{})
	return &codecs{
		responses:  serializer.NewCodecFactory(scheme).WithoutConversion(),
		parameters: runtime.NewParameterCodec(scheme),
		whole:      form{objects.AcceptContentTypes, runtime.NewClientNegotiator(objects.NegotiatedSerializer, schema.GroupVersion{})},
		names:      form{acceptWatch, runtime.NewClientNegotiator(names.NegotiatedSerializer, schema.GroupVersion{})},
	}
})

// Watch watches the objects of all namespaces.
func (c *watches) Watch(ctx context.Context, r informer.Resource, o metav1.ListOptions) (informer.Stream, error) {
	shared := sharedCodecs()
	f := shared.whole
	if r.MetadataOnly {
		f = shared.names
	}
	o.Watch = true
	path := []string{"apis", r.Group, r.Version, r.Resource}
	if r.Group == "" {
		path = []string{"api", r.Version, r.Resource}
	}
	contentType, body := "", io.ReadCloser(nil)
	err := c.reopening.do(ctx, func() (err error) {
		body, err = c.rest.Get().AbsPath(path...).SetHeader("Accept", f.accept).
			SpecificallyVersionedParams(&o, shared.parameters, schema.GroupVersion{Version: "v1"}).
			Stream(context.WithValue(transport.Detach(transport.WithLimit(ctx, listTime)), typeKey{}, &contentType))
		return err
	})
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
	return &stream{body: body, decoder: func() *restwatch.Decoder {
		return restwatch.NewDecoder(streaming.NewDecoder(framer.NewFrameReader(body), events), objects)
	}}, nil
}

// A stream decodes the events of a watch.
type stream struct {
	body    io.ReadCloser
	decoder func() *restwatch.Decoder
	// current is the current decoder, or nil while the watch is idle.
	current *restwatch.Decoder
}

// Next returns the next event.
func (s *stream) Next() (watch.Event, error) {
	if s.current == nil {
		s.current = s.decoder()
	}
	kind, obj, err := s.current.Decode()
	return watch.Event{Type: kind, Object: obj}, err
}

// Idle returns false if the body of the response does not report when there is an event, or if there is one already. While the watch is
// idle, it has no decoder and no buffers: the body returns one event at a time, so the decoder has read no part of the next one.
func (s *stream) Idle(w informer.Waiter) bool {
	b, ok := s.body.(interface {
		Idle(w transport.Waiter) bool
	})
	if !ok {
		return false
	}
	// The next event can arrive, and be decoded, before Idle returns.
	current := s.current
	s.current = nil
	if !b.Idle(w) {
		s.current = current
		return false
	}
	return true
}

// Detached returns a function that ends the watch without blocking, or nil if the watch ends with the context of its request.
func (s *stream) Detached() func() {
	if b, ok := s.body.(interface{ Detached() func() }); ok {
		return b.Detached()
	}
	return nil
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
