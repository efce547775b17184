// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// A Plane reads objects of a control plane for the commands, and checks which kinds are served.
type Plane struct {
	Client client.Client
	// Document gets a document from the API server, such as its API groups.
	Document notfound.GetFunc
}

// NewPlane returns the control plane of a command.
func NewPlane(c *command.Cluster) *Plane {
	return &Plane{Client: c, Document: c.Document}
}

// Live returns the current object, or nil if it doesn't exist. If its kind is not served, the error matches meta.IsNoMatchError.
func (p *Plane) Live(ctx context.Context, o Object) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(o.GroupVersionKind)
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Name}, u)
	switch {
	case err == nil:
		return u, nil
	case kmeta.IsNoMatchError(err), notfound.Foreign(err):
		return nil, p.unserved(ctx, o.GroupVersionKind)
	case notfound.Is(err):
		return nil, nil //nolint:nilnil // No object is a valid result.
	}
	return nil, errors.Wrapf(err, "cannot get %s", o.Words())
}

// Found returns the same as Live, or nil if the kind is not served.
func (p *Plane) Found(ctx context.Context, o Object) (*unstructured.Unstructured, error) {
	u, err := p.Live(ctx, o)
	if kmeta.IsNoMatchError(err) || u == nil && err == nil {
		return nil, nil //nolint:nilnil // No object is a valid result.
	}
	return u, err
}

// List lists the objects of a kind. It returns no objects if the kind is not served.
func (p *Plane) List(ctx context.Context, kind schema.GroupVersionKind, o ...client.ListOption) ([]unstructured.Unstructured, error) {
	l := ListOf(kind)
	err := p.Client.List(ctx, l, o...)
	if kmeta.IsNoMatchError(err) || notfound.Foreign(err) {
		if err = p.unserved(ctx, kind); kmeta.IsNoMatchError(err) {
			return nil, nil
		}
	}
	return l.Items, errors.Wrapf(err, "cannot list objects of kind %s", kind.Kind)
}

// unserved returns the error for a kind that was not found: a NoKindMatchError if the API server confirms that it does not serve
// the kind. A 404 alone is not enough, because a proxy can respond with 404 too. While a CRD is being created or deleted, the responses
// of an API server contradict each other for a moment.
func (p *Plane) unserved(ctx context.Context, kind schema.GroupVersionKind) error {
	served := false
	inconsistent := func(err error) bool {
		return errors.As(err, new(*notfound.InconsistentDiscoveryError)) && ctx.Err() == nil
	}
	err := retry.OnError(Patience(), inconsistent, func() (err error) {
		served, err = notfound.Served(ctx, p.Document, kind)
		return err
	})
	switch {
	case err != nil:
		return errors.Wrapf(err, "cannot determine whether the control plane serves kind %s", kind.Kind)
	case served:
		return &notfound.Error{}
	}
	return &kmeta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}
