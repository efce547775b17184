// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/source/digest"
)

func init() {
	Register(v1alpha1.SourceTypeHelmChart, func(s v1alpha1.Source) Source {
		return &helmChart{url: s.URL, name: s.ChartName, version: s.Version}
	})
}

// ociScheme is the prefix of the URL of a registry. All other URLs belong to chart repositories.
const ociScheme = "oci://"

// These are limits of the API, in characters.
const (
	maxURL     = 2048
	maxName    = 253
	maxVersion = 128
)

// isChartName matches the chart names that the API allows.
var isChartName = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9._/]*[A-Za-z0-9])?$`)

// helmChart is a chart in a registry or chart repository, by version.
type helmChart struct{ url, name, version string }

// HelmChart returns the source of a chart by version.
func HelmChart(url, name, version string) *v1alpha1.Source {
	return &v1alpha1.Source{Type: v1alpha1.SourceTypeHelmChart, URL: url, ChartName: name, Version: version}
}

// String returns url/name:version.
func (h *helmChart) String() string {
	return strings.TrimSuffix(h.url, "/") + "/" + h.name + ":" + h.version
}

// Validate returns an error if a field is too long or the name is malformed.
func (h *helmChart) Validate() error {
	switch {
	case len(h.url) > maxURL:
		return errors.Errorf("the URL of the chart is longer than %d characters", maxURL)
	case len(h.name) > maxName || !isChartName.MatchString(h.name):
		return errors.Errorf("invalid chart name %.100q: must consist of at most %d letters, digits, '.', '_', '-' or '/'", h.name, maxName)
	case len(h.version) > maxVersion:
		return errors.Errorf("chart version %.100q… is longer than %d characters", h.version, maxVersion)
	}
	return nil
}

// SignedDigest returns an error, because a version can move.
func (*helmChart) SignedDigest() (string, error) {
	return "", errors.New("a chart that is specified by version cannot be verified, because its content can change; use type oci-ref with a digest")
}

// Content returns the content of the chart.
func (h *helmChart) Content() Content {
	return Content{Digest: digest.OfChart(h.url, h.name, h.version), Fetch: h.fetch, Read: readChart}
}

// readChart returns the files of a chart, none of which is larger than a chart can have.
func readChart(data []byte, l archive.Limits) ([]archive.File, error) {
	l.File = input.MaxFile
	return archive.Read(data, l)
}

func (h *helmChart) fetch(ctx context.Context, p Puller, allowed RegistriesFunc) (pull.Artifact, error) {
	regs, err := allowed(ctx)
	if err != nil {
		return pull.Artifact{}, err
	}
	if strings.HasPrefix(h.url, ociScheme) {
		return p.Chart(ctx, regs, h.url, h.name, h.version)
	}
	return p.RepoChart(ctx, regs, h.url, h.name, h.version)
}
