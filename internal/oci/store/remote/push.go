// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

// Has implements store.Writer.
func (r *Repository) Has(ctx context.Context, digest string) (bool, error) {
	if err := store.CheckBlob(digest, 0); err != nil {
		return false, err
	}
	// A registry that does not support HEAD receives the blob anyway.
	want := []int{http.StatusOK, http.StatusNotFound, http.StatusMethodNotAllowed}
	resp, err := r.do(ctx, oci.Call{Method: http.MethodHead, Path: "blobs/" + digest, Want: want})
	if err != nil {
		return false, errors.Wrapf(err, "cannot check whether %s has blob %s", r, digest)
	}
	return resp.StatusCode == http.StatusOK, resp.Body.Close()
}

// PutBlob implements store.Writer.
func (r *Repository) PutBlob(ctx context.Context, c store.Content, open func(offset int64) (io.ReadCloser, error)) error {
	if err := store.CheckBlob(c.Digest, 0); err != nil {
		return err
	}
	r.Push()
	again := false
	err := r.retry(ctx, func() error {
		if again {
			// The previous attempt may have succeeded despite its error.
			if ok, err := r.Has(ctx, c.Digest); ok || err != nil {
				return err
			}
		}
		again = true
		return r.upload(ctx, c, open)
	})
	return errors.Wrapf(err, "cannot write blob %s to %s", c.Digest, r)
}

func (r *Repository) upload(ctx context.Context, c store.Content, open func(offset int64) (io.ReadCloser, error)) error {
	start, err := r.session.Do(ctx, oci.Call{Method: http.MethodPost, Path: "blobs/uploads/", Want: []int{http.StatusAccepted}})
	if err != nil {
		return err
	}
	_ = start.Body.Close()
	u, err := url.Parse(start.Header.Get("Location"))
	if err != nil || u.Path == "" {
		return errors.New("the registry returned no upload location")
	}
	q := u.Query()
	q.Set("digest", c.Digest)
	u.RawQuery = q.Encode()

	source := &source{open: open, content: c}
	resp, err := r.session.Do(ctx, oci.Call{
		Method: http.MethodPut,
		Path:   u.String(),
		Header: http.Header{"Content-Type": {octets}},
		Body:   source.reader,
		Size:   c.Size,
		Want:   []int{http.StatusCreated, http.StatusNoContent},
	})
	// If the source failed, the error of the registry is only about the truncated body.
	if wrong := source.failure(); wrong != nil && ctx.Err() == nil {
		if resp != nil {
			_ = resp.Body.Close()
		}
		return wrong
	}
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// A source provides the content of an upload. It keeps the error of reading it.
type source struct {
	open    func(offset int64) (io.ReadCloser, error)
	content store.Content

	mu  sync.Mutex
	err error
}

func (s *source) reader() (io.ReadCloser, error) {
	r, err := s.open(0)
	if err != nil {
		s.fail(err)
		return nil, err
	}
	return &sourceReader{ReadCloser: store.Verify(r, s.content.Digest, s.content.Size), source: s}, nil
}

func (s *source) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *source) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

type sourceReader struct {
	io.ReadCloser

	source *source
}

func (r *sourceReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	// Closing a body while it is read is not a failure of the source.
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrBodyReadAfterClose) {
		r.source.fail(err)
	}
	return n, err
}

// PutManifest implements store.Writer. If the registry does not list attachments itself, it also updates the list in
// a tag.
func (r *Repository) PutManifest(ctx context.Context, data []byte, tag string) error {
	m, err := store.ParseManifest(data)
	if err != nil {
		return errors.Wrapf(err, "cannot write a manifest to %s", r)
	}
	d := oci.DigestOf(data)
	if tag != "" && !oci.ValidTag(tag) {
		return errors.Errorf("cannot write a manifest to %s: malformed tag %.200q", r, tag)
	}
	if len(data) > store.MaxManifest {
		return errors.Wrapf(&store.TooLargeError{Limit: store.MaxManifest}, "cannot write manifest %s to %s", d, r)
	}
	if tag == "" {
		tag = d
	}
	r.Push()
	resp, err := r.do(ctx, oci.Call{
		Method: http.MethodPut,
		Path:   "manifests/" + tag,
		Header: http.Header{"Content-Type": {m.MediaType}},
		Body:   func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
		Size:   int64(len(data)),
		Want:   []int{http.StatusCreated, http.StatusOK, http.StatusAccepted},
	})
	if err != nil {
		return errors.Wrapf(err, "cannot write manifest %q to %s", tag, r)
	}
	_ = resp.Body.Close()
	if got := resp.Header.Get("Docker-Content-Digest"); got != "" && got != d {
		return errors.Wrapf(&store.DigestError{Want: d, Got: got}, "%s stored manifest %q with a different digest", r, tag)
	}
	if m.AttachedTo() == "" || resp.Header.Get("Oci-Subject") != "" {
		return nil
	}
	entry := v1.Descriptor{
		MediaType: m.MediaType, Digest: digest.Digest(d), Size: int64(len(data)),
		ArtifactType: m.Kind(), Annotations: m.Annotations,
	}
	return r.list(ctx, m.AttachedTo(), entry)
}

// list adds entry to the tag that lists the attachments of a digest. Two concurrent updates may overwrite each other,
// which the specification cannot prevent; list detects that and retries.
func (r *Repository) list(ctx context.Context, subject string, entry v1.Descriptor) error {
	if listed, ok, err := r.listed(ctx, subject); err != nil || ok && has(listed, entry) {
		return err
	}
	for range len(r.Pauses) + 1 {
		known, err := r.fallback(ctx, subject)
		if err != nil || has(known, entry) {
			return err
		}
		known = append(known, entry)
		slices.SortFunc(known, func(a, b v1.Descriptor) int { return strings.Compare(string(a.Digest), string(b.Digest)) })
		data, err := json.Marshal(v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex, Manifests: known})
		if err != nil {
			return err
		}
		if err := r.PutManifest(ctx, data, store.FallbackTag(subject)); err != nil {
			return err
		}
	}
	known, err := r.fallback(ctx, subject)
	if err == nil && !has(known, entry) {
		err = errors.Errorf("%s: other clients keep changing the list of artifacts that refer to %s", r, subject)
	}
	return err
}

func has(list []v1.Descriptor, entry v1.Descriptor) bool {
	return slices.ContainsFunc(list, func(d v1.Descriptor) bool { return d.Digest == entry.Digest })
}

// Referrers returns the manifests that are attached to a digest.
func (r *Repository) Referrers(ctx context.Context, subject string) ([]v1.Descriptor, error) {
	listed, ok, err := r.listed(ctx, subject)
	if ok || err != nil {
		return listed, err
	}
	return r.fallback(ctx, subject)
}

// listed requests the attachments from the registry's own list. It returns false if the registry has no such lists.
func (r *Repository) listed(ctx context.Context, subject string) ([]v1.Descriptor, bool, error) {
	var out []v1.Descriptor
	path := "referrers/" + subject
	for range maxTagPages {
		data, header, err := r.get(ctx, oci.Call{Method: http.MethodGet, Path: path, Want: []int{http.StatusOK}}, store.MaxManifest)
		var c *oci.CallError
		if errors.As(err, &c) && c.Code >= http.StatusBadRequest && !c.Transient {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, errors.Wrapf(err, "cannot list the artifacts that refer to %s in %s", subject, r)
		}
		m, err := store.ParseManifest(data)
		if err != nil || !m.IsIndex() {
			return nil, false, nil //nolint:nilerr // Some answer every path with a web page.
		}
		if out = append(out, m.Manifests...); len(out) > maxListed {
			break
		}
		if path = nextPage(header); path == "" {
			return out, true, nil
		}
	}
	return nil, false, errors.Errorf("cannot list the artifacts that refer to %s in %s: the list has too many pages", subject, r)
}

func (r *Repository) fallback(ctx context.Context, subject string) ([]v1.Descriptor, error) {
	data, _, err := r.Manifest(ctx, store.FallbackTag(subject))
	var missing *store.NotFoundError
	if errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := store.ParseManifest(data)
	if err != nil || !m.IsIndex() {
		return nil, nil //nolint:nilerr // A tag of those who know nothing of this.
	}
	return m.Manifests, nil
}
