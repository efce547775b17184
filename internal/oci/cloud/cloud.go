// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

const (
	// loginTimeout bounds the time to get credentials.
	loginTimeout = 30 * time.Second

	// early is how long before their expiry credentials are replaced.
	early = time.Minute

	// pause is how long a failure is kept, because each attempt may be slow and many callers wait for it.
	pause = 10 * time.Second

	// maxLogins bounds the cached credentials of each cloud.
	maxLogins = 256
)

// A login holds credentials for a registry.
type login struct {
	user, password string
	expires        time.Time
}

// A source gets credentials for the registry at a host.
type source func(ctx context.Context, host string) (login, error)

// An identity is the identity of this process in a cloud. It implements oci.Identity.
type identity struct {
	provider string
	hosts    *regexp.Regexp
	source   source

	// explain returns the message of an error without the parts that differ between attempts.
	explain func(err error) string

	logins *lru.Cache // result by host
	flight singleflight.Group
}

// A result is a login, or the error of getting one, and the time until which it is used.
type result struct {
	login login
	err   error
	from  time.Time
	until time.Time
}

// Identities holds the identities of this process, one for each cloud. The zero value is ready for use, and one is
// enough for a process.
type Identities struct {
	once sync.Once
	all  []*identity
}

// Identity returns the identity in the cloud of provider (aws, azure or gcp) for the registry at host. It fails if
// host is not a registry of that cloud.
func (i *Identities) Identity(provider, host string) (oci.Identity, error) {
	i.once.Do(func() { i.all = []*identity{newAWS(), newAzure(), newGoogle()} })
	for _, known := range i.all {
		if known.provider != provider {
			continue
		}
		if !known.hosts.MatchString(strings.ToLower(host)) {
			return nil, errors.Errorf("%q is not a registry host of %s", oci.OneLine(host), provider)
		}
		return known, nil
	}
	return nil, errors.Errorf("unknown provider %q: must be aws, azure or gcp", oci.OneLine(provider))
}

func newIdentity(provider, hosts string, s source, explain func(err error) string) *identity {
	return &identity{provider: provider, hosts: regexp.MustCompile(hosts), source: s, explain: explain, logins: lru.New(maxLogins)}
}

// Name implements oci.Identity.
func (i *identity) Name() string { return i.provider }

// Credentials implements oci.Identity. Concurrent calls for a host wait for one login.
func (i *identity) Credentials(ctx context.Context, host string) (user, password string, err error) {
	if known, ok := i.logins.Get(host); ok {
		r := known.(result) //nolint:forcetypeassert // Only obtain adds to logins.
		if time.Now().Before(r.until) {
			return r.login.user, r.login.password, r.err
		}
	}
	done := i.flight.DoChan(host, func() (any, error) {
		r := i.obtain(context.WithoutCancel(ctx), host)
		i.logins.Add(host, r)
		return r, nil
	})
	select {
	case <-ctx.Done():
		return "", "", context.Cause(ctx)
	case d := <-done:
		r := d.Val.(result) //nolint:forcetypeassert // The function above returns it.
		return r.login.user, r.login.password, r.err
	}
}

// Forget implements oci.Identity. Credentials that are only a few seconds old are kept, so that a registry that rejects all
// credentials does not cause a login for each request.
func (i *identity) Forget(host string) {
	known, ok := i.logins.Get(host)
	if !ok {
		return
	}
	if r := known.(result); r.err == nil && time.Since(r.from) >= pause { //nolint:forcetypeassert // Only obtain adds to logins.
		i.logins.Remove(host)
	}
}

// obtain requests a login from the cloud.
func (i *identity) obtain(ctx context.Context, host string) result {
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	l, err := panics.Value("the credentials for host "+host, func() (login, error) { return i.source(ctx, host) })
	switch {
	case err == nil:
		return result{login: l, from: time.Now(), until: l.expires.Add(-early)}
	case panics.Is(err):
	case ctx.Err() != nil:
		err = errors.Errorf("%s did not return credentials for host %q within %s", i.provider, host, loginTimeout)
	default:
		err = errors.Errorf("%s did not return credentials for host %q: %s", i.provider, host, oci.OneLine(i.explain(err)))
	}
	return result{err: err, until: time.Now().Add(pause)}
}
