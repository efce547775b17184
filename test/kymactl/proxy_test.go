// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
)

// A proxy sits between kymactl and a registry. It counts, stalls and changes the traffic.
type proxy struct {
	server *httptest.Server
	// released ends all stalls.
	released chan struct{}
	release  func()
	// stalled receives a value for each stalled request.
	stalled chan struct{}

	mu       sync.Mutex
	requests []*request
	// stalls reports whether a request, counted from 1, stays without an answer.
	stalls func(n int, r *http.Request) bool
	// sizes has the sizes of blobs by digest, for open-ended ranges, which the registry does not support.
	sizes map[string]int64
	// change changes the responses of the registry, if set.
	change func(r *http.Response)
}

// A request is a request that went through a proxy.
type request struct {
	method, path string
	sent         int64 // Bytes of the answer.
}

// newProxy starts a proxy, which stops at the end of the spec.
func newProxy(to string) *proxy {
	GinkgoHelper()
	p := &proxy{released: make(chan struct{}), stalled: make(chan struct{}, 1000)}
	p.release = sync.OnceFunc(func() { close(p.released) })
	reverse := httputil.NewSingleHostReverseProxy(must(url.Parse(to)))
	reverse.FlushInterval = -1
	reverse.ErrorLog = log.New(io.Discard, "", 0)
	reverse.ModifyResponse = func(r *http.Response) error {
		p.mu.Lock()
		change := p.change
		p.mu.Unlock()
		if change != nil {
			change(r)
		}
		return nil
	}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(reverse, w, r) }))
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.server.Start()
	DeferCleanup(func() {
		p.release()
		p.server.CloseClientConnections()
		p.server.Close()
	})
	return p
}

func (p *proxy) host() string { return p.server.Listener.Addr().String() }

func (p *proxy) serve(to http.Handler, w http.ResponseWriter, r *http.Request) {
	seen := &request{method: r.Method, path: r.URL.Path}
	p.mu.Lock()
	p.requests = append(p.requests, seen)
	stalls := p.stalls != nil && p.stalls(len(p.requests), r)
	if from, open := strings.CutSuffix(r.Header.Get("Range"), "-"); open {
		r.Header.Set("Range", from+"-"+strconv.FormatInt(p.sizes[path.Base(r.URL.Path)]-1, 10))
	}
	p.mu.Unlock()
	if stalls {
		p.stall(r)
		return
	}
	defer func() {
		// A client that closed its connection is not a failure of the proxy.
		if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint,err113 // It is not an error that is wrapped.
			panic(v)
		}
	}()
	to.ServeHTTP(&counter{ResponseWriter: w, p: p, to: seen}, r)
}

// stall blocks until the client closes its connection or the stalls are released.
func (p *proxy) stall(r *http.Request) {
	p.stalled <- struct{}{}
	select {
	case <-r.Context().Done():
	case <-p.released:
	}
}

// A counter counts the bytes of a response.
type counter struct {
	http.ResponseWriter

	p  *proxy
	to *request
}

func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *counter) Write(data []byte) (int, error) {
	n, err := c.ResponseWriter.Write(data)
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.to.sent += int64(n)
	return n, err
}

// seen returns the requests so far.
func (p *proxy) seen() []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]request, 0, len(p.requests))
	for _, r := range p.requests {
		out = append(out, *r)
	}
	return out
}

// writes returns the requests that change something.
func (p *proxy) writes() []request {
	var out []request
	for _, r := range p.seen() {
		if r.method != http.MethodGet && r.method != http.MethodHead {
			out = append(out, r)
		}
	}
	return out
}

// blobs returns the number of bytes sent of each blob, by digest.
func (p *proxy) blobs() map[string]int64 {
	out := map[string]int64{}
	for _, r := range p.seen() {
		if _, digest, ok := strings.Cut(r.path, "/blobs/sha256:"); ok && r.method == http.MethodGet {
			out["sha256:"+digest] += r.sent
		}
	}
	return out
}

// stallAt stalls the nth request from now, counted from 1.
func (p *proxy) stallAt(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = nil
	p.stalls = func(i int, _ *http.Request) bool { return i == n }
}

// through passes all requests unchanged, and restarts the count.
func (p *proxy) through() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.stalls, p.change = nil, nil, nil
}

// changes sets the function that changes the responses of the registry.
func (p *proxy) changes(f func(r *http.Response)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change = f
}

// A flipped body has one wrong bit in its first byte.
type flipped struct {
	io.ReadCloser

	done bool
}

func (f *flipped) Read(data []byte) (int, error) {
	n, err := f.ReadCloser.Read(data)
	if n > 0 && !f.done {
		data[0] ^= 1
		f.done = true
	}
	return n, err
}

// A cut body stalls after some bytes.
type cut struct {
	io.ReadCloser

	p     *proxy
	r     *http.Request
	after int64
}

func (c *cut) Read(data []byte) (int, error) {
	if c.after <= 0 {
		c.p.stall(c.r)
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.ReadCloser.Read(data[:min(int64(len(data)), c.after)])
	c.after -= int64(n)
	return n, err
}

// A slow body takes 20 ms for 8 kB.
type slow struct{ io.ReadCloser }

func (s *slow) Read(data []byte) (int, error) {
	time.Sleep(20 * time.Millisecond)
	return s.ReadCloser.Read(data[:min(len(data), 8<<10)])
}
