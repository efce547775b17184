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

// A RemoteOption describes how to reach the registry or chart repository of a source.
type RemoteOption func(*remote)

type remote struct{ oci.Registry }

// WithBasicAuth logs in with a name and a password or token.
func WithBasicAuth(username, password string) RemoteOption {
	return func(r *remote) { r.Username, r.Password = username, password }
}

// WithDockerConfig logs in with the content of a Secret of type kubernetes.io/dockerconfigjson.
func WithDockerConfig(config []byte) RemoteOption {
	return func(r *remote) { r.DockerConfig = config }
}

// WithCABundle trusts certificates, as PEM, besides those of the system.
func WithCABundle(pem []byte) RemoteOption {
	return func(r *remote) { r.CABundle = pem }
}

// WithPlainHTTP connects to the host without TLS.
func WithPlainHTTP() RemoteOption {
	return func(r *remote) { r.PlainHTTP = true }
}

// pullers is the one cache of all sources of a process. It keeps the content of different credentials apart.
var pullers = sync.OnceValues(func() (*pull.Client, error) { return pull.New() }) //nolint:gochecknoglobals // See above.

// OCI returns what a registry has at [oci://]host[:port]/repository:tag or …@sha256:…: a Helm chart, an artifact of Flux,
// or by its own digest a layer of either form. The engine pulls it when it needs it, and keeps it in memory. It does not
// notice a tag that moves while nothing else changes; a digest cannot move. Without an option, the credentials are those of
// the docker configuration of the process. Hosts of the loopback interface may do without TLS.
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

// ChartRepository returns a chart of a Helm repository at http(s)://host[:port]/path, whose index.yaml lists it. Version may
// be a range, as of helm --version: the engine takes the newest version in it when it pulls the chart, and does not notice
// a newer one while nothing else changes. Options and credentials are as with OCI.
func ChartRepository(repoURL, chart, version string, o ...RemoteOption) (Layer, error) {
	u, err := url.Parse(repoURL)
	switch {
	case err != nil, u.Host == "", u.Scheme != "https" && u.Scheme != "http":
		return Layer{}, errors.New("the address of a chart repository is http(s)://host[:port]/path")
	case u.User != nil:
		return Layer{}, errors.New("the address of a chart repository has no credentials in it; use WithBasicAuth")
	case chart == "" || version == "":
		return Layer{}, errors.New("a chart repository is asked for a chart and a version of it")
	}
	regs := registries(u.Host, o)
	return pulled(digest.OfChart(repoURL, chart, version), func(ctx context.Context, p *pull.Client) (pull.Artifact, error) {
		return p.RepoChart(ctx, regs, repoURL, chart, version)
	}), nil
}

// registries returns the rules for a source: its own host with the options, and any other one, because the archive of a
// chart may be on another host than its repository.
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

// pulled returns a layer that is pulled when it is needed.
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
