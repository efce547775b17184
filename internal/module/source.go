// SPDX-License-Identifier: Apache-2.0

package module

import (
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

// Normalisations of resource digests, as component descriptors name them.
const (
	blobDigest     = "genericBlobDigest/v1"
	artifactDigest = "ociArtifactDigest/v1"
)

// isChartURL matches what the API accepts as the url of a chart.
var isChartURL = regexp.MustCompile(`^(oci|http|https)://[^\s/@]+(/[^\s]*)?$`)

// A sourcer makes the sources of the resources of one component.
type sourcer struct {
	component string
	// location is the location of the component, or nil.
	location *ocm.Location
}

// layer returns the source of a blob.
func (s *sourcer) layer(r *ocm.Resource) (*v1alpha1.Source, error) {
	switch r.Access.Type {
	case ocm.AccessLocalOCIBlob, ocm.AccessLocalBlob:
		if s.location == nil {
			return nil, errors.Errorf("access %s requires a repository context of type ociRegistry, but the descriptor has none", r.Access.Type)
		}
		repo, name, err := s.location.Repository(s.component)
		if err != nil {
			return nil, errors.Wrap(err, "cannot determine the repository")
		}
		return blob(r, repo, name)
	case ocm.AccessOCIBlob:
		ref, err := parseReference(r.Access.Reference)
		if err != nil {
			return nil, errors.Wrap(err, "access ociBlob")
		}
		return blob(r, ref.repo, ref.name)
	}
	return nil, errors.Errorf("access %q is not supported for type %q: must be localOciBlob, localBlob or ociBlob", r.Access.Type, r.Type)
}

// blob returns the source of a blob in a repository. The digest by which it is fetched must be the one that signatures
// cover.
func blob(r *ocm.Resource, repo, name string) (*v1alpha1.Source, error) {
	if !isDigest.MatchString(r.Access.Digest) {
		return nil, errors.Errorf("access %s has malformed digest %.100q: must be sha256: followed by 64 hexadecimal digits", r.Access.Type, r.Access.Digest)
	}
	if d := digestOf(r, ""); d != "" && d != r.Access.Digest {
		return nil, errors.Errorf("access %s refers to %s, but the digest of the resource is %.140s: they must be equal", r.Access.Type, r.Access.Digest, d)
	}
	return source.OCIRef(repo, name, r.Access.Digest), nil
}

// chart returns the source of a chart.
func (s *sourcer) chart(r *ocm.Resource) (*v1alpha1.Source, error) {
	switch r.Access.Type {
	case ocm.AccessOCIRegistry, ocm.AccessOCIArtifact:
		return chartArtifact(r, r.Access.Reference)
	case ocm.AccessRelativeOCI:
		if s.location == nil {
			return nil, errors.Errorf("access %s requires a repository context of type ociRegistry, but the descriptor has none", r.Access.Type)
		}
		return chartArtifact(r, relative(s.location, r.Access.Reference))
	case ocm.AccessHelmChart:
		return chartOf(r.Access.ChartURL, r.Access.ChartName, r.Access.ChartVersion)
	case ocm.AccessLocalOCIBlob, ocm.AccessLocalBlob, ocm.AccessOCIBlob:
		return s.layer(r)
	}
	return nil, errors.Errorf("access %q is not supported for charts: must be localOciBlob, localBlob, ociBlob, "+
		"ociArtifact, ociRegistry, relativeOciReference or helmChartRepository", r.Access.Type)
}

// relative returns the absolute form of a reference that is relative to a repository context.
func relative(l *ocm.Location, reference string) string {
	parts := make([]string, 0, 3)
	for _, p := range []string{withoutScheme(l.BaseURL), l.SubPath, reference} {
		if p = strings.Trim(p, "/"); p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "/")
}

// chartArtifact returns the source of a chart that is a separate artifact. It uses the digest if one is known.
func chartArtifact(r *ocm.Resource, at string) (*v1alpha1.Source, error) {
	ref, err := parseReference(at)
	if err != nil {
		return nil, errors.Wrapf(err, "access %s", r.Access.Type)
	}
	digest := digestOf(r, artifactDigest)
	switch {
	case ref.digest != "" && digest != "" && ref.digest != digest:
		return nil, errors.Errorf("access %s refers to %s, but the digest of the resource is %.140s: they must be equal", r.Access.Type, ref.digest, digest)
	case digest == "":
		digest = ref.digest
	}
	if digest != "" {
		if !isDigest.MatchString(digest) {
			return nil, errors.Errorf("malformed digest %.140q of the resource: must be 64 hexadecimal digits", digest)
		}
		return source.OCIRef(ref.repo, ref.name, digest), nil
	}
	if ref.tag == "" {
		return nil, errors.Errorf("access %s refers to %.300q, which has neither a tag nor a digest", r.Access.Type, at)
	}
	return chartOf("oci://"+ref.repo, ref.name, ref.tag)
}

// chartOf returns the source of a chart in a registry or chart repository, by version.
func chartOf(url, name, version string) (*v1alpha1.Source, error) {
	switch {
	case strings.Contains(url, "@"):
		return nil, errors.New("the URL of the chart contains credentials: store them in a Secret, and set pullSecretRef " +
			"in spec.registries of the ProviderConfig")
	case !isChartURL.MatchString(url):
		return nil, errors.Errorf("malformed chart URL %.300q: must begin with oci://, https:// or http://, followed by a host", url)
	case name == "":
		return nil, errors.New("the name of the chart is missing")
	case version == "":
		return nil, errors.New("the version of the chart is missing, so its content could change")
	}
	return source.HelmChart(url, name, version), nil
}

// digestOf returns the digest of a resource as sha256:… if it has the given normalisation; an empty one matches any. It
// returns "" for a resource that has no digest or is excluded from signatures.
func digestOf(r *ocm.Resource, normalisation string) string {
	d := r.Digest
	switch {
	case d == nil, normalisation != "" && d.NormalisationAlgorithm != normalisation:
		return ""
	case d.NormalisationAlgorithm != blobDigest && d.NormalisationAlgorithm != artifactDigest:
		return ""
	case d.HashAlgorithm != "sha256" && d.HashAlgorithm != "SHA-256":
		return ""
	}
	return "sha256:" + strings.ToLower(d.Value)
}
