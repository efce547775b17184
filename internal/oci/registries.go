// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
)

// A Registry describes how to reach one registry or chart repository, and with which credentials. Its secrets are
// already resolved. At most one kind of credentials is used: Username and Password if Username is set, otherwise the
// entry of DockerConfig that matches the repository best, otherwise none.
type Registry struct {
	// Host is host[:port], as in image references. docker.io means Docker Hub. * matches all hosts that are not
	// listed.
	Host string

	// DockerConfig is the content of a kubernetes.io/dockerconfigjson secret, or nil. Its credential helpers are
	// ignored.
	DockerConfig []byte

	// Username and Password are for basic authentication; both may be empty.
	Username string
	Password string

	// Identity provides the credentials instead of the fields above, or is nil. It requires TLS.
	Identity Identity

	// CABundle holds certificates in PEM that are trusted in addition to those of the system, or is nil.
	CABundle []byte

	// PlainHTTP makes requests to Host without TLS.
	PlainHTTP bool

	// SkipTLSVerify accepts any certificate of Host. It is for a user at a command line who asks for it; nothing in a
	// cluster can set it.
	SkipTLSVerify bool

	// TokenHosts lists additional hosts, host[:port], to which credentials can be sent if the registry uses them as its token
	// service. Credentials are always sent to Host itself and to the token services of known registries.
	TokenHosts []string

	// Tenant is true if a tenant wrote the entry. Addresses that are refused to tenants are then refused; see netguard.Trust.
	Tenant bool

	// Ambient uses credentials from the docker configuration of this process, including its credential helpers, if
	// none are given above.
	Ambient bool
}

// Registries lists the hosts that content may come from. Nil or empty allows any host, with its credentials from the
// docker configuration of this process, if any. Otherwise a host that is not listed is refused with a
// RegistryNotAllowedError, before any request and even if the content is cached, unless * is listed. If * is listed,
// or the list is empty, loopback hosts may use plain HTTP.
type Registries []Registry

// anyHost is the host of the entry for all hosts that are not listed.
const anyHost = "*"

// scheme is the set of URL schemes that an endpoint may use.
type scheme int

const (
	schemeTLS    scheme = iota // HTTPS only.
	schemePlain                // HTTP only.
	schemeEither               // HTTPS is tried first; loopback hosts only.
)

// An endpoint is one host with everything needed to reach it.
type endpoint struct {
	host   string
	scheme scheme
	ca     []byte

	// insecure accepts any certificate.
	insecure bool

	// trust specifies who chose the host, or the server that referred to it.
	trust netguard.Trust

	// referred is true if a server specified the host, and the list of registries does not contain it.
	referred bool

	// tokens lists the other hosts to which credentials can be sent.
	tokens []string

	// listed lists all hosts of the list of registries.
	listed []string

	// auth is nil to use the docker configuration of the process.
	auth authn.Authenticator

	// server identifies the server: host, scheme and trusted certificates.
	server string

	// wire identifies the connections to the server, and to the other servers to which it can refer.
	wire string

	// caller identifies the server together with the credentials, and who chose the host, so that content from an address is not
	// in the cache for those to whom the address is refused.
	caller string
}

// Host returns host[:port] in its normal form.
func (e *endpoint) Host() string { return e.host }

// endpoint returns the endpoint for path on host. The path matters because docker configurations may have different
// credentials for parts of a host.
func (rs Registries) endpoint(host, path string) (*endpoint, error) {
	host = normalHost(host)
	if len(rs) == 0 {
		e := &endpoint{host: host, scheme: schemeTLS, trust: netguard.Platform, tokens: tokenHostsOf(host)}
		if isLoopback(host) {
			e.scheme = schemeEither
		}
		return e.identify("process"), nil
	}
	var open *Registry
	for i := range rs {
		if rs[i].Host == anyHost {
			open = &rs[i]
		}
	}
	for i := range rs {
		if normalHost(rs[i].Host) == host {
			return rs[i].endpoint(host, path, open != nil, rs.hosts())
		}
	}
	if open != nil {
		return open.endpoint(host, path, true, rs.hosts())
	}
	return nil, &RegistryNotAllowedError{Host: host}
}

// hosts returns the hosts that are listed.
func (rs Registries) hosts() []string {
	var out []string
	for i := range rs {
		if rs[i].Host != anyHost {
			out = append(out, rs[i].Host)
		}
	}
	return out
}

// endpoint returns the endpoint of host with the settings of this entry. lenient allows plain HTTP for a loopback host. listed
// lists all hosts in the author's list of registries.
func (r *Registry) endpoint(host, path string, lenient bool, listed []string) (*endpoint, error) {
	e := &endpoint{
		host: host, ca: r.CABundle, insecure: r.SkipTLSVerify, trust: netguard.Platform,
		tokens: slices.Concat(tokenHostsOf(host), r.TokenHosts), listed: listed,
	}
	if r.Tenant {
		e.trust = netguard.Tenant
	}
	switch {
	case r.PlainHTTP:
		e.scheme = schemePlain
	case lenient && isLoopback(host):
		e.scheme = schemeEither
	}
	if r.Identity != nil {
		e.auth = &identityAuth{identity: r.Identity, host: host}
		if e.scheme != schemeTLS {
			return nil, errors.Errorf("credentials of an identity cannot be sent to registry host %q in plain text: use TLS", host)
		}
		return e.identify("identity", r.Identity.Name()), nil
	}
	c, err := r.credentials(host, path)
	if err != nil {
		return nil, err
	}
	if *c != (authn.AuthConfig{}) {
		e.auth = authn.FromConfig(*c)
		return e.identify("listed", c.Username, c.Password, c.Auth, c.IdentityToken, c.RegistryToken), nil
	}
	if r.Ambient {
		return e.identify("process"), nil
	}
	e.auth = authn.Anonymous
	return e.identify("listed", "", "", "", "", ""), nil
}

func (r *Registry) credentials(host, path string) (*authn.AuthConfig, error) {
	if r.Username != "" {
		return &authn.AuthConfig{Username: r.Username, Password: r.Password}, nil
	}
	if len(r.DockerConfig) == 0 {
		return &authn.AuthConfig{}, nil
	}
	var c struct {
		Auths map[string]authn.AuthConfig `json:"auths"`
	}
	// The cause is omitted: it could quote part of the secret.
	if json.Unmarshal(r.DockerConfig, &c) != nil {
		return nil, errors.Errorf("the pull secret of registry host %q is not a Docker configuration: must be JSON with "+
			"auths, and the base64-encoded user:password in each auth", r.Host)
	}
	best, depth := authn.AuthConfig{}, -1
	for key, a := range c.Auths {
		if d := matchAuth(key, host, path); d > depth {
			best, depth = a, d
		}
	}
	return &best, nil
}

// matchAuth returns how many characters of path the key of a docker configuration covers, or -1 if the key does not
// match. Keys are host or host/path, with or without a scheme; old registry clients wrote https://host/v1/, which
// means the whole host.
func matchAuth(key, host, path string) int {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	h, p, _ := strings.Cut(strings.TrimSuffix(key, "/"), "/")
	if normalHost(h) != host {
		return -1
	}
	if p == "" || p == "v1" || p == "v2" {
		return 0
	}
	if p == path || strings.HasPrefix(path, p+"/") {
		return len(p)
	}
	return -1
}

// identify computes the identities of the endpoint. It hashes the parts with their lengths, so that different lists
// of parts never have the same identity, and no secret is kept as the key of a map.
func (e *endpoint) identify(credentials ...string) *endpoint {
	server := []string{e.host, strconv.Itoa(int(e.scheme)), string(e.ca)}
	if e.insecure {
		server = append(server, "insecure")
	}
	e.server = fingerprint(server...)
	trust := strconv.Itoa(int(e.trust))
	if e.referred {
		trust += " referred"
	}
	e.wire = fingerprint(e.server, trust, fingerprint(e.tokens...), fingerprint(e.listed...))
	e.caller = fingerprint(append([]string{e.server, trust}, credentials...)...)
	return e
}

func fingerprint(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// normalHost returns the normal form of host, so that equal hosts are equal strings.
func normalHost(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, ":443"))
	switch host {
	case "docker.io", "registry-1.docker.io":
		return name.DefaultRegistry
	}
	return host
}

func isLoopback(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// referredBy returns the endpoint for host[:port] of the endpoint, to which the server of from refers.
func (e *endpoint) referredBy(from *url.URL, host string) *endpoint {
	if e.isListed() || from != nil && serverOf(from.Scheme, from.Host) == serverOf(e.scheme.ofURL(), host) {
		return e
	}
	c := *e
	c.referred = true
	return c.identify(e.caller)
}

// isListed reports whether the list of registries contains the host.
func (e *endpoint) isListed() bool {
	return slices.ContainsFunc(e.listed, func(l string) bool { return normalHost(l) == e.host })
}
