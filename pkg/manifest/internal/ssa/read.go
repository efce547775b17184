// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"encoding/json"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
)

// Get returns an object, or nil if the object or its kind does not exist.
func (c *Client) Get(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*unstructured.Unstructured, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	b, err := c.Read(ctx, gvk, r, JSON)
	if err != nil || b == nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	return u, errors.Wrapf(u.UnmarshalJSON(b), "%s: cannot read", r)
}

// Metadata returns the metadata of an object, or nil if the object or its kind does not exist.
func (c *Client) Metadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*metav1.PartialObjectMetadata, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	b, err := c.Read(ctx, gvk, r, Metadata)
	if err != nil || b == nil {
		return nil, err
	}
	m := &metav1.PartialObjectMetadata{}
	return m, errors.Wrapf(json.Unmarshal(b, m), "%s: cannot read", r)
}

// State returns the state of an object, and false if the object or its kind does not exist.
func (c *Client) State(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (cluster.ObjectState, bool, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	b, err := c.Read(ctx, gvk, r, acceptFor(gvk))
	if err != nil || b == nil {
		return cluster.ObjectState{}, false, err
	}
	s, _, err := c.decodeState(gvk, b)
	return s, err == nil, err
}

// Read returns an object in the given media type, or nil if the object or its kind does not exist. If the cluster serves the kind in
// another version only, the object has that version.
func (c *Client) Read(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, accept string) (b []byte, err error) {
	err = c.inServed(ctx, gvk, func(gvk schema.GroupVersionKind, m cluster.Mapping) (err error) {
		b, err = c.body(c.cluster.REST().Get().AbsPath(path(gvk.GroupVersion(), m, r.Namespace, r.Name)).SetHeader("Accept", accept).Do(ctx))
		if err == nil {
			return nil
		}
		_, err = c.Absent(ctx, gvk, m, r.Name, err)
		return Explain(err)
	})
	if IsNoKind(err) {
		return nil, nil
	}
	return b, errors.Wrap(err, r.String())
}

// List returns the metadata of the objects of a kind that match a label selector. An empty namespace means all namespaces. A
// limit of 0 means no limit.
func (c *Client) List(ctx context.Context, gvk schema.GroupVersionKind, namespace, selector string, limit int) (*metav1.PartialObjectMetadataList, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	l := &metav1.PartialObjectMetadataList{}
	return l, c.inServed(ctx, gvk, func(gvk schema.GroupVersionKind, m cluster.Mapping) error {
		b, err := c.list(ctx, gvk, m, namespace, metadataList, map[string]string{"labelSelector": selector, "limit": number(limit)})
		if err != nil {
			return Explain(err)
		}
		return errors.Wrapf(json.Unmarshal(b, l), "cannot read the list of %s", m.Resource)
	})
}

// ListJSON lists the objects of a kind in a namespace and decodes the response into list. The mapping is an argument because
// discovery may not know the version yet. Empty parameters are not sent. Errors of the API server are returned unchanged.
func (c *Client) ListJSON(
	ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, namespace string, params map[string]string, list any,
) error {
	ctx, done := decoding.Hold(ctx)
	defer done()
	b, err := c.list(ctx, gvk, m, namespace, JSON, params)
	if err != nil {
		return err
	}
	return errors.Wrap(json.Unmarshal(b, list), "cannot read the list")
}

func (c *Client) list(
	ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, namespace, accept string, params map[string]string,
) ([]byte, error) {
	r := c.cluster.REST().Get().AbsPath(path(gvk.GroupVersion(), m, namespace, "")).SetHeader("Accept", accept)
	for name, value := range params {
		if value != "" {
			r = r.Param(name, value)
		}
	}
	return c.body(r.Do(ctx))
}

// LastLogLine returns the last line of the log of a container, up to limit bytes.
func (c *Client) LastLogLine(ctx context.Context, namespace, pod, container string, limit int) (string, error) {
	m := cluster.Mapping{Resource: "pods", Namespaced: true}
	b, err := c.raw(c.cluster.REST().Get().AbsPath(path(schema.GroupVersion{Version: "v1"}, m, namespace, pod)+"/log").
		Param("container", container).Param("tailLines", "1").Param("limitBytes", strconv.Itoa(limit)).Do(ctx))
	return string(b), err
}

// number returns an integer as the value of a query parameter, or an empty string for 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// acceptFor returns the media type that contains all fields that determine the state of an object of a kind.
func acceptFor(gvk schema.GroupVersionKind) string {
	if health.NeedsStatus(gvk.GroupKind()) {
		return JSON
	}
	return Metadata
}

// decodeState decodes a response into the state of the object and the fields that the engine applied.
func (c *Client) decodeState(gvk schema.GroupVersionKind, b []byte) (cluster.ObjectState, *metav1.FieldsV1, error) {
	if !health.NeedsStatus(gvk.GroupKind()) {
		m := &metav1.PartialObjectMetadata{}
		if err := json.Unmarshal(b, m); err != nil {
			return cluster.ObjectState{}, nil, err
		}
		return health.MetadataStateOf(c.FieldManager, m), fieldset.AppliedBy(c.FieldManager, m.ManagedFields), nil
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		return cluster.ObjectState{}, nil, err
	}
	return health.StateOf(c.FieldManager, u), fieldset.AppliedBy(c.FieldManager, u.GetManagedFields()), nil
}
