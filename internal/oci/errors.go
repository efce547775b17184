// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/printable"
)

// maxReason bounds the text of a registry in our errors, in bytes.
const maxReason = 256

// RegistryNotAllowedError reports that a list of registries does not contain a host.
type RegistryNotAllowedError struct {
	// Host is host[:port], as requested.
	Host string
}

// Error returns a message that names the host and the cause.
func (e *RegistryNotAllowedError) Error() string {
	return fmt.Sprintf("registry host %q is not allowed: add it to spec.registries of the ProviderConfig", e.Host)
}

// A statusError is an unexpected response of a server.
type statusError struct {
	code int
	host string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%d %s", e.code, http.StatusText(e.code))
}

// A tooLargeError reports that something is larger than allowed.
type tooLargeError struct {
	what  string
	limit int64
}

func (e *tooLargeError) Error() string {
	text := fmt.Sprintf("%s is larger than the limit of %d bytes", e.what, e.limit)
	if e.what == "blob" || e.what == "chart" {
		text += " (--max-archive-size of the provider)"
	}
	return text
}

// errDowngrade stops a redirect from HTTPS to HTTP.
var errDowngrade = errors.New("refusing a redirect from HTTPS to plain HTTP")

// Status returns the HTTP status code of the response that caused err, or 0.
func Status(err error) int {
	var s *statusError
	if errors.As(err, &s) {
		return s.code
	}
	var t *transport.Error
	if errors.As(err, &t) {
		return t.StatusCode
	}
	return 0
}

// transient reports whether a retry may soon succeed.
func transient(err error) bool {
	if code := Status(err); code != 0 {
		return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
	}
	for _, target := range []error{syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// advice holds what to change after a refusal, which depends on the reader of the error.
type advice struct {
	credentials string // Source of credentials.
	authority   string // How to trust a certificate.
	plain       string // How to allow plain HTTP.
	tls         string // How to stop using plain HTTP.
	tokens      string // How to send credentials to a token service.
}

// inCluster returns the advice for the conditions of resources.
func inCluster() *advice {
	return &advice{ //nolint:gosec // No credentials, but where to set them.
		credentials: "check pullSecretRef for the host in spec.registries of the ProviderConfig",
		authority:   "set caBundleSecretRef for the host in spec.registries of the ProviderConfig",
		plain:       "if this is intended, set plainHTTP for the host in spec.registries of the ProviderConfig",
		tls:         "unset plainHTTP for the host in spec.registries of the ProviderConfig",
		tokens:      "add it to tokenHosts for the registry in spec.registries of the ProviderConfig",
	}
}

// atCommandLine returns the advice for the user of a command.
func atCommandLine() *advice {
	return &advice{ //nolint:gosec // No credentials, but where to put them.
		credentials: "log in with a tool that writes the Docker configuration, such as docker login, or use --username and --password-stdin",
		authority:   "use --ca-file",
		plain:       "if this is intended, use --plain-http",
		tls:         "omit --plain-http",
		tokens:      "use --token-host",
	}
}

// Explain turns an error of a request to host into one line that states the problem and the fix, for the conditions
// of resources.
func Explain(err error, host string) error { return inCluster().explain(err, host) }

// An explainedError is an error of a request whose text states the problem and the fix.
type explainedError struct {
	error

	retryable bool
}

// Unwrap returns the error.
func (e *explainedError) Unwrap() error { return e.error }

// Retryable reports whether a retry might succeed without any change, because the server did not respond, or failed.
func (e *explainedError) Retryable() bool { return e.retryable }

// mayEnd reports whether the cause of a failed request might disappear without any change.
func mayEnd(err error) bool {
	var dns *net.DNSError
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, decoding.ErrArchivesBusy), transient(err):
		return true
	case Status(err) != 0:
		return false
	case errors.As(err, &dns):
		return !dns.IsNotFound
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return true
	}
	return errors.As(err, &network) && network.Timeout()
}

// explain turns an error of a request to host into one line that states the problem and the fix. It leaves out
// addresses, ports and times that differ between attempts, so that equal problems result in equal messages.
func (a *advice) explain(err error, host string) error {
	if err == nil {
		return nil
	}
	return &explainedError{error: a.explainCause(err, host), retryable: mayEnd(err)}
}

func (a *advice) explainCause(err error, host string) error {
	var large *tooLargeError
	if errors.As(err, &large) {
		return large
	}
	if errors.Is(err, decoding.ErrArchivesBusy) {
		return decoding.ErrArchivesBusy
	}
	var share *decoding.ArchiveError
	if errors.As(err, &share) {
		return share
	}
	var none *credentialsError
	if errors.As(err, &none) {
		return none
	}
	// The context's own errors stay in the chain for the caller.
	if errors.Is(err, context.Canceled) {
		return errors.Wrapf(context.Canceled, "the request to host %q was canceled", host)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Wrapf(deadline(err), "host %q did not respond in time", host)
	}
	if e := a.explainWithheld(err, host); e != nil {
		return e
	}
	if other := failedHost(err); other != "" && normalHost(other) != normalHost(host) {
		return errors.Wrapf(a.explainOne(err, other), "host %q redirected the request", host)
	}
	return a.explainOne(err, host)
}

// A limitError is a deadline that names itself.
type limitError interface {
	error
	TimeLimit() string
}

// deadline returns the deadline that caused err, without the parts that differ between attempts.
func deadline(err error) error {
	if l := limitError(nil); errors.As(err, &l) {
		return l
	}
	return context.DeadlineExceeded
}

func (a *advice) explainOne(err error, host string) error {
	// Certificates come first: if both HTTPS and HTTP were tried, the error of HTTP is less helpful.
	if e := a.explainCertificate(err, host); e != nil {
		return e
	}
	if Status(err) != 0 {
		return a.explainStatus(err, host)
	}
	if e := a.explainTLS(err, host); e != nil {
		return e
	}
	return explainNetwork(err, host)
}

// failedHost returns the host of the request that failed, or "" if it is unknown.
func failedHost(err error) string {
	var s *statusError
	if errors.As(err, &s) {
		return s.host
	}
	var t *transport.Error
	if errors.As(err, &t) && t.Request != nil {
		return t.Request.URL.Host
	}
	var u *url.Error
	if errors.As(err, &u) {
		if parsed, err := url.Parse(u.URL); err == nil {
			return parsed.Host
		}
	}
	return ""
}

func (a *advice) explainStatus(err error, host string) error {
	said := reason(err)
	if said != "" {
		said = ": " + said
	}
	switch code := Status(err); code {
	case http.StatusUnauthorized:
		return errors.Errorf("host %q requires valid credentials (401 Unauthorized): %s%s", host, a.credentials, said)
	case http.StatusForbidden:
		return errors.Errorf("host %q denies access with these credentials (403 Forbidden): %s%s", host, a.credentials, said)
	case http.StatusNotFound:
		return errors.Errorf("host %q does not have the requested content (404 Not Found)%s", host, said)
	default:
		if strings.Contains(said, "HTTP request to an HTTPS server") {
			return errors.Errorf("host %q requires TLS: %s", host, a.tls)
		}
		return errors.Errorf("host %q returned %d %s%s", host, code, http.StatusText(code), said)
	}
}

// reason returns the server's own message as safe text, or "".
func reason(err error) string {
	var t *transport.Error
	if !errors.As(err, &t) {
		return ""
	}
	if len(t.Errors) > 0 {
		return OneLine(string(t.Errors[0].Code) + ": " + t.Errors[0].Message)
	}
	// An error of this type gives no other access to the body.
	if _, body, ok := strings.Cut(t.Error(), http.StatusText(t.StatusCode)+": "); ok {
		return OneLine(body)
	}
	return ""
}

func (a *advice) explainCertificate(err error, host string) error {
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &authority):
		return errors.Errorf("TLS: the certificate of host %q is signed by an unknown authority: %s", host, a.authority)
	case errors.As(err, &hostname):
		return errors.Errorf("TLS: the certificate of host %q is for a different host name", host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return errors.Errorf("TLS: the certificate of host %q has expired or is not yet valid", host)
	case errors.As(err, &invalid):
		return errors.Errorf("TLS: the certificate of host %q is not valid: %s", host, OneLine(invalid.Error()))
	}
	return nil
}

func (a *advice) explainTLS(err error, host string) error {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return errors.Errorf("TLS: host %q responded in plain HTTP: %s", host, a.plain)
	case errors.As(err, &record):
		return errors.Errorf("TLS: host %q does not support TLS", host)
	case errors.As(err, &alert):
		return errors.Errorf("TLS: host %q refused the handshake: %s", host, OneLine(alert.Error()))
	}
	return nil
}

func explainNetwork(err error, host string) error {
	var dns *net.DNSError
	var timeout net.Error
	var refused *netguard.RefusedError
	switch {
	case errors.As(err, &refused):
		return errors.Errorf("host %q: %s", host, refused)
	case errors.As(err, &dns) && dns.IsNotFound:
		return errors.Errorf("cannot resolve host %q: no such host", host)
	case errors.As(err, &dns):
		return errors.Errorf("cannot resolve host %q: the DNS lookup failed", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.Errorf("host %q refused the connection", host)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return errors.Errorf("host %q is unreachable: no route to host", host)
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.Errorf("host %q did not respond in time", host)
	case transient(err):
		return errors.Errorf("the connection to host %q was interrupted", host)
	}
	// A url.Error repeats the request, whose query may contain a signature.
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	return errors.Errorf("host %q: %s", host, OneLine(err.Error()))
}

// OneLine returns external text as one printable line of limited length.
func OneLine(s string) string { return printable.Line(s, maxReason) }

// Redact returns a reference or URL without its possible secrets, for errors.
func Redact(raw string) string {
	raw, _, _ = strings.Cut(raw, "?")
	i := strings.LastIndex(raw, "@")
	if i < 0 {
		return OneLine(raw)
	}
	scheme := ""
	if j := strings.Index(raw, "://"); j >= 0 && isScheme.MatchString(raw[:j]) {
		scheme = raw[:j+3]
	}
	return OneLine(scheme + "…" + raw[i:])
}
