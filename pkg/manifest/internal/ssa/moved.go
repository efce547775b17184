// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A MovedError reports a kind that the cluster does not serve in the requested version, but in another one. Objects that were applied in
// the requested version still exist.
type MovedError struct {
	// Requested and Served are the kind in the requested version and in a served one.
	Requested, Served schema.GroupVersionKind

	mapping cluster.Mapping
}

// Error returns a message that names the kind and both versions.
func (e *MovedError) Error() string {
	return fmt.Sprintf("kind %s is no longer served as %s but as %s", e.Requested.Kind, e.Requested.GroupVersion(), e.Served.GroupVersion())
}

// Retryable returns true, because discovery may lag behind a CRD.
func (e *MovedError) Retryable() bool { return true }

// moves contains the results of moved by kind. It is safe for concurrent use.
type moves struct {
	mu  sync.Mutex
	all map[schema.GroupVersionKind]*MovedError
}

func (m *moves) get(gvk schema.GroupVersionKind) (*MovedError, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, known := m.all[gvk]
	return e, known
}

func (m *moves) set(gvk schema.GroupVersionKind, e *MovedError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[schema.GroupVersionKind]*MovedError{}
	}
	m.all[gvk] = e
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
