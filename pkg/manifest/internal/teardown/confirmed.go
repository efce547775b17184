// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// Confirmed returns an input whose removal calls a function before it changes or deletes an object. If the function returns an error, the
// removal ends with it.
func (in Input) Confirmed(confirm func(ctx context.Context) error) Input {
	in.Read, in.Write = confirmedReader{Reader: in.Read, confirm: confirm}, confirmedWriter{Writer: in.Write, confirm: confirm}
	return in
}

// A confirmedReader calls a function before it lists the custom resources that keep a CRD. If the CRD is deleted, nothing delays that
// after the list.
type confirmedReader struct {
	Reader

	confirm func(ctx context.Context) error
}

// List lists objects.
func (r confirmedReader) List(
	ctx context.Context, gvk schema.GroupVersionKind, namespace, selector string, limit int,
) (*metav1.PartialObjectMetadataList, error) {
	if err := r.confirm(ctx); err != nil {
		return nil, err
	}
	return r.Reader.List(ctx, gvk, namespace, selector, limit)
}

// A confirmedWriter calls a function before each write, which returns an error to prevent it.
type confirmedWriter struct {
	Writer

	confirm func(ctx context.Context) error
}

// PatchMetadata changes the metadata of an object.
func (w confirmedWriter) PatchMetadata(
	ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, metadata map[string]any, accept string,
) ([]byte, error) {
	if err := w.confirm(ctx); err != nil {
		return nil, err
	}
	return w.Writer.PatchMetadata(ctx, gvk, r, metadata, accept)
}

// Delete deletes an object with a UID.
func (w confirmedWriter) Delete(
	ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid string,
) (*metav1.PartialObjectMetadata, error) {
	if err := w.confirm(ctx); err != nil {
		return nil, err
	}
	return w.Writer.Delete(ctx, gvk, r, uid)
}

// DeleteAt deletes an object with a UID and a resource version.
func (w confirmedWriter) DeleteAt(
	ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string,
) (*metav1.PartialObjectMetadata, error) {
	if err := w.confirm(ctx); err != nil {
		return nil, err
	}
	return w.Writer.DeleteAt(ctx, gvk, r, uid, resourceVersion)
}
