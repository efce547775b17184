// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
)

// A fault starts a broken server, and returns its URL. The server stops at the end of the spec.
type fault func(ctx context.Context) string

// hanging accepts connections and requests, but never responds.
func hanging(context.Context) string {
	return serve(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
}

// blackHoled is a port whose queue for new connections is full, so that the system drops further packets.
func blackHoled(ctx context.Context) string {
	GinkgoHelper()
	l := Must((&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"))
	DeferCleanup(l.Close)
	raw := Must(l.(*net.TCPListener).SyscallConn())
	Expect(raw.Control(func(fd uintptr) { Expect(syscall.Listen(int(fd), 0)).To(Succeed()) })).To(Succeed())
	d := net.Dialer{Timeout: 100 * time.Millisecond}
	for range 16 {
		c, err := d.DialContext(ctx, "tcp", l.Addr().String())
		if err != nil {
			return "https://" + l.Addr().String()
		}
		DeferCleanup(c.Close)
	}
	Fail("the queue of the port does not fill up")
	return ""
}

// refusing returns the URL of a port on which nothing listens.
func refusing(ctx context.Context) string {
	return "https://" + Must(FreeAddress(ctx))
}

// A slowServer is the target with a delay before each response.
type slowServer struct {
	url   string
	delay atomic.Int64
}

func slow(delay time.Duration) *slowServer {
	GinkgoHelper()
	s := &slowServer{}
	s.delay.Store(int64(delay))
	proxy := targetProxy()
	s.url = serve(func(w http.ResponseWriter, r *http.Request) {
		// The context does not end with the connection if the body was not read, so the delay can also be shortened.
		for begin := time.Now(); time.Since(begin) < time.Duration(s.delay.Load()); time.Sleep(20 * time.Millisecond) {
			if r.Context().Err() != nil {
				return
			}
		}
		proxy.ServeHTTP(w, r)
	})
	return s
}

// targetProxy returns a proxy for the target. It uses its own credentials.
func targetProxy() *httputil.ReverseProxy {
	GinkgoHelper()
	target := Must(url.Parse(Env.Target.Config().Host))
	return &httputil.ReverseProxy{
		Transport:     Must(rest.TransportFor(Env.Target.Config())),
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization")
		},
	}
}

func serve(f http.HandlerFunc) string {
	s := httptest.NewServer(f)
	DeferCleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}
