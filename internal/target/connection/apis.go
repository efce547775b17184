// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/discovery"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

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
