// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	library "github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// Install returns an install of the content, without a name, namespace and values. The engine fetches the content on demand,
// with the Puller, the registries that are allowed at that time, and the limits.
func (c Content) Install(p Puller, allowed RegistriesFunc, l archive.Limits) engine.Install {
	return engine.Install{Layer: c.Layer(p, allowed, l), Form: c.Form, Path: c.Path}
}

// Layer returns the content as a layer for the engine.
func (c Content) Layer(p Puller, allowed RegistriesFunc, l archive.Limits) library.Layer {
	return library.Layer{Digest: c.Digest, Fetch: func(ctx context.Context) (library.Content, error) {
		a, err := c.Fetch(ctx, p, allowed)
		if err != nil {
			return library.Content{}, err
		}
		return library.Content{Digest: a.Digest, Files: func() ([]library.File, error) {
			files, err := c.Read(a.Data, l.In(ctx))
			if err != nil {
				return nil, err
			}
			out := make([]library.File, len(files))
			for i, f := range files {
				out[i] = library.File(f)
			}
			return out, nil
		}}, nil
	}}
}
