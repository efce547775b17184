// SPDX-License-Identifier: Apache-2.0

package source

import (
	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/source/digest"
)

// CRDs returns the content of a layer of CRDs.
func CRDs(l *v1alpha1.LayerSource) Content {
	b := blobOf(*FromLayer(l))
	return Content{Digest: digest.OfBlob(digest.CRDs, b.ref), Fetch: b.fetch(Puller.Blob), Read: archive.Read}
}

// Config returns the content of a config layer, which can be empty.
func Config(l *v1alpha1.LayerSource) Content {
	b := blobOf(*FromLayer(l))
	return Content{Digest: digest.OfBlob(digest.Config, b.ref), Fetch: b.fetch(Puller.Blob), Read: readConfig}
}

func readConfig(data []byte, l archive.Limits) ([]archive.File, error) {
	if len(data) == 0 {
		return nil, nil
	}
	return archive.ReadLayer(data, l)
}

// FromLayer converts a layer to a source.
func FromLayer(l *v1alpha1.LayerSource) *v1alpha1.Source {
	return OCIRef(l.Repo, l.Name, l.Ref)
}

// ToLayer converts a source to a layer. The source must identify a blob.
func ToLayer(s *v1alpha1.Source) *v1alpha1.LayerSource {
	return &v1alpha1.LayerSource{Type: v1alpha1.LayerSourceTypeOCIRef, Repo: s.Repo, Name: s.Name, Ref: s.Ref}
}
