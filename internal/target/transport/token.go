// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net/http"
	"sync/atomic"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/transport"
)

const authorization = "Authorization"

// A bearer adds a token to requests. Unlike the one of client-go, its token can be replaced while requests are running.
type bearer struct {
	next http.RoundTripper
	// token is a pointer so that each replacement can be told from the token before it. Printing a bearer doesn't print the token.
	token atomic.Pointer[string]
}

// bearerOf takes the token out of a config, and returns a bearer that adds it to requests before next sends them. It returns nil if the
// config has no token, or another way to authenticate in addition: then client-go adds it.
func bearerOf(tc *transport.Config, next http.RoundTripper) *bearer {
	if tc.BearerToken == "" || tc.BearerTokenFile != "" || tc.HasBasicAuth() || tc.HasCertAuth() || tc.WrapTransport != nil {
		return nil
	}
	b := &bearer{next: next}
	b.set(tc.BearerToken)
	tc.BearerToken = ""
	return b
}

func (b *bearer) set(token string) { b.token.Store(&token) }

// RoundTrip implements http.RoundTripper. If the server rejects a token that has been replaced since the request was sent, RoundTrip
// repeats the request with the new token: the server has not processed it, and the response says nothing about the current credentials.
func (b *bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get(authorization) != "" {
		return b.next.RoundTrip(req)
	}
	token := b.token.Load()
	resp, err := b.next.RoundTrip(withToken(req, *token))
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	now := b.token.Load()
	if now == token {
		return resp, nil
	}
	again, ok := repeatable(withToken(req, *now))
	if !ok {
		return resp, nil
	}
	_ = resp.Body.Close()
	return b.next.RoundTrip(again)
}

func withToken(req *http.Request, token string) *http.Request {
	req = utilnet.CloneRequest(req)
	req.Header.Set(authorization, "Bearer "+token)
	return req
}

// repeatable returns a request with a body that can be sent, after its body has been sent before. It returns false if there is none.
func repeatable(req *http.Request) (*http.Request, bool) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	req.Body = body
	return req, err == nil
}
