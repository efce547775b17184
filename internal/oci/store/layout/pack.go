// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

// stalePack is the age at which a temporary directory without an owner may be removed.
const stalePack = time.Minute

// A pack is a tar that is created from a layout in a temporary directory next to it.
type pack struct {
	target string
	temp   string
	// owner is locked while this process lives.
	owner *os.File
}

func createPack(ctx context.Context, target string, exists bool) (*Store, error) {
	dir, base := filepath.Split(target)
	if err := os.MkdirAll(filepath.Clean(dir), 0o755); err != nil { //nolint:gosec // What is published is read by others, too.
		return nil, err
	}
	prefix := "." + base + "."
	removeStale(dir, prefix)
	p, err := newPack(target, filepath.Clean(dir), prefix)
	if err != nil {
		return nil, err
	}
	l, err := createDirectory(ctx, filepath.Join(p.temp, "layout"), true)
	if err == nil && exists {
		err = unpack(ctx, target, l)
	}
	if err != nil {
		if l != nil {
			_ = l.files.Close()
		}
		p.remove()
		return nil, err
	}
	l.path, l.pack = target, p
	return l, nil
}

func newPack(target, dir, prefix string) (*pack, error) {
	temp, err := os.MkdirTemp(dir, prefix+"*"+tempSuffix)
	if err != nil {
		return nil, err
	}
	owner, err := os.Open(temp) //nolint:gosec // It was just made.
	if err != nil {
		_ = os.RemoveAll(temp) //nolint:gosec // It was just made.
		return nil, err
	}
	p := &pack{target: target, temp: temp, owner: owner}
	if _, err := tryLock(owner); err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func (p *pack) remove() {
	_ = os.RemoveAll(p.temp) //nolint:gosec // We made it.
	_ = p.owner.Close()
}

// removeStale removes the leftovers of killed processes next to the tar.
func removeStale(dir, prefix string) {
	found, err := filepath.Glob(filepath.Join(dir, globEscape(prefix)+"*"+tempSuffix))
	if err != nil {
		return
	}
	for _, path := range found {
		info, err := os.Lstat(path) //nolint:gosec // Only directories with our name.
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < stalePack {
			continue
		}
		f, err := os.Open(path) //nolint:gosec // Only directories with our name.
		if err != nil {
			continue
		}
		if ok, err := tryLock(f); ok && err == nil {
			_ = os.RemoveAll(path) //nolint:gosec // Only directories with our name.
		}
		_ = f.Close()
	}
}

func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// unpack copies the layout at path into l.
func unpack(ctx context.Context, path string, l *Store) error {
	from, err := Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	a, ok := from.files.(*archive)
	if !ok {
		return errors.New("not a tar archive")
	}
	for name, e := range a.entries {
		digest := "sha256:" + filepath.Base(name)
		if !oci.ValidDigest(digest) {
			continue
		}
		open := func(offset int64) (io.ReadCloser, error) { return from.Blob(ctx, digest, offset) }
		if err := l.PutBlob(ctx, store.Content{Digest: digest, Size: e.size}, open); err != nil {
			return err
		}
	}
	i, err := from.readIndex()
	if err != nil {
		return err
	}
	if err := l.locked(ctx, func() error { return l.finish(i, true) }); err != nil {
		return err
	}
	l.changed, l.done = false, false
	return nil
}

// finish writes the tar through a temporary file if publish is true, and removes temporary files.
func (p *pack) finish(l *Store, publish bool) error {
	defer p.remove()
	if !publish {
		return nil
	}
	temp := filepath.Join(p.temp, "out")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // What is published is read by others, too.
	if err != nil {
		return err
	}
	err = p.write(l, f)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(temp, p.target) //nolint:gosec // The user names their own file.
}

func (p *pack) write(l *Store, f *os.File) error {
	b := bufio.NewWriterSize(f, 1<<20)
	var w io.Writer = b
	var z *gzip.Writer
	if !strings.HasSuffix(p.target, ".tar") {
		z = gzip.NewWriter(b)
		w = z
	}
	if err := writeTar(l, w); err != nil {
		return err
	}
	if z != nil {
		if err := z.Close(); err != nil {
			return err
		}
	}
	return b.Flush()
}

// writeTar writes the layout as a tar, with the same bytes for the same layout: sorted, and without owners or times.
func writeTar(l *Store, w io.Writer) error {
	blobs, err := l.list()
	if err != nil {
		return err
	}
	blobs = slices.DeleteFunc(blobs, func(n string) bool { return !oci.ValidDigest("sha256:" + n) })
	slices.Sort(blobs)
	t := tar.NewWriter(w)
	for _, dir := range []string{filepath.Dir(blobsDir) + "/", blobsDir + "/"} {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}); err != nil {
			return err
		}
	}
	names := []string{}
	for _, b := range blobs {
		names = append(names, blobsDir+"/"+b)
	}
	for _, name := range append(names, indexFile, layoutFile) {
		if err := writeEntry(t, l, name); err != nil {
			return err
		}
	}
	return t.Close()
}

func writeEntry(t *tar.Writer, l *Store, name string) error {
	f, err := l.files.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: f.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}
