// SPDX-License-Identifier: Apache-2.0

package access

import (
	"net/http"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/redact"
	"github.com/crossplane-contrib/provider-kyma/internal/target/connection"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// Options are the restrictions of a Manifest.
type Options struct {
	// User is the user as which requests are sent. If it is empty, requests are sent as the user of the credentials.
	User string
	// Lookup specifies which objects charts can look up. Origin is the config that specifies this, for messages.
	Lookup v1alpha1.LookupPolicy
	Origin string
	// Secrets receives the values of the Secrets that charts look up.
	Secrets *redact.Values
}

// restricted is a cluster with restrictions. It shares the connection, the cache and the mappings of the cluster.
type restricted struct {
	cluster.Cluster

	options Options
	rest    func() rest.Interface
}

// owned is a restricted cluster that sends requests as a different user.
type owned struct{ *restricted }

// New returns a cluster with restrictions. It sends no requests.
func New(c cluster.Cluster, o Options) (cluster.Cluster, error) {
	out := &restricted{Cluster: c, options: o, rest: c.REST}
	if o.User == "" {
		return out, nil
	}
	// Otherwise, requests would have permissions that the kubeconfig gives up by impersonating another user.
	if i, ok := c.(interface{ Impersonates() string }); ok && i.Impersonates() != "" {
		return nil, errors.Errorf("impersonate: the kubeconfig already impersonates %q; remove one of them", i.Impersonates())
	}
	out.rest = sync.OnceValue(out.impersonating)
	return &owned{restricted: out}, nil
}

// Unwrap returns the cluster without restrictions.
func (c *restricted) Unwrap() cluster.Cluster { return c.Cluster }

// KnowsUID reports whether the UID of the cluster is known to be this one. If the cluster cannot tell, it is.
func (c *restricted) KnowsUID(uid string) bool {
	known, ok := c.Cluster.(cluster.Identified)
	return !ok || known.KnowsUID(uid)
}

// LastVersion returns the last known version of the cluster, or an empty string.
func (c *restricted) LastVersion() string {
	if known, ok := c.Cluster.(interface{ LastVersion() string }); ok {
		return known.LastVersion()
	}
	return ""
}

// Ready returns an error if the cluster cannot be used at the moment.
func (c *restricted) Ready() error {
	if r, ok := c.Cluster.(interface{ Ready() error }); ok {
		return r.Ready() //nolint:wrapcheck // It is the error of the cluster.
	}
	return nil
}

// REST returns a client that sends requests as the user of the restrictions.
func (c *restricted) REST() rest.Interface { return c.rest() }

// Config returns the configuration for lookups.
func (c *restricted) Config() *rest.Config {
	rc := c.Cluster.Config()
	if rc == nil {
		return nil
	}
	if c.options.User != "" {
		rc.Wrap(func(next http.RoundTripper) http.RoundTripper { return &impersonator{next: next, user: c.options.User} })
	}
	prefix := prefixOf(rc)
	rc.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &gate{next: next, options: &c.options, prefix: prefix}
	})
	return rc
}

// Owner returns the cluster with the user of the credentials, for inventories. A module must not change the inventory, because
// it determines which objects the provider can delete, and its ServiceAccount needs no access to the inventory.
func (c *owned) Owner() cluster.Cluster { return c.Cluster }

// impersonating returns a REST client that impersonates the user. It uses the transport of the connection.
func (c *restricted) impersonating() rest.Interface {
	rc := c.Cluster.Config()
	if rc.Transport == nil {
		return failing(rc, errors.New("impersonate: the connection does not support impersonation"))
	}
	client := &http.Client{Transport: &impersonator{next: rc.Transport, user: c.options.User}}
	out, err := connection.RESTClient(rc, client)
	if err != nil {
		return failing(rc, err)
	}
	return out
}

// failing returns a REST client on which all requests fail.
func failing(rc *rest.Config, err error) rest.Interface {
	out, failed := connection.RESTClient(&rest.Config{Host: rc.Host, QPS: -1}, &http.Client{Transport: refusal{err}})
	if failed != nil {
		return nil
	}
	return out
}

// refusal fails all requests.
type refusal struct{ err error }

// RoundTrip returns the error.
func (r refusal) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

// impersonator sends requests as a user. The API server adds the groups of a ServiceAccount.
type impersonator struct {
	next http.RoundTripper
	user string
}

// RoundTrip sends a request as the user.
func (i *impersonator) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Impersonate-User", i.user)
	return i.next.RoundTrip(req)
}
