// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"golang.org/x/oauth2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// ErrClosed is the error of requests after the transport was closed.
var ErrClosed = errors.New("the connection to the API server was closed, because its credentials were replaced or a different cluster has its address")

// These are the errors of connections and responses that the transport rejects.
var (
	errRedirect = errors.New("redirects are not allowed")
	errTooLarge = errors.New("the response exceeds the size limit")
	errBusy     = errors.New("too many large responses of clusters are being read at the same time; try again later")
)

// An UnreachableError reports why a request got no response from the API server. It does not unwrap, because the text of
// the underlying error varies, and client-go would wait and retry if it recognized a refused connection.
type UnreachableError struct {
	// Host is the scheme, host and port of the server.
	Host string
	// Reason is a description for users, for example "connection refused".
	Reason string
	// Down is true if an immediate retry would fail, too.
	Down bool
	// Slow is true if the request timed out after it was sent, or when it was about to be sent.
	Slow bool
	// TooLarge is true if the response exceeds Limits.AnswerBytes.
	TooLarge bool
	// Stopped is true if the connection was closed to stop another request, which says nothing about the server.
	Stopped bool
}

// IsTooLarge reports whether a response exceeded Limits.AnswerBytes. For a list, try again with smaller pages.
func IsTooLarge(err error) bool {
	u := (*UnreachableError)(nil)
	return errors.As(err, &u) && u.TooLarge
}

// Error returns one line that is equal for equal failures.
func (e *UnreachableError) Error() string {
	return "API server " + e.Host + ": " + e.Reason
}

// Retryable returns true, because the API server might respond later.
func (e *UnreachableError) Retryable() bool { return true }

// Explain converts an error of a request to the API server to one line for a condition. It returns errors of unknown
// types unchanged.
func Explain(err error) error {
	if u := (*UnreachableError)(nil); errors.As(err, &u) {
		return u
	}
	if n := (*NotConnectedError)(nil); errors.As(err, &n) {
		return n
	}
	if n := (*notfound.Error)(nil); errors.As(err, &n) {
		return n
	}
	if apierrors.IsUnauthorized(err) {
		return errors.New(refusedCredentials)
	}
	if apierrors.IsForbidden(err) {
		return errors.Wrap(err, "API server denies access (403 Forbidden)")
	}
	return err
}

// shortError returns an error with a status code, in JSON, instead of one that is too long. Clients that expect another format only see the
// code.
func shortError(code int) (content []byte, release func(), err error) {
	s := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", errTooLarge.Error(), 0, true).Status()
	s.Kind, s.APIVersion = "Status", "v1"
	content, err = json.Marshal(s)
	return content, func() {}, err
}

// mostKept is the maximum size of an error that is kept, in bytes.
const mostKept = 1 << 10

// Kept returns an error that takes little memory, for callers that keep errors of a cluster: these can be as long as a response. Of a long
// one, it returns the beginning of the text, and the code and the reason of the API server, if any.
func Kept(err error) error {
	s := apierrors.APIStatus(nil)
	if !errors.As(err, &s) {
		if err == nil || len(err.Error()) <= mostKept {
			return err
		}
		return errors.New(beginning(err.Error(), mostKept))
	}
	st := s.Status()
	if st.Size() <= mostKept {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: st.Code, Reason: metav1.StatusReason(beginning(string(st.Reason), mostKept)),
		Message: beginning(err.Error(), mostKept),
	}}
}

// reason returns the description of a failed request, and whether the server is temporarily unavailable.
func reason(err error) (string, bool) {
	for _, f := range []func(error) (string, bool){refused, certificate, handshake, name, timeout} {
		if s, ok := f(err); ok {
			return s, true
		}
	}
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		// Which of these errors occurs depends on timing.
		if errors.Is(err, e) {
			return "connection lost", false
		}
	}
	return innermost(err), false
}

func refused(err error) (string, bool) {
	if r := (*netguard.RefusedError)(nil); errors.As(err, &r) {
		return r.Error(), true
	}
	switch {
	case errors.Is(err, errRedirect):
		return errRedirect.Error(), true
	case errors.Is(err, syscall.ECONNREFUSED):
		return through(err) + "connection refused", true
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return through(err) + "no route to host", true
	}
	return "", false
}

// through returns a prefix for the description if the proxy of the kubeconfig or of the provider failed, and otherwise an
// empty string.
func through(err error) string {
	if op := (*net.OpError)(nil); errors.As(err, &op) && (op.Op == "proxyconnect" || op.Op == "socks connect") {
		return "proxy: "
	}
	return ""
}

func certificate(err error) (string, bool) {
	if e := (x509.UnknownAuthorityError{}); errors.As(err, &e) {
		return "the certificate is signed by an unknown authority; check certificate-authority-data in the kubeconfig", true
	}
	if e := (x509.HostnameError{}); errors.As(err, &e) {
		return "the certificate is for a different host; check server and tls-server-name in the kubeconfig", true
	}
	if e := (x509.CertificateInvalidError{}); errors.As(err, &e) {
		if e.Reason == x509.Expired {
			return "the certificate has expired or is not yet valid", true
		}
		return "the certificate is invalid", true
	}
	if e := (*tls.CertificateVerificationError)(nil); errors.As(err, &e) {
		return "the certificate cannot be verified", true
	}
	return "", false
}

func handshake(err error) (string, bool) {
	// The type of an alert is not exported.
	if e := (*net.OpError)(nil); errors.As(err, &e) && e.Op == "remote error" {
		return "the TLS handshake failed (" + e.Err.Error() + "); check the client certificate in the kubeconfig", true
	}
	if e := (tls.RecordHeaderError{}); errors.As(err, &e) || strings.Contains(err.Error(), "HTTP response to HTTPS client") {
		return "the server does not use TLS", true
	}
	return "", false
}

func name(err error) (string, bool) {
	e := (*net.DNSError)(nil)
	if !errors.As(err, &e) {
		return "", false
	}
	switch {
	case e.IsNotFound:
		return through(err) + "no such host", true
	case e.IsTimeout:
		return through(err) + "the DNS lookup timed out", true
	}
	return through(err) + "the DNS lookup failed", true
}

// A limitError is the error of a deadline that identifies the time limit.
type limitError interface {
	error
	TimeLimit() string
}

func timeout(err error) (string, bool) {
	if l := limitError(nil); errors.As(err, &l) {
		return "timed out: " + l.Error(), true
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "timed out", true
	}
	if e := net.Error(nil); errors.As(err, &e) && e.Timeout() {
		return through(err) + "timed out", true
	}
	// The error of an HTTP/2 connection whose pings get no response has no type.
	if strings.Contains(err.Error(), "http2: client connection lost") {
		return "connection lost", true
	}
	return "", false
}

// innermost returns the text of the innermost error, because outer errors contain addresses.
func innermost(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return firstLine(err.Error())
		}
		err = next
	}
}

// tokenReason returns the description of a failed token request. It omits the response of the token server, which may
// contain anything.
func tokenReason(err error) string {
	const failed = "the identity cannot get a token: "
	if e := (*oauth2.RetrieveError)(nil); errors.As(err, &e) && e.Response != nil {
		return failed + "the token server returned " + http.StatusText(e.Response.StatusCode)
	}
	if s, ok := reason(err); ok {
		return failed + s
	}
	return failed + firstLine(err.Error())
}

func firstLine(s string) string {
	const most = 200
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	return beginning(s, most)
}

// beginning returns the first bytes of a long text, which it does not keep in memory.
func beginning(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
