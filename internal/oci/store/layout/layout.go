// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

// maxLayoutFile bounds oci-layout, in bytes.
const maxLayoutFile = 4 << 10

// A Store is an OCI image layout. It implements store.Store. Tags are stored in the annotation
// org.opencontainers.image.ref.name in index.json. It is safe for concurrent use, and several processes may share a
// directory.
type Store struct {
	path  string
	files tree

	// root is the directory for writing, or nil if the layout is read-only.
	root *os.Root
	// made reports that the layout did not exist before, and madeDirectory that its directory did not exist.
	made, madeDirectory bool
	// pack is the tar that is created from the layout, or nil.
	pack *pack

	// mu guards the fields below.
	mu sync.Mutex
	// good holds the blobs whose content was read and verified.
	good map[string]bool
	// briefs holds the manifests that were read, by digest; nil means none.
	briefs map[string]*brief
	// blobs reports that a blob was written since the last manifest.
	blobs bool
	// done reports that a manifest was written or removed, and changed that the layout changed.
	done, changed bool
	closed        bool
}

// Open opens the OCI image layout at path for reading: a directory, or a tar with or without gzip. It returns a
// *store.NotFoundError if nothing exists there.
func Open(path string) (*Store, error) {
	info, err := os.Stat(path) //nolint:gosec // The user names their own file.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &store.NotFoundError{What: "image layout", Store: path}
	}
	if err != nil {
		return nil, err
	}
	var t tree
	switch {
	case info.IsDir():
		var root *os.Root
		root, err = os.OpenRoot(path)
		t = directory{root}
	case info.Mode().IsRegular():
		t, err = openArchive(path)
	default:
		err = errors.New("neither a directory nor a file")
	}
	if err != nil {
		return nil, errors.Wrapf(err, "cannot open image layout %s", path)
	}
	if err := checkLayout(t); err != nil {
		_ = t.Close()
		return nil, errors.Wrapf(err, "cannot open image layout %s", path)
	}
	return &Store{path: path, files: t, good: map[string]bool{}}, nil
}

// checkLayout reads oci-layout and returns an error if it is not supported.
func checkLayout(t tree) error {
	f, err := t.open(layoutFile)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("file oci-layout is missing")
	}
	if err != nil {
		return err
	}
	data, err := store.ReadAll(f, maxLayoutFile)
	if err != nil {
		return errors.Wrap(err, layoutFile)
	}
	var l v1.ImageLayout
	if err := json.Unmarshal(data, &l); err != nil {
		return errors.New("file oci-layout is not valid JSON")
	}
	if !strings.HasPrefix(l.Version, "1.") {
		return errors.Errorf("unsupported version %.20q: must be 1.0.0", l.Version)
	}
	return nil
}

// Exists reports whether there is an image layout at path.
func Exists(path string) bool {
	l, err := Open(path)
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// String implements store.Store.
func (l *Store) String() string { return l.path }

// Blob implements store.Reader.
func (l *Store) Blob(_ context.Context, digest string, offset int64) (io.ReadCloser, error) {
	if err := store.CheckBlob(digest, offset); err != nil {
		return nil, err
	}
	f, err := l.openBlob(digest)
	if err != nil {
		return nil, err
	}
	if offset == 0 {
		return store.Verify(f, digest, -1), nil
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		_ = f.Close()
		return nil, errors.Wrapf(err, "cannot read blob %s in %s", digest, l)
	}
	return f, nil
}

func (l *Store) openBlob(digest string) (content, error) {
	if err := l.usable(); err != nil {
		return nil, err
	}
	f, err := l.files.open(blobName(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &store.NotFoundError{What: "blob " + digest, Store: l.path}
	}
	return f, errors.Wrapf(err, "cannot read blob %s in %s", digest, l)
}

func (l *Store) usable() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errors.Errorf("image layout %s is closed", l.path)
	}
	return nil
}

// Manifest implements store.Reader.
func (l *Store) Manifest(_ context.Context, reference string) (data []byte, digest string, err error) {
	digest = reference
	if !oci.ValidDigest(reference) {
		i, err := l.readIndex()
		if err != nil {
			return nil, "", err
		}
		if digest, err = i.find(reference); err != nil {
			return nil, "", errors.Wrapf(err, "image layout %s", l)
		}
		if digest == "" {
			return nil, "", &store.NotFoundError{What: "manifest \"" + reference + "\"", Store: l.path}
		}
	}
	data, err = l.manifest(digest)
	var missing *store.NotFoundError
	if errors.As(err, &missing) {
		err = &store.NotFoundError{What: "manifest \"" + reference + "\"", Store: l.path}
	}
	if err != nil {
		return nil, "", err
	}
	return data, digest, nil
}

// manifest reads a manifest by its digest, whether the index or another manifest lists it.
func (l *Store) manifest(digest string) ([]byte, error) {
	f, err := l.openBlob(digest)
	if err != nil {
		return nil, err
	}
	data, err := store.ReadAll(f, store.MaxManifest)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read manifest %s of %s", digest, l)
	}
	if got := oci.DigestOf(data); got != digest {
		return nil, errors.Wrapf(&store.DigestError{Want: digest, Got: got}, "cannot read manifest of %s: the manifest is damaged", l)
	}
	return data, nil
}

// Tags implements store.Reader.
func (l *Store) Tags(context.Context) ([]string, error) {
	i, err := l.readIndex()
	if err != nil {
		return nil, err
	}
	return i.tags(), nil
}

// Root returns the tag and the digest of the main manifest of the layout: the only one, or the first that is not a
// signature or other attachment. It returns the single manifest of an index instead of that index. The tag may be
// empty. It returns a *store.NotFoundError if the layout is empty.
func (l *Store) Root(ctx context.Context) (tag, digest string, err error) {
	i, err := l.readIndex()
	if err != nil {
		return "", "", err
	}
	known, parts := map[string]*brief{}, map[string]bool{}
	for _, d := range i.Manifests {
		digest := string(d.Digest)
		if known[digest] != nil {
			continue
		}
		if known[digest], err = l.brief(ctx, digest); err != nil {
			return "", "", err
		}
		for _, p := range known[digest].parts {
			parts[p] = true
		}
	}
	for _, d := range i.Manifests {
		digest, tag := string(d.Digest), tagOf(d)
		if known[digest].subject != "" || isAttachment(tag) || parts[digest] {
			continue
		}
		m, err := l.parsed(digest)
		if err != nil {
			return "", "", err
		}
		return tag, single(digest, m), nil
	}
	return "", "", &store.NotFoundError{What: "manifest", Store: l.path}
}

// readIndex reads index.json, which may be missing while a layout is created.
func (l *Store) readIndex() (*index, error) {
	if err := l.usable(); err != nil {
		return nil, err
	}
	f, err := l.files.open(indexFile)
	if errors.Is(err, fs.ErrNotExist) && l.root != nil {
		return newIndex(), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Errorf("image layout %s has no index.json", l)
	}
	if err != nil {
		return nil, errors.Wrapf(err, "image layout %s", l)
	}
	data, err := store.ReadAll(f, maxIndex)
	if err != nil {
		return nil, errors.Wrapf(err, "image layout %s: index.json", l)
	}
	i, err := parseIndex(data)
	return i, errors.Wrapf(err, "image layout %s", l)
}

// A brief holds how a manifest relates to others.
type brief struct {
	subject string
	parts   []string // The digests of the manifests in an index.
}

// brief returns the brief of a manifest, which is read once, however often it is listed.
func (l *Store) brief(ctx context.Context, digest string) (*brief, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	b := l.briefs[digest]
	l.mu.Unlock()
	if b != nil {
		return b, nil
	}
	m, err := l.parsed(digest)
	if err != nil {
		return nil, err
	}
	b = &brief{subject: m.AttachedTo()}
	for _, p := range m.Manifests {
		b.parts = append(b.parts, string(p.Digest))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.briefs == nil {
		l.briefs = map[string]*brief{}
	}
	l.briefs[digest] = b
	return b, nil
}

func (l *Store) parsed(digest string) (*store.Manifest, error) {
	data, err := l.manifest(digest)
	if err != nil {
		return nil, err
	}
	m, err := store.ParseManifest(data)
	return m, errors.Wrapf(err, "manifest %s of %s", digest, l)
}

// single returns the digest of the only manifest of an index, or digest if there is not exactly one.
func single(digest string, m *store.Manifest) string {
	found := ""
	for _, c := range m.Manifests {
		// Image builders add their provenance as a manifest next to that of the image.
		if c.Annotations["vnd.docker.reference.type"] != "" {
			continue
		}
		if found != "" {
			return digest
		}
		found = string(c.Digest)
	}
	if found == "" {
		return digest
	}
	return found
}

// Referrers returns the manifests that are attached to a digest.
func (l *Store) Referrers(ctx context.Context, subject string) ([]v1.Descriptor, error) {
	i, err := l.readIndex()
	if err != nil {
		return nil, err
	}
	var out []v1.Descriptor
	lists := map[string]bool{}
	for _, d := range i.Manifests {
		digest := string(d.Digest)
		b, err := l.brief(ctx, digest)
		if err != nil {
			return nil, err
		}
		if b.subject == subject {
			out = append(out, d)
		}
		// The tag comes from a registry that does not list referrers itself.
		if tagOf(d) != store.FallbackTag(subject) || len(b.parts) == 0 || lists[digest] {
			continue
		}
		lists[digest] = true
		m, err := l.parsed(digest)
		if err != nil {
			return nil, err
		}
		out = append(out, m.Manifests...)
	}
	return out, nil
}
