// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

// Patterns of fields in the API.
var (
	isDigest    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	isRepo      = regexp.MustCompile(`^[^@\s]{1,512}$`)
	isComponent = regexp.MustCompile(`^[^@:\s]{1,255}$`)
	isURL       = regexp.MustCompile(`^(oci|http|https)://[^\s/@]+(/\S*)?$`)
	isChart     = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9._/]{0,251}[A-Za-z0-9])?$`)
)

const (
	maxURL          = 2048
	maxChartVersion = 128
)

// A layerFunc returns the source of a layer.
type layerFunc func(repo, name, ref string) *v1alpha1.Source

// source returns the source of an install; nil if it is lost. An oci-ref becomes a layer, whose type depends on the
// version of the Manifest.
func (c *manifestConverter) source(at string, in map[string]any, layer layerFunc) (*v1alpha1.Source, error) {
	kind, err := text(in, "type")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "oci-ref":
		return c.layer(at, in, layer)
	case "oci-dir":
		return c.layer(at, in, source.Raw)
	case "helm-chart":
		return c.chart(at, in)
	case "kustomize":
		url, _ := in["url"].(string)
		path, _ := in["path"].(string)
		c.lose(at, "kustomization with url %q and path %q: installing from git or a directory is not supported; build a "+
			"module from it with kymactl module create", url, path)
		return nil, nil //nolint:nilnil // It is lost.
	}
	return nil, errors.Errorf("type: invalid value %q: must be oci-ref, oci-dir, helm-chart or kustomize", kind)
}

// layer returns the source of a layer of an artifact, by digest.
func (c *manifestConverter) layer(at string, in map[string]any, as layerFunc) (*v1alpha1.Source, error) {
	if t, _ := in["type"].(string); t != "oci-ref" && t != "oci-dir" {
		return nil, errors.Errorf("type: invalid value %q: must be oci-ref", t)
	}
	var v [3]string
	for i, field := range []string{"repo", "name", "ref"} {
		s, err := text(in, field)
		if err != nil {
			return nil, err
		}
		if s == "" {
			return nil, errors.Errorf("%s is missing", field)
		}
		v[i] = s
	}
	out := as(c.host(at, v[0]), v[1], v[2])
	switch {
	case !isRepo.MatchString(out.Repo):
		return nil, errors.Errorf("repo %q is not a valid repository", out.Repo)
	case !isComponent.MatchString(out.Name):
		return nil, errors.Errorf("name %q is not a valid repository name", out.Name)
	case !isDigest.MatchString(out.Ref):
		return nil, errors.Errorf("ref %q is not a digest: must be sha256: followed by 64 hexadecimal digits; kymactl "+
			"module inspect shows the digests", out.Ref)
	}
	if !empty(in["credSecretSelector"]) {
		c.lose(at+".credSecretSelector", "registry credentials are set in the ProviderConfig")
	}
	c.unknown(at+".", in, []string{"type", "repo", "name", "ref", "credSecretSelector"})
	return out, nil
}

// host returns a repository without the scheme that some versions of the original wrote.
func (c *manifestConverter) host(at, repo string) string {
	if rest, ok := strings.CutPrefix(repo, "http://"); ok {
		c.lose(at+".repo", "http://; set plainHTTP for the host in spec.registries of the ProviderConfig")
		return rest
	}
	return strings.TrimPrefix(repo, "https://")
}

// chart returns the source of a chart in an OCI registry or a chart repository.
func (c *manifestConverter) chart(at string, in map[string]any) (*v1alpha1.Source, error) {
	out := source.HelmChart("", "", "")
	for _, f := range []struct {
		field string
		to    *string
	}{{"url", &out.URL}, {"chartName", &out.ChartName}, {"version", &out.Version}} {
		s, err := text(in, f.field)
		if err != nil {
			return nil, err
		}
		*f.to = s
	}
	switch {
	case !isURL.MatchString(out.URL) || len(out.URL) > maxURL:
		return nil, errors.New("url must begin with oci://, https:// or http://, followed by a host, and must not contain credentials")
	case !isChart.MatchString(out.ChartName):
		return nil, errors.Errorf("chartName %q is not a valid chart name", out.ChartName)
	case len(out.Version) > maxChartVersion:
		return nil, errors.Errorf("version is longer than %d bytes", maxChartVersion)
	case out.Version == "" && strings.HasPrefix(out.URL, "oci://"):
		return nil, errors.New("version is missing; a chart from an oci:// url requires one")
	}
	c.unknown(at+".", in, []string{"type", "url", "chartName", "version"})
	return out, nil
}
