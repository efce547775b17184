// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"net/url"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	"github.com/crossplane-contrib/provider-kyma/internal/source/digest"
)

// A RemoteOption configures the access to the registry or chart repository of a source.
type RemoteOption func(*remote)

type remote struct{ oci.Registry }

// WithBasicAuth authenticates with a name and a password or token.
func WithBasicAuth(username, password string) RemoteOption {
	return func(r *remote) { r.Username, r.Password = username, password }
}

// WithDockerConfig authenticates with the contents of a Secret of type kubernetes.io/dockerconfigjson.
func WithDockerConfig(config []byte) RemoteOption {
	return func(r *remote) { r.DockerConfig = config }
}

// WithCABundle trusts the given PEM certificates in addition to the certificates of the system.
func WithCABundle(pem []byte) RemoteOption {
	return func(r *remote) { r.CABundle = pem }
}

// WithTokenHost adds a host to which the credentials can be sent if the registry uses it as its token service. Credentials are
// always sent to the host of the registry and to the token services of well-known registries. You can use this option
// repeatedly.
func WithTokenHost(host string) RemoteOption {
	return func(r *remote) { r.TokenHosts = append(r.TokenHosts, host) }
}

// WithPlainHTTP connects to the host without TLS.
func WithPlainHTTP() RemoteOption {
	return func(r *remote) { r.PlainHTTP = true }
}

// pullers returns the client that all sources of a process share. The client caches content separately for each set of
// credentials.
var pullers = sync.OnceValues(func() (*pull.Client, error) { return pull.New() }) //nolint:gochecknoglobals // See above.

// OCI returns a layer with the artifact at [oci://]host[:port]/repository:tag or …@sha256:…. The artifact can be a Helm chart or
// a Flux artifact, or, by its own digest, a layer of either. The engine pulls it on demand and keeps it in memory. If a tag
// moves, the engine does not notice until something else changes; use a digest to be certain. Without options, the credentials
// come from the docker configuration of the process. Loopback hosts may be accessed without TLS.
func OCI(reference string, o ...RemoteOption) (Layer, error) {
	ref, err := oci.ParseReference(reference)
	if err != nil {
		return Layer{}, err
	}
	if ref.Tag == "" && ref.Digest == "" {
		return Layer{}, errors.Errorf("reference %q has neither a tag nor a digest", reference)
	}
	host, _, _ := strings.Cut(ref.Repository, "/")
	regs := registries(host, o)
	return pulled(digest.OfArtifact(ref.String()), func(ctx context.Context, p *pull.Client) (pull.Artifact, error) {
		return p.Artifact(ctx, regs, ref)
	}), nil
}

// ChartRepository returns a layer with a chart from the index.yaml of a Helm repository at http(s)://host[:port]/path. Version
// can be a range, as for helm --version: the engine selects the newest matching version when it pulls the chart, and does not
// notice a newer one until something else changes. Options and credentials work as for OCI.
func ChartRepository(repoURL, chart, version string, o ...RemoteOption) (Layer, error) {
	u, err := url.Parse(repoURL)
	switch {
	case err != nil, u.Host == "", u.Scheme != "https" && u.Scheme != "http":
		return Layer{}, errors.New("the URL of a chart repository must have the form http(s)://host[:port]/path")
	case u.User != nil:
		return Layer{}, errors.New("the URL of a chart repository must not contain credentials; use WithBasicAuth")
	case chart == "" || version == "":
		return Layer{}, errors.New("the chart name and the version are required")
	}
	regs := registries(u.Host, o)
	return pulled(digest.OfChart(repoURL, chart, version), func(ctx context.Context, p *pull.Client) (pull.Artifact, error) {
		return p.RepoChart(ctx, regs, repoURL, chart, version)
	}), nil
}

// registries returns the access rules of a source: the options for its own host, and the defaults for any other host. The archive
// of a chart can be on another host than its repository.
func registries(host string, o []RemoteOption) oci.Registries {
	if len(o) == 0 {
		return nil
	}
	r := remote{oci.Registry{Host: host, Ambient: true}}
	for _, f := range o {
		f(&r)
	}
	return oci.Registries{r.Registry, {Host: "*", Ambient: true}}
}

// pulled returns a layer that is pulled on demand.
func pulled(id string, get func(ctx context.Context, p *pull.Client) (pull.Artifact, error)) Layer {
	return Layer{Digest: id, Fetch: func(ctx context.Context) (Content, error) {
		p, err := pullers()
		if err != nil {
			return Content{}, err
		}
		a, err := get(ctx, p)
		if err != nil {
			return Content{}, err
		}
		return Content{Digest: a.Digest, Files: func() ([]File, error) {
			files, err := archive.ReadLayer(a.Data, archive.Limits{})
			return unpacked(files), err
		}}, nil
	}}
}
