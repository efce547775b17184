// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

const (
	// sessionPatience is how long a registry may take to store a large blob.
	sessionPatience = 5 * time.Minute

	// sessionLimit bounds a body, in bytes. Each reader has a tighter bound.
	sessionLimit = 1 << 46

	sessionAgent = "kymactl"
)

// A Session reads from and writes to one repository of a registry. It logs in at its first use. It is safe for
// concurrent use.
type Session struct {
	pool   *Pool
	repo   *Repository
	writes atomic.Bool
}

// NewSession returns a Session for the repository host[:port]/path. It sends no request yet.
func NewSession(repo string, regs Registries) (*Session, error) {
	r, err := regs.Repository(repo)
	if err != nil {
		return nil, err
	}
	p := NewPool(sessionAgent, sessionLimit, nil)
	p.patience = sessionPatience
	return &Session{pool: p, repo: r}, nil
}

// String returns host[:port]/path.
func (s *Session) String() string { return s.repo.host + "/" + s.repo.Path() }

// Push makes the session log in with write access from now on. A registry may deny readers any information about a
// repository that does not exist yet.
func (s *Session) Push() { s.writes.Store(true) }

// A Call is one request to a registry.
type Call struct {
	Method string
	// Path is relative to the repository, such as blobs/sha256:…, or a location that a registry returned, which may
	// be a whole URL.
	Path   string
	Header http.Header
	// Body opens the request body, which has Size bytes; nil means no body. It is opened when it is first read, and
	// again if the registry requires another login.
	Body func() (io.ReadCloser, error)
	Size int64
	// Want lists the status codes that are not errors.
	Want []int
}

// A CallError reports why a call failed, in one line.
type CallError struct {
	// Code is the status code, such as 404, or 0 if there was no response.
	Code int
	// Transient reports whether a retry may succeed.
	Transient bool
	// After is how long the registry asks us to wait, or 0.
	After time.Duration

	cause error
}

// Error returns the message as one line.
func (e *CallError) Error() string { return e.cause.Error() }

// Unwrap returns the cause, which includes errors of the context.
func (e *CallError) Unwrap() error { return e.cause }

// Do sends one call. The caller must close the body of the response. Errors are *CallError.
func (s *Session) Do(ctx context.Context, c Call) (*http.Response, error) {
	action := transport.PullScope
	if s.writes.Load() {
		action = transport.PushScope
	}
	var resp *http.Response
	err := s.pool.with(ctx, s.repo, action, func(login *http.Client) (err error) {
		resp, err = s.do(ctx, login, c) //nolint:bodyclose // The caller closes it.
		return err
	})
	if err != nil {
		return nil, s.explain(err, resp)
	}
	return resp, nil
}

// do sends c with login. With an error response it returns both the response, whose body is closed, and its error.
func (s *Session) do(ctx context.Context, login *http.Client, c Call) (*http.Response, error) {
	u, err := s.resolve(c.Path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, u, nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, c.Header)
	if c.Body != nil {
		req.GetBody = func() (io.ReadCloser, error) { return &lazyBody{open: c.Body}, nil }
		req.Body, _ = req.GetBody()
		req.ContentLength = c.Size
		if c.Size == 0 {
			req.Body = http.NoBody
		}
	}
	resp, err := login.Do(req)
	if err != nil || slices.Contains(c.Want, resp.StatusCode) {
		return resp, err
	}
	defer resp.Body.Close()
	return resp, transport.CheckError(resp, c.Want...)
}

// resolve returns the URL of a call. The transport below decides between HTTP and HTTPS.
func (s *Session) resolve(path string) (string, error) {
	base := &url.URL{Scheme: https, Host: s.repo.host, Path: "/v2/" + s.repo.Path() + "/"}
	// The colon of a digest must not be parsed as the end of a scheme.
	if !strings.HasPrefix(path, "/") && !strings.Contains(path, "://") {
		path = base.Path + path
	}
	u, err := base.Parse(path)
	if err != nil || u.Host == "" || u.Scheme != https && u.Scheme != plainHTTP {
		return "", errors.New("the registry redirected to a malformed URL")
	}
	return u.String(), nil
}

func (s *Session) explain(err error, resp *http.Response) error {
	e := &CallError{Code: Status(err), Transient: transient(err), cause: atCommandLine().explain(err, s.repo.host)}
	if resp != nil {
		if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
			e.After = time.Duration(n) * time.Second
		}
	}
	if e.Code != 0 {
		e.cause = errors.Wrapf(e.cause, "repository %q", s.repo.Path())
	}
	return e
}

// A rewinder resends a body from its beginning when the layers above repeat a request after a new login.
type rewinder struct{ next http.RoundTripper }

func (w *rewinder) RoundTrip(in *http.Request) (*http.Response, error) {
	if in.GetBody == nil || in.Body == nil || in.Body == http.NoBody {
		return w.next.RoundTrip(in)
	}
	if err := in.Body.Close(); err != nil {
		return nil, err
	}
	body, err := in.GetBody()
	if err != nil {
		return nil, err
	}
	r := in.Clone(in.Context())
	r.Body = body
	return w.next.RoundTrip(r)
}

// A lazyBody is opened when it is first read, because a body may be requested and never be sent.
type lazyBody struct {
	open func() (io.ReadCloser, error)

	// mu guards the fields below: bodies are closed while they are read.
	mu   sync.Mutex
	body io.ReadCloser
	err  error
}

func (b *lazyBody) Read(p []byte) (int, error) {
	body, err := b.opened()
	if err != nil {
		return 0, err
	}
	return body.Read(p)
}

func (b *lazyBody) opened() (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil && b.body == nil {
		b.body, b.err = b.open()
	}
	return b.body, b.err
}

func (b *lazyBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = http.ErrBodyReadAfterClose
	}
	if b.body == nil {
		return nil
	}
	body := b.body
	b.body = nil
	return body.Close()
}
