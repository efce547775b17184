// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// These are the media types.
const (
	JSON     = "application/json"
	Protobuf = "application/vnd.kubernetes.protobuf"
)

// A Format is the format of a response.
type Format struct {
	// Metadata means that only metadata is sent.
	Metadata bool
	// Protobuf means that metadata and errors are sent as protobuf. Whole objects are always sent as JSON.
	Protobuf bool
}

// ContentType returns the media type of a response.
func (f Format) ContentType() string {
	if f.Protobuf {
		return Protobuf
	}
	return JSON
}

// Negotiate returns the first format in an Accept header that is supported. Metadata of lists and of objects have different names.
func Negotiate(accept string, isList bool) (Format, error) {
	if accept == "" {
		return Format{}, nil
	}
	for clause := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err != nil {
			continue
		}
		if f, ok := formatOf(media, params, isList); ok {
			return f, nil
		}
	}
	return Format{}, &kerrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: application/json, application/vnd.kubernetes.protobuf",
	}}
}

// formatOf returns the format of a clause of an Accept header, or false if it is not supported.
func formatOf(media string, params map[string]string, isList bool) (Format, bool) {
	f := Format{Protobuf: media == Protobuf}
	if !f.Protobuf && media != JSON && media != "*/*" && media != "application/*" {
		return f, false
	}
	if params["as"] == "" {
		return f, !f.Protobuf
	}
	want := "PartialObjectMetadata"
	if isList {
		want = "PartialObjectMetadataList"
	}
	f.Metadata = params["as"] == want && params["g"] == metav1.GroupName && params["v"] == "v1"
	return f, f.Metadata
}

// An Item is an object. Body is called only if the format needs more than the metadata.
type Item struct {
	Metadata func() map[string]any
	Body     func() map[string]any
}

// Object encodes an object.
func (f Format) Object(i Item) ([]byte, error) {
	if !f.Metadata {
		b, err := json.Marshal(i.Body())
		return b, errors.Wrap(err, "cannot encode an object")
	}
	p, err := partial(i.Metadata())
	if err != nil {
		return nil, err
	}
	return f.encode(p)
}

// List encodes a list of objects. The kind is that of a list of whole objects. A list of custom resources always has a token.
func (f Format) List(kind schema.GroupVersionKind, meta metav1.ListMeta, custom bool, items []Item) ([]byte, error) {
	if !f.Metadata {
		all := make([]map[string]any, 0, len(items))
		for _, i := range items {
			all = append(all, i.Body())
		}
		m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&meta)
		if err != nil {
			return nil, errors.Wrap(err, "cannot encode a list")
		}
		if custom {
			m["continue"] = meta.Continue
		}
		b, err := json.Marshal(map[string]any{"kind": kind.Kind, "apiVersion": kind.GroupVersion().String(), "metadata": m, "items": all})
		return b, errors.Wrap(err, "cannot encode a list")
	}
	// As in a real API server, the items of an empty list are null.
	l := &metav1.PartialObjectMetadataList{ListMeta: meta}
	l.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"))
	for _, i := range items {
		p, err := partial(i.Metadata())
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, *p)
	}
	return f.encode(l)
}

// Status encodes a status.
func (f Format) Status(s *metav1.Status) ([]byte, error) {
	s.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Status"})
	return f.encode(s)
}

func (f Format) encode(o runtime.Object) ([]byte, error) {
	if !f.Protobuf {
		b, err := json.Marshal(o)
		return b, errors.Wrap(err, "cannot encode")
	}
	b := &bytes.Buffer{}
	err := protobuf.NewSerializer(nil, nil).Encode(o, b)
	return b.Bytes(), errors.Wrap(err, "cannot encode")
}

func partial(metadata map[string]any) (*metav1.PartialObjectMetadata, error) {
	p := &metav1.PartialObjectMetadata{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(metadata, &p.ObjectMeta); err != nil {
		return nil, errors.Wrap(err, "cannot decode metadata")
	}
	p.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
	return p, nil
}

// StatusOf returns the status that an API server sends for an error. An error of another kind is internal.
func StatusOf(err error) *metav1.Status {
	if s := kerrors.APIStatus(nil); errors.As(err, &s) {
		out := s.Status()
		return &out
	}
	return &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
}
