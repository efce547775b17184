// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

const (
	// maxWait bounds how long a registry may make us wait before a retry.
	maxWait = 20 * time.Second

	// maxTags and maxTagPages bound a list of tags.
	maxTags     = 100_000
	maxTagPages = 1000

	// maxListed bounds a list of attachments.
	maxListed = 10_000

	octets = "application/octet-stream"
)

// A Repository is a repository of a registry. It implements store.Store.
type Repository struct {
	// Pauses are the delays before each retry of a failed call. Set them before the first call.
	Pauses []time.Duration

	session *oci.Session
}

// New returns the repository host[:port]/path of a registry. It sends no request yet.
func New(repository string, regs oci.Registries) (store.Store, error) {
	ref, err := oci.ParseReference(repository)
	if err != nil {
		return nil, err
	}
	if ref.Tag != "" || ref.Digest != "" {
		return nil, errors.Errorf("%q is the reference of an artifact: must be a repository, host[:port]/path", repository)
	}
	s, err := oci.NewSession(ref.Repository, regs)
	if err != nil {
		return nil, err
	}
	return &Repository{session: s, Pauses: []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second}}, nil
}

// Push makes the session log in with write access from now on, so that the registry answers as it does to writers.
func (r *Repository) Push() { r.session.Push() }

// String returns host[:port]/path.
func (r *Repository) String() string { return r.session.String() }

// Manifest implements store.Reader.
func (r *Repository) Manifest(ctx context.Context, reference string) (data []byte, digest string, err error) {
	if !oci.ValidTag(reference) && !oci.ValidDigest(reference) {
		return nil, "", errors.Errorf("%.200q is neither a tag nor a digest (sha256:…)", reference)
	}
	accept := strings.Join([]string{v1.MediaTypeImageManifest, store.DockerManifest, v1.MediaTypeImageIndex, store.DockerList}, ", ")
	call := oci.Call{Method: http.MethodGet, Path: "manifests/" + reference, Header: http.Header{"Accept": {accept}}, Want: []int{http.StatusOK}}
	data, _, err = r.get(ctx, call, store.MaxManifest)
	if notFound(err) {
		return nil, "", &store.NotFoundError{What: "manifest " + strconv.Quote(reference), Store: r.String()}
	}
	if err != nil {
		return nil, "", errors.Wrapf(err, "cannot get manifest %q from %s", reference, r)
	}
	digest = oci.DigestOf(data)
	if oci.ValidDigest(reference) && digest != reference {
		return nil, "", errors.Wrapf(&store.DigestError{Want: reference, Got: digest}, "cannot get manifest from %s", r)
	}
	return data, digest, nil
}

// Blob implements store.Reader. If a connection breaks, reading continues over another one.
func (r *Repository) Blob(ctx context.Context, digest string, offset int64) (io.ReadCloser, error) {
	if err := store.CheckBlob(digest, offset); err != nil {
		return nil, err
	}
	open := func(at int64) (io.ReadCloser, error) { return r.blobAt(ctx, digest, at) }
	body, err := open(offset)
	if notFound(err) {
		return nil, &store.NotFoundError{What: "blob " + digest, Store: r.String()}
	}
	if err != nil {
		return nil, errors.Wrapf(err, "cannot get blob %s from %s", digest, r)
	}
	b := &resumed{body: body, at: offset, open: open, wait: func(try int) error {
		if try >= len(r.Pauses) {
			return errors.Errorf("cannot read blob %s from %s: the connection was interrupted", digest, r)
		}
		return pause(ctx, r.Pauses[try])
	}}
	if offset > 0 {
		return b, nil
	}
	return store.Verify(b, digest, -1), nil
}

// blobAt opens a blob at an offset, without resuming after a broken connection.
func (r *Repository) blobAt(ctx context.Context, digest string, at int64) (io.ReadCloser, error) {
	call := oci.Call{Method: http.MethodGet, Path: "blobs/" + digest, Want: []int{http.StatusOK}}
	if at > 0 {
		call.Header = http.Header{"Range": {"bytes=" + strconv.FormatInt(at, 10) + "-"}}
		call.Want = append(call.Want, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable)
	}
	resp, err := r.do(ctx, call)
	if err != nil {
		return nil, err
	}
	begins := strings.HasPrefix(resp.Header.Get("Content-Range"), "bytes "+strconv.FormatInt(at, 10)+"-")
	if resp.StatusCode == http.StatusPartialContent && begins {
		return resp.Body, nil
	}
	if resp.StatusCode != http.StatusOK {
		// Some registries do not support a range without an end, and some return another range.
		_ = resp.Body.Close()
		if resp, err = r.do(ctx, oci.Call{Method: call.Method, Path: call.Path, Want: []int{http.StatusOK}}); err != nil {
			return nil, err
		}
	}
	if _, err := io.CopyN(io.Discard, resp.Body, at); err != nil && !errors.Is(err, io.EOF) {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp.Body, nil
}

// A resumed continues reading after the connection broke.
type resumed struct {
	body io.ReadCloser
	at   int64
	try  int
	open func(at int64) (io.ReadCloser, error)
	wait func(try int) error
}

func (b *resumed) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.at += int64(n)
	if n > 0 {
		b.try = 0
	}
	if err == nil || err == io.EOF { //nolint:errorlint // A wrapped EOF is a broken connection.
		return n, err
	}
	if err := b.wait(b.try); err != nil {
		return n, err
	}
	b.try++
	body, err := b.open(b.at)
	if err != nil {
		return n, err
	}
	_ = b.body.Close()
	b.body = body
	return n, nil
}

func (b *resumed) Close() error { return b.body.Close() }

// Tags implements store.Reader.
func (r *Repository) Tags(ctx context.Context) ([]string, error) {
	var out []string
	path := "tags/list?n=1000"
	for page := 0; path != ""; page++ {
		data, header, err := r.get(ctx, oci.Call{Method: http.MethodGet, Path: path, Want: []int{http.StatusOK}}, store.MaxManifest)
		if notFound(err) {
			return nil, &store.NotFoundError{What: "tags", Store: r.String()}
		}
		if err != nil {
			return nil, errors.Wrapf(err, "cannot list the tags of %s", r)
		}
		var list struct {
			Tags []string `json:"tags"`
		}
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, errors.Errorf("cannot list the tags of %s: the response is not a list of tags", r)
		}
		out = append(out, list.Tags...)
		if path = nextPage(header); len(out) > maxTags || page >= maxTagPages {
			return nil, errors.Errorf("cannot list the tags of %s: the repository has more than %d tags", r, maxTags)
		}
	}
	out = slices.DeleteFunc(out, func(t string) bool { return !oci.ValidTag(t) })
	slices.Sort(out)
	return slices.Compact(out), nil
}

// nextPage returns the path of the next page of a list, from the header Link: </v2/…>; rel="next", or "".
func nextPage(h http.Header) string {
	link, rest, ok := strings.Cut(strings.TrimPrefix(h.Get("Link"), "<"), ">")
	if !ok || !strings.Contains(rest, "next") {
		return ""
	}
	u, err := url.Parse(link)
	// A link to another host is not followed; a path with two slashes is one, too.
	if err != nil || u.Opaque != "" || strings.HasPrefix(u.Path, "//") {
		return ""
	}
	if strings.HasPrefix(u.Path, "/") {
		return u.RequestURI()
	}
	if u.Host != "" {
		return ""
	}
	// The link is relative to /v2/<repository>/tags/list.
	return "tags/" + strings.TrimPrefix(link, "./")
}

// get sends a call and reads its response, of at most limit bytes, with retries.
func (r *Repository) get(ctx context.Context, c oci.Call, limit int64) (data []byte, h http.Header, err error) {
	for try := 0; ; try++ {
		var resp *http.Response
		if resp, err = r.do(ctx, c); err != nil { //nolint:bodyclose // readAll closes it.
			return nil, nil, err
		}
		data, err = store.ReadAll(resp.Body, limit)
		if err == nil || ctx.Err() != nil || try >= len(r.Pauses) {
			return data, resp.Header, err
		}
		var large *store.TooLargeError
		if errors.As(err, &large) || pause(ctx, r.Pauses[try]) != nil {
			return nil, nil, err
		}
	}
}

// do sends a call without a body, with retries.
func (r *Repository) do(ctx context.Context, c oci.Call) (resp *http.Response, err error) {
	err = r.retry(ctx, func() error {
		resp, err = r.session.Do(ctx, c) //nolint:bodyclose // The caller closes it.
		return err
	})
	return resp, err
}

func (r *Repository) retry(ctx context.Context, f func() error) error {
	for try := 0; ; try++ {
		err := f()
		var c *oci.CallError
		if err == nil || try >= len(r.Pauses) || !errors.As(err, &c) || !c.Transient {
			return err
		}
		if pause(ctx, max(r.Pauses[try], min(c.After, maxWait))) != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func notFound(err error) bool {
	var c *oci.CallError
	return errors.As(err, &c) && c.Code == http.StatusNotFound
}
