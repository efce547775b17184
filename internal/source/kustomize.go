// SPDX-License-Identifier: Apache-2.0

package source

import (
	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/source/digest"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func init() {
	Register(v1alpha1.SourceTypeKustomize, func(s v1alpha1.Source) Source { return &kustomize{blob: blobOf(s), path: s.Path} })
}

// kustomize is a directory in a layer that contains a kustomization and everything that it refers to.
type kustomize struct {
	blob

	path string
}

// Content returns the content of the kustomization.
func (k *kustomize) Content() Content {
	return Content{
		Digest: digest.OfBlob(digest.Kustomization, k.ref), Form: engine.FormKustomize, Path: k.path,
		Fetch: k.fetch(Puller.Layer), Read: archive.Read,
	}
}
