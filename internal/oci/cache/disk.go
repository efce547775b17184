// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

const (
	tempPrefix = ".tmp-"

	// staleTemp is the age at which a temporary file must be left over from a crash.
	staleTemp = time.Hour
)

// A disk is a store in a directory: <scope>/sha256/<hex of the digest>. Files are published by rename and verified
// when read, so processes may share a directory, and neither a crash nor a faulty disk makes it return other content.
type disk struct {
	dir  string
	most int64

	// mu guards used and lets one goroutine at a time sweep.
	mu sync.Mutex
	// used is the assumed size of the directory, in bytes. Other processes may add to it; each sweep counts again.
	used int64
}

func newDisk(dir string, size int64) (*disk, error) {
	dir, err := openDirectory(dir, os.Geteuid())
	if err != nil {
		return nil, errors.Wrap(err, "cannot create the cache directory")
	}
	d := &disk{dir: dir, most: size}
	d.sweep()
	return d, nil
}

func (d *disk) path(scope, digest string) string {
	return filepath.Join(d.dir, scope, "sha256", strings.TrimPrefix(digest, "sha256:"))
}

func (d *disk) size(scope, digest string) int64 {
	info, err := os.Lstat(d.path(scope, digest))
	if err != nil {
		return 0
	}
	return info.Size()
}

func (d *disk) get(scope, digest string) ([]byte, bool) {
	path := d.path(scope, digest)
	data, err := readRegular(path, d.most)
	if err != nil {
		return nil, false
	}
	if oci.DigestOf(data) != digest {
		_ = os.Remove(path) // If that fails, the next pull replaces it.
		return nil, false
	}
	// Many file systems do not keep access times, so the modification time records the last use.
	now := time.Now()
	_ = os.Chtimes(path, now, now)
	return data, true
}

func (d *disk) put(scope, digest string, data []byte) {
	if int64(len(data)) > d.most || publish(d.path(scope, digest), data) != nil {
		return
	}
	d.mu.Lock()
	d.used += int64(len(data))
	full := d.used > d.most
	d.mu.Unlock()
	if full {
		d.sweep()
	}
}

// publish makes data appear at path atomically and completely. It does not call fsync: the digest reveals files that
// a power failure truncated.
func publish(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// sweep counts what is stored and, if that exceeds the size, removes the least recently used files until a tenth of
// the size is free again.
func (d *disk) sweep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	files, stale, used := d.list()
	for _, path := range stale {
		_ = os.Remove(path)
	}
	if used > d.most {
		sort.Slice(files, func(i, j int) bool { return files[i].info.ModTime().Before(files[j].info.ModTime()) })
		for _, f := range files {
			if used <= d.most-d.most/10 {
				break
			}
			if os.Remove(f.path) == nil {
				used -= f.info.Size()
			}
		}
	}
	d.used = used
}

type storedFile struct {
	path string
	info fs.FileInfo
}

// list returns the published files, the leftovers of crashes, and the size of the published files in bytes.
func (d *disk) list() (files []storedFile, stale []string, used int64) {
	// Errors come from files that another process has just removed.
	_ = filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // See above.
		}
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // See above.
		}
		if strings.HasPrefix(e.Name(), tempPrefix) {
			if time.Since(info.ModTime()) > staleTemp {
				stale = append(stale, path)
			}
			return nil
		}
		files = append(files, storedFile{path: path, info: info})
		used += info.Size()
		return nil
	})
	return files, stale, used
}
