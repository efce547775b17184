// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A realm is a server where credentials for some registries are exchanged for tokens.
type realm struct {
	registry *regexp.Regexp
	// tokens is the host of the token service. It can refer to groups of the expression.
	tokens string
}

// realms returns the known registries whose token service has a different host. For most registries, it has the same host.
//
//nolint:gochecknoglobals // It does not change.
var realms = sync.OnceValue(func() []realm {
	out := []realm{}
	for _, r := range []struct{ registry, tokens string }{
		{`index\.docker\.io`, "auth.docker.io"},
		{`docker\.elastic\.co`, "docker-auth.elastic.co"},
		{`registry\.digitalocean\.com`, "api.digitalocean.com"},
		{`registry\.gitlab\.com`, "gitlab.com"},
		{`[a-z0-9-]+\.gcr\.io`, "gcr.io"},
		{`registry(-intl)?\.([a-z0-9-]+)\.aliyuncs\.com`, "dockerauth.$2.aliyuncs.com"},
		{`rg\.[a-z0-9-]+\.scw\.cloud`, "api.scaleway.com"},
	} {
		out = append(out, realm{registry: regexp.MustCompile("^" + r.registry + "$"), tokens: r.tokens})
	}
	return out
})

// tokenHostsOf returns the hosts of the token service of a known registry, if it is not the registry itself.
func tokenHostsOf(registry string) []string {
	for _, r := range realms() {
		if r.registry.MatchString(registry) {
			return []string{r.registry.ReplaceAllString(registry, r.tokens)}
		}
	}
	return nil
}

// A keeper restricts the credentials of a registry to the hosts that they are intended for. A registry specifies the host of
// its token service in a header, which must not be enough to obtain the credentials. Requests to other token services are sent
// without credentials.
type keeper struct {
	wire *wire
	next http.RoundTripper

	// withheld is the last host to which the credentials were not sent.
	withheld atomic.Pointer[string]
}

// RoundTrip sends a request. If the credentials are not intended for the host, it removes them.
func (k *keeper) RoundTrip(in *http.Request) (*http.Response, error) {
	if k.wire.trusts(in.URL.Host) {
		return k.next.RoundTrip(in)
	}
	switch {
	case strings.HasPrefix(in.Header.Get("Authorization"), "Basic "):
		k.withheld.Store(&in.URL.Host)
		r := in.Clone(in.Context())
		r.Header.Del("Authorization")
		return k.next.RoundTrip(r)
	case isForm(in):
		// The form contains a refresh token. A service that does not support this request is asked without credentials.
		k.withheld.Store(&in.URL.Host)
		if err := in.Body.Close(); err != nil {
			return nil, err
		}
		return &http.Response{
			Status: "404 Not Found", StatusCode: http.StatusNotFound, Proto: in.Proto, ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: in,
		}, nil
	}
	return k.next.RoundTrip(in)
}

// isForm reports whether a request contains a form. Only token requests do.
func isForm(r *http.Request) bool {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && t == "application/x-www-form-urlencoded" && r.Body != nil
}

// A withheldError reports that a registry rejected a request after its credentials were not sent to its token service.
type withheldError struct {
	// host is the host of the token service.
	host string

	cause error
}

// Error returns the error of the registry.
func (e *withheldError) Error() string { return e.cause.Error() }

// Unwrap returns the error of the registry.
func (e *withheldError) Unwrap() error { return e.cause }

// explain adds the information that credentials were not sent to the error of a rejected request.
func (k *keeper) explain(err error) error {
	host := k.withheld.Load()
	if code := Status(err); host == nil || code != http.StatusUnauthorized && code != http.StatusForbidden {
		return err
	}
	return &withheldError{host: *host, cause: err}
}

// explainWithheld returns an error that explains what to do if the credentials were not sent to a token service, or nil.
func (a *advice) explainWithheld(err error, host string) error {
	w := (*withheldError)(nil)
	if !errors.As(err, &w) {
		return nil
	}
	return errors.Errorf("host %q requires credentials (%d %s), but they are not sent to its token service on host %q; "+
		"if that host belongs to the registry, %s", host, Status(err), http.StatusText(Status(err)), OneLine(w.host), a.tokens)
}

// trusts reports whether the credentials of the registry can be sent to host[:port].
func (w *wire) trusts(host string) bool {
	if w.owns(host) {
		return true
	}
	return slices.ContainsFunc(w.tokens, func(t string) bool { return w.normal(t) == w.normal(host) })
}
