// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"net/url"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/name"
)

// A Repository is a repository of a registry, with the settings and credentials to access it.
type Repository struct {
	*endpoint

	name name.Repository
}

// Repository returns the repository host[:port]/path, with its settings in rs. A scheme before it is accepted and
// ignored.
func (rs Registries) Repository(repo string) (*Repository, error) {
	bare := repo
	for _, s := range []string{"oci://", "https://", "http://"} {
		bare = strings.TrimPrefix(bare, s)
	}
	host, path, _ := strings.Cut(bare, "/")
	path = strings.Trim(path, "/")
	if strings.Contains(host, "@") {
		return nil, errors.Errorf("repository %q contains credentials: store them in a Secret, and set pullSecretRef in "+
			"spec.registries of the ProviderConfig", Redact(repo))
	}
	if !isPath.MatchString(path) {
		return nil, errors.Errorf("malformed repository %q: must be host[:port]/path, with a path of lowercase letters, "+
			"digits, '.', '_', '-' or '/'", Redact(repo))
	}
	e, err := rs.endpoint(host, path)
	if err != nil {
		return nil, err
	}
	reg, err := name.NewRegistry(e.host, name.StrictValidation)
	if err != nil {
		return nil, errors.Errorf("malformed host in repository %q", Redact(repo))
	}
	return &Repository{endpoint: e, name: reg.Repo(path)}, nil
}

// Path returns the path of the repository on its host.
func (r *Repository) Path() string { return r.name.RepositoryStr() }

// Scope identifies who delivers the content of the repository: its server.
func (r *Repository) Scope() string { return r.server }

// Caller identifies the server and our credentials.
func (r *Repository) Caller() string { return r.caller }

// Key identifies something in the repository as seen with our credentials.
func (r *Repository) Key(what string) string {
	return r.caller + " " + r.Path() + " " + what
}

// ReferredBy returns the repository for a reference in the index of the chart repository at from. Unless the repository is on the
// same server as from, or the list of registries contains its host, the server must be on the Internet. The same then applies to
// all servers to which it refers. Credentials stay the same.
func (r *Repository) ReferredBy(from *url.URL) *Repository {
	return &Repository{endpoint: r.referredBy(from, r.host), name: r.name}
}
