// SPDX-License-Identifier: Apache-2.0

package source

import (
	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/source/digest"
)

func init() {
	Register(v1alpha1.SourceTypeOCIRef, func(s v1alpha1.Source) Source { return &ociRef{blob: blobOf(s)} })
}

// ociRef is a chart by digest.
type ociRef struct{ blob }

// OCIRef returns the source of a chart by digest.
func OCIRef(repo, name, ref string) *v1alpha1.Source {
	return &v1alpha1.Source{Type: v1alpha1.SourceTypeOCIRef, Repo: repo, Name: name, Ref: ref}
}

// Content returns the content of the chart.
func (o *ociRef) Content() Content {
	return Content{Digest: digest.OfBlob(digest.Chart, o.ref), Fetch: o.fetch(Puller.ChartByDigest), Read: readChart}
}
