// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
)

// A fault starts a server that does not work, and returns its URL. The server stops at the end of the spec.
type fault func(ctx context.Context) string

// hanging accepts connections and reads what it gets.
func hanging(ctx context.Context) string {
	return serve(ctx, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
}

// silent answers no request, after a connection without TLS. The requests of the provider get that far.
func silent(context.Context) string {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	DeferCleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// refusing listens on no port.
func refusing(ctx context.Context) string {
	return "https://" + Must(FreeAddress(ctx))
}

func serve(ctx context.Context, f func(net.Conn)) string {
	GinkgoHelper()
	l := Must((&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"))
	DeferCleanup(l.Close)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				f(c)
			}()
		}
	}()
	return "https://" + l.Addr().String()
}

func named(kind string, i int) string { return fmt.Sprintf("%s-%d", kind, i) }
