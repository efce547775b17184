// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
)

// newTLS starts a TLS server that supports HTTP/2, and returns a config that trusts it.
func newTLS(t *testing.T, h http.HandlerFunc) (*httptest.Server, *rest.Config) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return s, &rest.Config{Host: s.URL, BearerToken: "t", TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}

func newTransport(t *testing.T, rc *rest.Config, o Options) *Transport {
	t.Helper()
	if o.Dialer == nil {
		o.Dialer = netguard.New(netguard.Options{}).Dialer(netguard.Platform)
	}
	tr, err := New(rc, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

func get(ctx context.Context, tr http.RoundTripper, url string) (string, int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", 0, err
	}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		return "", 0, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), resp.StatusCode, err
}

func TestErrors(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	silent := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	hangsUp := listen(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); c.Close() })
	secure, trusting := newTLS(t, func(http.ResponseWriter, *http.Request) {})
	elsewhere, redirecting := newTLS(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			t.Error("a redirect was followed")
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	wrongName := rest.CopyConfig(trusting)
	wrongName.ServerName = "other.example.org"
	_, endless := newTLS(t, func(w http.ResponseWriter, _ *http.Request) {
		for w != nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	mutual := httptest.NewUnstartedServer(http.NotFoundHandler())
	mutual.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	mutual.Config.ErrorLog = log.New(io.Discard, "", 0)
	mutual.StartTLS()
	defer mutual.Close()

	cases := map[string]struct {
		reason string
		rc     *rest.Config
		host   string
		want   string
		down   bool
		slow   bool
	}{
		"UnknownHost":      {reason: "The error says that DNS does not know the host.", rc: &rest.Config{Host: "https://no-such-host.invalid"}, want: "no such host", down: true},
		"Refused":          {reason: "The error says that no server listens at the address.", rc: &rest.Config{Host: "https://127.0.0.1:1"}, want: "connection refused", down: true},
		"UnknownAuthority": {reason: "The error names the field of the kubeconfig for the certificate authority.", rc: &rest.Config{Host: secure.URL}, want: "the certificate is signed by an unknown authority; check certificate-authority-data in the kubeconfig", down: true},
		"WrongName":        {reason: "The error names the fields of the kubeconfig for the name of the server.", rc: wrongName, want: "the certificate is for a different host; check server and tls-server-name in the kubeconfig", down: true},
		"PlainHTTP":        {reason: "The error says that the server does not use TLS.", rc: &rest.Config{Host: "https" + strings.TrimPrefix(plain.URL, "http")}, want: "the server does not use TLS", down: true},
		"NoAnswer":         {reason: "A handshake that stalls must not hold a worker.", rc: &rest.Config{Host: "https://" + silent}, want: "timed out", down: true, slow: true},
		"ClosedEarly":      {reason: "The error does not contain the local port.", rc: &rest.Config{Host: "http://" + hangsUp}, want: "connection lost"},
		"Redirect":         {reason: "A redirect is not followed, because it would send the token to another server.", rc: redirecting, host: elsewhere.URL, want: "redirects are not allowed", down: true},
		"Endless":          {reason: "The size of a response is limited.", rc: endless, want: "the response exceeds the size limit"},
		"NoClientCert":     {reason: "The error says that the server requires a client certificate.", rc: &rest.Config{Host: mutual.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, want: "the TLS handshake failed (tls: certificate required); check the client certificate in the kubeconfig", down: true},
		"LinkLocal":        {reason: "Requests to a metadata service are refused, because it returns credentials of the node.", rc: &rest.Config{Host: "http://169.254.169.254"}, want: "refusing to connect to the address of a metadata service", down: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			limits := Limits{AnswerBytes: 1 << 20, Request: time.Minute}
			if tc.slow {
				limits.Request = 3 * time.Second
			}
			tr := newTransport(t, tc.rc, Options{Limits: limits})
			_, _, err := get(t.Context(), tr, tc.rc.Host)
			got := &UnreachableError{}
			if !errors.As(err, &got) {
				t.Fatalf("%s\nwant UnreachableError, got %v", tc.reason, err)
			}
			want := &UnreachableError{Host: tc.rc.Host, Reason: tc.want, Down: tc.down, Slow: tc.slow, TooLarge: tc.rc == endless}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff("API server "+tc.rc.Host+": "+tc.want, Explain(errors.Wrap(err, "x")).Error()); diff != "" {
				t.Errorf("%s\nExplain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// listen accepts connections and passes each of them to a function.
func listen(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f(c)
		}
	}()
	return l.Addr().String()
}

func TestExplain(t *testing.T) {
	gr := schema.GroupResource{Resource: "secrets"}
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Unauthorized": {reason: "The message of the API server is a single word.", err: apierrors.NewUnauthorized("Unauthorized"), want: "API server rejects the credentials (401 Unauthorized); check the user in the kubeconfig, or spec.identity"},
		"Forbidden":    {reason: "The message of the API server names the user, the verb and the resource.", err: apierrors.NewForbidden(gr, "x", errors.New("no")), want: `API server denies access (403 Forbidden): secrets "x" is forbidden: no`},
		"Other":        {reason: "Other errors stay as they are.", err: errors.New("boom"), want: "boom"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Explain(tc.err).Error()); diff != "" {
				t.Errorf("%s\nExplain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBreaker(t *testing.T) {
	now := time.Unix(0, 0)
	b := newBreaker(time.Second, 30*time.Second)
	b.now = func() time.Time { return now }
	errDown := errors.New("down")

	if err := b.allow(); err != nil {
		t.Fatalf("a new breaker allows requests: %v", err)
	}
	b.failed(errDown)
	b.failed(errors.New("at the same time"))
	if err := b.allow(); !errors.Is(err, errDown) {
		t.Errorf("right after a failure, want its error, got %v", err)
	}
	pauses := []time.Duration{}
	for range 7 {
		var pause time.Duration
		for b.allow() != nil {
			now = now.Add(100 * time.Millisecond)
			pause += 100 * time.Millisecond
		}
		if b.allow() == nil {
			t.Fatal("only one request at a time may try again")
		}
		b.failed(errDown)
		pauses = append(pauses, pause)
	}
	for i, seconds := range []int{1, 2, 4, 8, 16, 30, 30} {
		most := time.Duration(seconds) * time.Second
		if pauses[i] > most+100*time.Millisecond || pauses[i] < most*3/4 {
			t.Errorf("pause %d: want about %s, got %s", i, most, pauses[i])
		}
	}
	now = now.Add(time.Minute)
	if err := b.allow(); err != nil {
		t.Fatal(err)
	}
	b.done()
	if err := b.allow(); err != nil {
		t.Errorf("after a request without a result, the next one may try: %v", err)
	}
	b.succeeded()
	for range 3 {
		if err := b.allow(); err != nil {
			t.Errorf("after a success all are allowed: %v", err)
		}
	}
}

func TestDeadServerBlocksNothing(t *testing.T) {
	var dialed atomic.Int32
	address := listen(t, func(c net.Conn) { dialed.Add(1); _, _ = io.Copy(io.Discard, c) })
	var counted atomic.Int32
	tr := newTransport(t, &rest.Config{Host: "https://" + address}, Options{
		Limits: Limits{Request: 3 * time.Second},
		Count:  func(string, int, bool) { counted.Add(1) },
	})
	// On a busy machine, 50 calls can take longer than a pause.
	tr.breaker.now = func() time.Time { return time.Unix(0, 0) }
	_, _, first := get(t.Context(), tr, "https://"+address)
	for range 50 {
		_, _, err := get(t.Context(), tr, "https://"+address)
		if err == nil || first == nil || err.Error() != first.Error() {
			t.Fatalf("want the error of the first request at once, %v, got %v", first, err)
		}
	}
	if dialed.Load() != 1 || counted.Load() != 1 {
		t.Errorf("want one request for 51 calls, got %d connections and %d requests", dialed.Load(), counted.Load())
	}
}

// TestOpened checks that Opened is called once for each network connection.
func TestOpened(t *testing.T) {
	server, rc := newTLS(t, func(http.ResponseWriter, *http.Request) {})
	var opened atomic.Int32
	tr := newTransport(t, rc, Options{Opened: func() { opened.Add(1) }})
	for connection := range 2 {
		for range 3 {
			if _, _, err := get(t.Context(), tr, rc.Host); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := opened.Load(), int32(connection+1); got != want {
			t.Errorf("want %d calls after 3 requests through each of as many network connections, got %d", want, got)
		}
		server.CloseClientConnections()
		for tr.IsOpen() {
			runtime.Gosched()
		}
	}
}

func TestCallerWithoutPatience(t *testing.T) {
	block := make(chan struct{})
	_, rc := newTLS(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-block
		}
	})
	defer close(block)
	tr := newTransport(t, rc, Options{})
	if _, _, err := get(t.Context(), tr, rc.Host); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, _, err := get(ctx, tr, rc.Host+"/slow"); !errors.Is(err, context.Canceled) {
		t.Errorf("want the caller's own error, got %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := get(ctx, tr, rc.Host+"/slow"); err == nil {
		t.Error("want an error when the time is up")
	}
	if _, _, err := get(t.Context(), tr, rc.Host); err != nil {
		t.Errorf("others must not pay for callers without patience: %v", err)
	}
}

func TestTransport(t *testing.T) {
	var proto, auth atomic.Value
	_, rc := newTLS(t, func(w http.ResponseWriter, r *http.Request) {
		proto.Store(r.Proto)
		auth.Store(r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/unauthorized":
			w.WriteHeader(http.StatusUnauthorized)
		case "/busy":
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	var mu sync.Mutex
	counted := map[string]int{}
	tr := newTransport(t, rc, Options{Count: func(verb string, code int, watch bool) {
		mu.Lock()
		defer mu.Unlock()
		if watch {
			verb += " watch"
		}
		counted[verb+" "+http.StatusText(code)]++
	}})
	for _, path := range []string{"/", "/x?watch=true&timeoutSeconds=1", "/x?watch=false", "/unauthorized", "/busy"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, rc.Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Header.Get("Retry-After") != "" {
			t.Error("client-go would sleep for an hour")
		}
		resp.Body.Close()
	}
	if diff := cmp.Diff("HTTP/2.0", proto.Load()); diff != "" {
		t.Errorf("protocol: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("Bearer t", auth.Load()); diff != "" {
		t.Errorf("authorization: -want, +got:\n%s", diff)
	}
	want := map[string]int{"GET OK": 2, "WATCH watch OK": 1, "GET Unauthorized": 1, "GET Too Many Requests": 1}
	if diff := cmp.Diff(want, counted); diff != "" {
		t.Errorf("counted: -want, +got:\n%s", diff)
	}
	tr.Close()
	if _, _, err := get(t.Context(), tr, rc.Host); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close, want ErrClosed, got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Token() (*oauth2.Token, error) { return nil, f.err }

func TestTokenErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Answer": {
			reason: "The answer of a token server may hold anything.",
			err:    &oauth2.RetrieveError{Response: &http.Response{StatusCode: http.StatusForbidden}, Body: []byte("canary")},
			want:   "the identity cannot get a token: the token server returned Forbidden",
		},
		"Dead":  {reason: "Who is not there, is named.", err: &net.DNSError{IsNotFound: true, Name: "x"}, want: "the identity cannot get a token: no such host"},
		"Lines": {reason: "Conditions have one line.", err: errors.New("first\nsecond"), want: "the identity cannot get a token: first"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, rc := newTLS(t, func(http.ResponseWriter, *http.Request) { t.Error("sent without a token") })
			rc.BearerToken = ""
			rc.Wrap(func(rt http.RoundTripper) http.RoundTripper {
				return &oauth2.Transport{Source: failing{tc.err}, Base: rt}
			})
			tr := newTransport(t, rc, Options{})
			_, _, err := get(t.Context(), tr, rc.Host)
			got := &UnreachableError{}
			if !errors.As(err, &got) {
				t.Fatalf("%s\nwant UnreachableError, got %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got.Reason); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := New(&rest.Config{Host: "https://h", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x")}}, Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "TLS: ") {
		t.Errorf("want an error about TLS, got %v", err)
	}
}
