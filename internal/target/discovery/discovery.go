// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"io"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

const (
	// accept is for a list of API groups. In the aggregated format, which API servers know since Kubernetes 1.26, it contains their
	// kinds.
	accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," + acceptVersion
	// acceptVersion is for the resources of one version.
	acceptVersion = "application/json"
	// atOnce is the maximum number of documents that are requested at the same time.
	atOnce = 4
)

// A GetFunc sends a GET request for a path and returns the body of the response. The error is a *notfound.Error for each response 404,
// and otherwise one of k8s.io/apimachinery/pkg/api/errors.
type GetFunc func(ctx context.Context, path, accept string) (io.ReadCloser, error)

// A Server is the API server of a cluster.
type Server struct {
	// Host is its scheme, host and port, for errors.
	Host   string
	Get    GetFunc
	Limits Limits
}

// APIVersions returns the API versions and kinds that the server serves, sorted, as group/version and group/version/Kind. It omits the
// kinds of groups whose server is unavailable. The error is a *LimitError if they exceed the limits, and a *notfound.Error if the
// response is from a server that is not an API server.
func (s *Server) APIVersions(ctx context.Context) ([]string, error) {
	t := &tally{host: s.Host, limits: s.Limits.withDefaults(), start: time.Now()}
	var groups []group
	for _, path := range []string{"/api", "/apis"} {
		err := s.read(ctx, t, path, accept, func(d *document) error {
			found, err := d.groups()
			groups = append(groups, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	named := func(g group) bool { return g.name != "" }
	core := func(g group) bool { return g.name == "" }
	if !slices.ContainsFunc(groups, core) || !slices.ContainsFunc(groups, named) {
		return nil, &notfound.Error{Host: s.Host}
	}
	if err := s.readKinds(ctx, t, groups); err != nil {
		return nil, err
	}
	return list(groups, t)
}

// readKinds reads the kinds of the versions for which they are not known.
func (s *Server) readKinds(ctx context.Context, t *tally, groups []group) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(atOnce)
	for _, g := range groups {
		for _, v := range g.versions {
			if v.kinds == nil {
				all.Go(func() error { return s.readVersion(ctx, t, g, v) })
			}
		}
	}
	return all.Wait()
}

// readVersion reads the kinds of a version, unless its server is unavailable.
func (s *Server) readVersion(ctx context.Context, t *tally, g group, v *version) (err error) {
	defer panics.Into(&err, "the discovery documents of a cluster")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := t.late(); err != nil {
		return err
	}
	path := notfound.Path(schema.GroupVersion{Group: g.name, Version: v.name})
	err = s.read(ctx, t, path, acceptVersion, func(d *document) (err error) {
		v.kinds, err = d.resources()
		return err
	})
	if isUnavailable(err) {
		return nil
	}
	return err
}

// read requests a document, and calls a function that reads it.
func (s *Server) read(ctx context.Context, t *tally, path, formats string, f func(*document) error) error {
	body, err := s.Get(ctx, path, formats)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return f(newDocument(path, body, t))
}

// isUnavailable reports whether the server of a group, which is not always the API server itself, can't respond.
func isUnavailable(err error) bool {
	s := kerrors.APIStatus(nil)
	return errors.As(err, &s) && (s.Status().Code >= http.StatusInternalServerError || s.Status().Code == http.StatusForbidden)
}

// list returns the versions of groups and their kinds, sorted.
func list(groups []group, t *tally) ([]string, error) {
	var all []string
	for _, g := range groups {
		for _, v := range g.versions {
			if v.stale {
				continue
			}
			name := schema.GroupVersion{Group: g.name, Version: v.name}.String()
			if err := t.add(Limits{Names: len(name) + (len(name)+1)*len(v.kinds)}); err != nil {
				return nil, err
			}
			all = append(all, name)
			for kind := range v.kinds {
				all = append(all, name+"/"+kind)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
