// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

func TestExplain(t *testing.T) {
	const host = "reg.example.org"
	at := func(err error) error {
		return &url.Error{Op: "Get", URL: "https://" + host + "/v2/?token=secret", Err: err}
	}
	answer := func(code int, d ...transport.Diagnostic) error {
		return &transport.Error{StatusCode: code, Errors: d}
	}
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Nil":         {reason: "The result for no error is nil."},
		"UnknownHost": {reason: "The error does not contain the address of the resolver.", err: at(&net.DNSError{Err: "no such host", Name: host, Server: "10.0.0.1:53", IsNotFound: true}), want: `cannot resolve host "reg.example.org": no such host`},
		"DNSDown":     {reason: "A failed DNS lookup does not mean that the host does not exist.", err: at(&net.DNSError{Err: "timeout", Name: host, IsTimeout: true}), want: `cannot resolve host "reg.example.org": the DNS lookup failed`},
		"Refused":     {reason: "The error does not contain ports.", err: at(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}), want: `host "reg.example.org" refused the connection`},
		"NoRoute":     {reason: "There is no route to the host.", err: at(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}), want: `host "reg.example.org" is unreachable: no route to host`},
		"Reset":       {reason: "The server reset the connection.", err: at(&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}), want: `the connection to host "reg.example.org" was interrupted`},
		"Cut":         {reason: "The body of the response is incomplete.", err: io.ErrUnexpectedEOF, want: `the connection to host "reg.example.org" was interrupted`},
		"Timeout":     {reason: "A time limit of the transport expired.", err: at(&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}), want: `host "reg.example.org" did not respond in time`},
		"Limit":       {reason: "A time limit that names itself expired.", err: at(errors.Wrap(limited{}, "x")), want: `host "reg.example.org" did not respond in time: timed out after 2m`},
		"Deadline":    {reason: "The time limit of the caller expired.", err: at(context.DeadlineExceeded), want: `host "reg.example.org" did not respond in time: context deadline exceeded`},
		"Canceled":    {reason: "The caller canceled the request.", err: at(context.Canceled), want: `the request to host "reg.example.org" was canceled: context canceled`},
		"Authority":   {reason: "The error names the field for the CA.", err: at(x509.UnknownAuthorityError{}), want: `TLS: the certificate of host "reg.example.org" is signed by an unknown authority: set caBundleSecretRef for the host in spec.registries of the ProviderConfig`},
		"Name":        {reason: "The certificate is for another host.", err: at(x509.HostnameError{Certificate: &x509.Certificate{}, Host: host}), want: `TLS: the certificate of host "reg.example.org" is for a different host name`},
		"Expired":     {reason: "The error does not contain the current time, which would change with each attempt.", err: at(x509.CertificateInvalidError{Reason: x509.Expired, Detail: "current time …"}), want: `TLS: the certificate of host "reg.example.org" has expired or is not yet valid`},
		"PlainServer": {reason: "The error names the field for plain HTTP.", err: at(http.ErrSchemeMismatch), want: `TLS: host "reg.example.org" responded in plain HTTP: if this is intended, set plainHTTP for the host in spec.registries of the ProviderConfig`},
		"Denied":      {reason: "The message of the registry is reduced to one line.", err: answer(403, transport.Diagnostic{Code: "DENIED", Message: "a\n\tb\x00"}), want: `host "reg.example.org" denies access with these credentials (403 Forbidden): check pullSecretRef for the host in spec.registries of the ProviderConfig: DENIED: a b`},
		"Long":        {reason: "The message of the registry is truncated.", err: answer(500, transport.Diagnostic{Code: "X", Message: strings.Repeat("y", 1000)}), want: `host "reg.example.org" returned 500 Internal Server Error: X: ` + strings.Repeat("y", maxReason-3) + "…"},
		"SentOn":      {reason: "If the server of a redirect fails, the error names both hosts.", err: &statusError{code: 404, host: "cdn.example.org"}, want: `host "reg.example.org" redirected the request: host "cdn.example.org" does not have the requested content (404 Not Found)`},
		"TooLarge":    {reason: "A limit of the provider is not explained as a failure of the host.", err: &tooLargeError{what: "blob", limit: 5}, want: "blob is larger than the limit of 5 bytes (--max-archive-size of the provider)"},
		"Other":       {reason: "The error does not contain the URL, because its query may be secret.", err: at(errors.New("odd\nthing")), want: `host "reg.example.org": odd thing`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Explain(tc.err, host)
			if diff := cmp.Diff(tc.want, text(got)); diff != "" {
				t.Errorf("\n%s\nExplain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRetryable checks which errors might disappear without any change.
func TestRetryable(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Down":     {reason: "The server may come back.", err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, want: true},
		"Slow":     {reason: "A slow server may respond faster later.", err: context.DeadlineExceeded, want: true},
		"Failing":  {reason: "A failing server may be repaired.", err: &statusError{code: 503}, want: true},
		"Busy":     {reason: "A busy server asks clients to retry later.", err: &statusError{code: 429}, want: true},
		"DNSDown":  {reason: "A DNS server may respond later.", err: &net.DNSError{IsTimeout: true}, want: true},
		"Unknown":  {reason: "A wrong name stays wrong.", err: &net.DNSError{IsNotFound: true}},
		"Refused":  {reason: "Wrong credentials stay wrong.", err: &statusError{code: 401}},
		"Missing":  {reason: "A wrong tag stays wrong.", err: &statusError{code: 404}},
		"TooLarge": {reason: "The content stays too large.", err: &tooLargeError{what: "blob", limit: 5}},
		"Unsigned": {reason: "A certificate does not become trusted.", err: x509.UnknownAuthorityError{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var r interface{ Retryable() bool }
			if !errors.As(errors.Wrap(Explain(tc.err, "reg.example.org"), "chart"), &r) || r.Retryable() != tc.want {
				t.Errorf("\n%s\nExplain(...): want an error whose Retryable() is %t, got %v", tc.reason, tc.want, r)
			}
		})
	}
}

// limited is an error of a deadline that names the deadline.
type limited struct{}

func (limited) Error() string        { return "timed out after 2m" }
func (limited) TimeLimit() string    { return "2m" }
func (limited) Is(target error) bool { return target == context.DeadlineExceeded }

// text returns the text of err, or "".
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
