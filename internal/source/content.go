// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// Install returns an install of the content without name, namespace and values. The engine fetches the content with p, and
// reads it within the limits, when it needs it.
func (c Content) Install(p Puller, l oci.Limits) engine.Install {
	return engine.Install{Layer: c.Layer(p, l), Form: c.Form, Path: c.Path}
}

// Layer returns the content as the engine wants it.
func (c Content) Layer(p Puller, l oci.Limits) engine.Layer {
	return engine.Layer{Digest: c.Digest, Fetch: func(ctx context.Context) (engine.Content, error) {
		a, err := c.Fetch(ctx, p)
		if err != nil {
			return engine.Content{}, err
		}
		return engine.Content{Digest: a.Digest, Files: func() ([]engine.File, error) {
			files, err := c.Read(a.Data, l)
			if err != nil {
				return nil, err
			}
			out := make([]engine.File, len(files))
			for i, f := range files {
				out[i] = engine.File(f)
			}
			return out, nil
		}}, nil
	}}
}
