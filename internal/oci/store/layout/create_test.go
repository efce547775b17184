// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
)

// TestMain lets the test binary also run as a child process.
func TestMain(m *testing.M) {
	if path := os.Getenv("STORE_TEST_LAYOUT"); path != "" {
		if err := child(path, os.Getenv("STORE_TEST_CONTENT")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child writes artifacts, each with a blob that all processes write.
func child(path, content string) error {
	ctx := context.Background()
	for i := range 5 {
		l, err := Create(ctx, path)
		if err != nil {
			return err
		}
		shared, own := bytes.Repeat([]byte("shared"), 100_000), fmt.Append(nil, content, i)
		m := map[string]any{"schemaVersion": 2, "config": map[string]any{"mediaType": storetest.Octets, "digest": oci.DigestOf(own), "size": len(own)}}
		m["layers"] = []any{map[string]any{"mediaType": storetest.Octets, "digest": oci.DigestOf(shared), "size": len(shared)}}
		for _, b := range [][]byte{shared, own} {
			if err := l.PutBlob(ctx, store.Content{Digest: oci.DigestOf(b), Size: int64(len(b))}, storetest.Opener(b)); err != nil {
				return err
			}
		}
		data, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if err := l.PutManifest(ctx, data, fmt.Sprint(content, "-", i)); err != nil {
			return err
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// TestLayoutProcesses checks that several processes can write to one layout.
func TestLayoutProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "layout")
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			c := exec.CommandContext(t.Context(), os.Args[0])
			c.Env = append(os.Environ(), "STORE_TEST_LAYOUT="+path, fmt.Sprint("STORE_TEST_CONTENT=p", i))
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wait.Wait()
	l := openLayout(t, path)
	tags, err := l.Tags(t.Context())
	if err != nil || len(tags) != 40 {
		t.Errorf("Tags(): %v, %v", tags, err)
	}
	// 40 manifests, 40 own blobs, the shared one, oci-layout and index.json.
	if files := storetest.FilesOf(t, path); len(files) != 83 {
		t.Errorf("there are %d files", len(files))
	}
}

// TestLayoutResume checks that a partially written blob is either completed or replaced.
func TestLayoutResume(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 10_000)
	c := store.Content{Digest: oci.DigestOf(data), Size: int64(len(data))}
	cases := map[string]struct {
		reason string
		have   []byte
		opened []int64
	}{
		"Nothing":  {reason: "A new blob is written from the beginning.", opened: []int64{0}},
		"Half":     {reason: "A partial blob is downloaded from where it ends.", have: data[:50_001], opened: []int64{50_001}},
		"All":      {reason: "A complete blob is not downloaded again.", have: data},
		"Wrong":    {reason: "A partial blob with wrong content is downloaded again.", have: bytes.Repeat([]byte("x"), 50_000), opened: []int64{50_000, 0}},
		"WrongAll": {reason: "A blob of full size with wrong content is downloaded again.", have: bytes.Repeat([]byte("x"), 100_000), opened: []int64{0}},
		"Long":     {reason: "A blob that is too long is downloaded again.", have: append(append([]byte{}, data...), 'x'), opened: []int64{0}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			l := newLayout(t, path)
			if tc.have != nil {
				if err := os.MkdirAll(filepath.Join(path, blobsDir), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(path, partialName(c.Digest)), tc.have, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var opened []int64
			err := l.PutBlob(t.Context(), c, func(offset int64) (io.ReadCloser, error) {
				opened = append(opened, offset)
				return storetest.Opener(data)(offset)
			})
			if diff := cmp.Diff(tc.opened, opened); diff != "" || err != nil {
				t.Errorf("\n%s\nPutBlob(...): %v, opened: -want, +got:\n%s", tc.reason, err, diff)
			}
			if got, err := store.ReadBlob(t.Context(), l, c.Digest, 0); !bytes.Equal(got, data) || err != nil {
				t.Errorf("\n%s\nReadBlob(...): %d bytes, %v", tc.reason, len(got), err)
			}
			if _, err := os.Stat(filepath.Join(path, partialName(c.Digest))); err == nil {
				t.Errorf("\n%s\nPutBlob(...): a file is left", tc.reason)
			}
		})
	}
}

// TestLayoutBadBlob checks that invalid content is never stored.
func TestLayoutBadBlob(t *testing.T) {
	good := []byte("good")
	cases := map[string]struct {
		reason string
		c      store.Content
		data   string
		err    string
	}{
		"Other":  {reason: "The content must match the digest.", c: store.Content{Digest: oci.DigestOf(good), Size: 4}, data: "evil", err: "digest mismatch"},
		"Short":  {reason: "Less than it says.", c: store.Content{Digest: oci.DigestOf(good), Size: 5}, data: "good", err: "bytes in the manifest"},
		"Long":   {reason: "More than it says.", c: store.Content{Digest: oci.DigestOf(good), Size: 3}, data: "good", err: "bytes in the manifest"},
		"Digest": {reason: "The digest must be valid.", c: store.Content{Digest: "sha256:../../x", Size: 4}, data: "good", err: "malformed digest"},
		"Size":   {reason: "The size must be valid.", c: store.Content{Digest: oci.DigestOf(good), Size: -1}, data: "good", err: "-1 bytes"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			l := newLayout(t, path)
			err := l.PutBlob(t.Context(), tc.c, storetest.Opener([]byte(tc.data)))
			if !strings.Contains(text(err), tc.err) || err == nil {
				t.Errorf("\n%s\nPutBlob(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if files := storetest.FilesOf(t, path); len(files) != 2 {
				t.Errorf("\n%s\nPutBlob(...): left %v", tc.reason, files)
			}
		})
	}
}

// TestLayoutDamage checks that a damaged blob is detected and repaired.
func TestLayoutDamage(t *testing.T) {
	path, source := t.TempDir(), newLayout(t, filepath.Join(t.TempDir(), "source"))
	storetest.Artifact(t, source, "1", "one", 1, nil)
	l := newLayout(t, path)
	for range 2 {
		if _, err := store.Copy(t.Context(), source, "1", l, store.CopyOptions{Tag: "1"}); err != nil {
			t.Fatal(err)
		}
		m, _, err := l.Manifest(t.Context(), "1")
		if err != nil {
			t.Fatal(err)
		}
		p, _ := store.ParseManifest(m)
		blob := filepath.Join(path, blobName(string(p.Layers[0].Digest)))
		if _, err := store.ReadBlob(t.Context(), l, string(p.Layers[0].Digest), 0); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(blob, []byte("damaged"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := store.ReadBlob(t.Context(), l, string(p.Layers[0].Digest), 0); !strings.Contains(text(err), "digest mismatch") {
			t.Errorf("ReadBlob(...): %v", err)
		}
		l = newLayout(t, path)
	}
}

func TestCreateLayout(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Join(dir, "full"), 0o755))
	must(os.WriteFile(filepath.Join(dir, "full", "mine"), nil, 0o644))
	must(os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	must(os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o644))
	must(os.WriteFile(filepath.Join(dir, "other.tar"), []byte("x"), 0o644))
	must(os.Mkdir(filepath.Join(dir, "killed"), 0o755))
	must(os.WriteFile(filepath.Join(dir, "killed", ".oci-layout.tmp"), []byte("{"), 0o644))
	cases := map[string]struct {
		reason string
		path   string
		err    string
		left   bool
	}{
		"New":    {reason: "A new directory is created, and is deleted if nothing is written to it.", path: "a/b"},
		"Empty":  {reason: "A directory that was there stays.", path: "empty", left: true},
		"Killed": {reason: "An incomplete layout is completed.", path: "killed", left: true},
		"Full":   {reason: "A directory with other files is not changed.", path: "full", err: "the directory contains files that do not belong to an image layout", left: true},
		"File":   {reason: "A file is none.", path: "file", err: "must be a directory, or a file whose name ends in", left: true},
		"Tar":    {reason: "A tar that is none is not replaced.", path: "other.tar", err: "not a tar archive", left: true},
		"NewTar": {reason: "Without content there is no tar.", path: "new.tar"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, tc.path)
			l, err := Create(t.Context(), path)
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
				t.Fatalf("\n%s\nCreateLayout(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if l != nil {
				mustClose(t, l)
				if _, err := l.Tags(t.Context()); err == nil {
					t.Errorf("\n%s\nTags() after Close(): no error", tc.reason)
				}
			}
			if _, err := os.Stat(path); (err == nil) != tc.left {
				t.Errorf("\n%s\nafter Close(): %v", tc.reason, err)
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestLayoutStale checks that the leftovers of a killed process next to a tar are removed.
func TestLayoutStale(t *testing.T) {
	dir := t.TempDir()
	stale, fresh := filepath.Join(dir, ".x.tar.1.tmp"), filepath.Join(dir, ".x.tar.2.tmp")
	for _, d := range []string{stale, fresh} {
		if err := os.MkdirAll(filepath.Join(d, "layout"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(stale, old, old); err != nil {
		t.Fatal(err)
	}
	mustClose(t, newLayout(t, filepath.Join(dir, "x.tar")))
	if _, err := os.Stat(stale); err == nil {
		t.Error("what is stale is still there")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("what may be in use is gone")
	}
}

// TestCreateLayoutEnds checks that waiting and unpacking end when the context ends.
func TestCreateLayoutEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "layout")
	l := newLayout(t, path)
	storetest.Artifact(t, l, "1.0.0", "content", 1, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := l.locked(t.Context(), func() error {
		_, err := Create(ctx, path)
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Create(...) of a layout that another one has locked: %v", err)
	}
	packed := path + ".tar"
	archive := newLayout(t, packed)
	storetest.Artifact(t, archive, "1.0.0", "content", 1, nil)
	mustClose(t, archive)
	if _, err := Create(ctx, packed); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Create(...) of a tar, when the time is over: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) > 0 {
		t.Errorf("something was left behind: %v, %v", left, err)
	}
}
