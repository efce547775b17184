// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// layoutContent is the content of oci-layout, byte for byte as most tools write it.
	layoutContent = `{"imageLayoutVersion":"1.0.0"}`

	// maxTidy bounds how long Close waits for another process that has locked the layout.
	maxTidy = time.Minute

	tempSuffix    = ".tmp"
	partialSuffix = ".partial"
)

// Create opens the layout at path for writing, and creates it if nothing exists there. A path that ends in .tar,
// .tar.gz or .tgz is a tar, which Close writes as a whole, through temporary files next to it; any other path is a
// directory. Create refuses a directory that contains anything but a layout, and a file that is not a layout.
func Create(ctx context.Context, path string) (*Store, error) {
	info, err := os.Stat(path) //nolint:gosec // The user names their own file.
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case isTarName(path) && (err != nil || !info.IsDir()):
		l, err := createPack(ctx, path, err == nil)
		return l, errors.Wrapf(err, "cannot create image layout %s", path)
	case err == nil && !info.IsDir():
		return nil, errors.Errorf("cannot create image layout %s: must be a directory, or a file whose name ends in .tar, .tar.gz or .tgz", path)
	}
	l, err := createDirectory(ctx, path, err != nil)
	return l, errors.Wrapf(err, "cannot create image layout %s", path)
}

func isTarName(path string) bool {
	return slices.ContainsFunc([]string{".tar", ".tar.gz", ".tgz"}, func(s string) bool { return strings.HasSuffix(path, s) })
}

func createDirectory(ctx context.Context, path string, made bool) (*Store, error) {
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // What is published is read by others, too.
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	l := &Store{path: path, files: directory{root}, root: root, good: map[string]bool{}}
	if err := l.locked(ctx, func() error { return l.prepare(made) }); err != nil {
		_ = root.Close()
		return nil, err
	}
	return l, nil
}

// prepare creates the minimal files of a layout.
func (l *Store) prepare(made bool) error {
	if err := checkLayout(l.files); err == nil || !isMissing(l.root, layoutFile) {
		return err
	}
	f, err := l.root.Open(".")
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	_ = f.Close()
	if err != nil {
		return err
	}
	// Leftovers of a killed process are replaced.
	ours := []string{tempName(layoutFile), tempName(indexFile), indexFile}
	if slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(ours, n) }) || slices.Contains(names, indexFile) && !l.emptyIndex() {
		return errors.New("the directory contains files that do not belong to an image layout: use another or an empty directory")
	}
	l.made, l.madeDirectory = true, made
	data, err := newIndex().encode()
	if err != nil {
		return err
	}
	if err := l.publish(indexFile, data); err != nil {
		return err
	}
	return l.publish(layoutFile, []byte(layoutContent))
}

func (l *Store) emptyIndex() bool {
	i, err := l.readIndex()
	return err == nil && len(i.Manifests) == 0
}

func isMissing(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// locked calls f while no other process changes the layout.
func (l *Store) locked(ctx context.Context, f func() error) error {
	return l.holding(func(dir *os.File) error { return lock(ctx, dir) }, f)
}

// tidyLock is like lock, for cleanup that runs even after the context of the caller has ended.
func tidyLock(dir *os.File) error {
	for end := time.Now().Add(maxTidy); ; time.Sleep(10 * time.Millisecond) {
		if ok, err := tryLock(dir); ok || err != nil {
			return err
		}
		if time.Now().After(end) {
			return errors.Errorf("another process has held the lock for %s", maxTidy)
		}
	}
}

// holding calls f while it holds the lock that lock acquires.
func (l *Store) holding(lock func(dir *os.File) error, f func() error) error {
	if l.root == nil {
		return errors.Errorf("image layout %s is open read-only", l.path)
	}
	if err := l.usable(); err != nil {
		return err
	}
	dir, err := l.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := lock(dir); err != nil {
		return errors.Wrapf(err, "cannot lock image layout %s", l.path)
	}
	return f()
}

func tempName(name string) string { return path.Join(path.Dir(name), "."+path.Base(name)+tempSuffix) }

func partialName(digest string) string {
	name := blobName(digest)
	return path.Join(path.Dir(name), "."+path.Base(name)+partialSuffix)
}

// publish makes data appear under a name atomically and completely. The caller holds the lock of the layout, so that
// only one writer uses the temporary file.
func (l *Store) publish(name string, data []byte) error {
	temp := tempName(name)
	if err := l.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := l.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = l.root.Rename(temp, name)
	}
	if err != nil {
		_ = l.root.Remove(temp)
	}
	return err
}

// Close publishes a tar if the layout has changed. It removes temporary files, and a created directory that is still
// empty. Partially written blobs stay, so that they can be completed, unless a manifest was written or removed.
func (l *Store) Close() error { return l.close(true) }

// Discard is like Close, but does not publish a tar. After Close it does nothing.
func (l *Store) Discard() error { return l.close(false) }

func (l *Store) close(publish bool) error {
	if l.usable() != nil {
		return nil //nolint:nilerr // It is closed already.
	}
	var err error
	if l.pack != nil {
		err = l.pack.finish(l, publish && l.changed)
	} else if l.root != nil {
		err = l.holding(tidyLock, l.tidy)
	}
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	if cerr := l.files.Close(); err == nil {
		err = cerr
	}
	return errors.Wrapf(err, "cannot close image layout %s", l)
}

// tidy removes files that are no longer needed.
func (l *Store) tidy() error {
	if l.done {
		return l.sweepPartials()
	}
	if !l.made || !l.emptyIndex() {
		return nil
	}
	// Directories are removed only if they are empty: a partially written blob is worth keeping.
	if l.root.Remove(blobsDir) != nil && !isMissing(l.root, blobsDir) {
		return nil
	}
	for _, name := range []string{path.Dir(blobsDir), layoutFile, indexFile} {
		if err := l.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if l.madeDirectory {
		_ = os.Remove(l.path)
	}
	return nil
}

// sweepPartials removes partially written blobs, unless a writer has locked them.
func (l *Store) sweepPartials() error {
	names, err := l.list()
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, partialSuffix) {
			continue
		}
		name = blobsDir + "/" + name
		if err := l.removeOdd(name); err != nil {
			return err
		}
		f, err := l.root.Open(name)
		if err != nil {
			continue
		}
		if ok, err := tryLock(f); ok && err == nil {
			_ = l.root.Remove(name)
		}
		_ = f.Close()
	}
	return nil
}

// list returns the file names in the directory of blobs.
func (l *Store) list() ([]string, error) {
	f, err := l.root.Open(blobsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
