// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"encoding/json"
	"io"

	"k8s.io/apimachinery/pkg/version"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/discovery"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// mostVersion is the maximum size of a version in bytes. That of an API server has about 20.
const mostVersion = 256

// apis is the result of a discovery: the API versions, or the limit that they exceed.
type apis struct {
	versions []string
	exceeded *discovery.LimitError
}

// APIVersions returns the API versions that the cluster serves, sorted, as group/version and group/version/Kind. It
// requests them at most once a minute. The kinds of groups whose server is unavailable are omitted. If there are too many,
// the error is a *discovery.LimitError.
func (c *Cluster) APIVersions(ctx context.Context) ([]string, error) {
	all, err := c.versions.get(ctx, versionsFor, c.discover)
	if err != nil {
		return nil, err
	}
	if all.exceeded != nil {
		return nil, all.exceeded
	}
	return all.versions, nil
}

func (c *Cluster) discover(ctx context.Context) (apis, error) {
	s := discovery.Server{Host: c.Host(), Get: c.document}
	versions, err := s.APIVersions(ctx)
	if transport.IsTooLarge(err) {
		err = s.Limits.ErrorForBytes(s.Host)
	}
	if e := (*discovery.LimitError)(nil); errors.As(err, &e) {
		return apis{exceeded: e}, nil
	}
	return apis{versions: versions}, err
}

// document requests a discovery document. Its body counts in the budget of the process until it is closed.
func (c *Cluster) document(ctx context.Context, path, accept string) (io.ReadCloser, error) {
	body, err := c.rest.Get().AbsPath(path).SetHeader("Accept", accept).Stream(ctx)
	if notfound.Foreign(err) || notfound.Is(err) {
		return nil, c.foreign()
	}
	return body, err
}

// Version returns the version of the cluster. It sends at most one request per hour.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	return c.version.get(ctx, versionFor, c.requestVersion)
}

func (c *Cluster) requestVersion(ctx context.Context) (string, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	data, err := c.get(ctx, "/version")
	if err != nil {
		return "", errors.Wrap(err, "cannot get the version of the cluster")
	}
	info := &version.Info{}
	if err := json.Unmarshal(data, info); err != nil || info.GitVersion == "" {
		return "", errors.New("cannot get the version of the cluster: the response contains no version")
	}
	if len(info.GitVersion) > mostVersion {
		return "", errors.Errorf("cannot get the version of the cluster: the version in the response has more than %d bytes", mostVersion)
	}
	found := info.GitVersion // A pointer to the field would keep the other fields, almost 1 KB for each cluster.
	if before := c.known.Swap(&found); before == nil || *before != found {
		c.notify()
	}
	return found, nil
}

// LastVersion returns the last result of Version, or an empty string. It sends no requests.
func (c *Cluster) LastVersion() string {
	if v := c.known.Load(); v != nil {
		return *v
	}
	return ""
}
