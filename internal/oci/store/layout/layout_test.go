// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
)

// TestLayoutBytes checks that the same artifacts result in the same bytes, regardless of their order.
func TestLayoutBytes(t *testing.T) {
	write := func(path string, tags ...string) map[string]string {
		l := newLayout(t, path)
		for _, tag := range tags {
			storetest.Artifact(t, l, tag, "content of "+tag, 2, nil)
		}
		mustClose(t, l)
		return storetest.FilesOf(t, filepath.Dir(path))
	}
	for _, name := range []string{"layout", "layout.tar", "layout.tgz"} {
		a := write(filepath.Join(t.TempDir(), name), "x", "y", "z")
		b := write(filepath.Join(t.TempDir(), name), "z", "x", "y", "x")
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: -one order, +the other:\n%.500s", name, diff)
		}
	}
}

// TestLayoutAgain checks that a complete tar is not rewritten if nothing changes, and that artifacts can be added to it.
func TestLayoutAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "layout.tar")
	l := newLayout(t, path)
	storetest.Artifact(t, l, "x", "x", 1, nil)
	mustClose(t, l)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	l = newLayout(t, path)
	storetest.Artifact(t, l, "x", "x", 1, nil)
	mustClose(t, l)
	after, _ := os.Stat(path)
	if !os.SameFile(before, after) {
		t.Error("the same content was written again")
	}
	l = newLayout(t, path)
	storetest.Artifact(t, l, "y", "y", 1, nil)
	mustClose(t, l)
	l = newLayout(t, path)
	storetest.Artifact(t, l, "discarded", "z", 1, nil)
	if err := l.Discard(); err != nil {
		t.Error(err)
	}
	if got := storetest.FilesOf(t, dir); len(got) != 1 {
		t.Errorf("there are %d files", len(got))
	}
	tags, err := openLayout(t, path).Tags(t.Context())
	if diff := cmp.Diff([]string{"x", "y"}, tags); diff != "" || err != nil {
		t.Errorf("Tags(): %s%v", diff, err)
	}
}

func TestLayoutPrune(t *testing.T) {
	fill := func(l *Store) v1.Descriptor {
		root := storetest.Artifact(t, l, "1", "one", 2, nil)
		storetest.Artifact(t, l, store.FallbackTag(string(root.Digest))+".sig", "signature", 1, nil)
		sbom := storetest.Artifact(t, l, "", "sbom", 1, &root)
		storetest.Artifact(t, l, "", "signature of sbom", 1, &sbom)
		return root
	}
	clean := t.TempDir()
	l := newLayout(t, clean)
	root := fill(l)
	mustClose(t, l)
	for name, keep := range map[string]string{"Tag": "1", "Digest": string(root.Digest)} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			l := newLayout(t, path)
			other := storetest.Artifact(t, l, "2", "two", 2, nil)
			storetest.Artifact(t, l, store.FallbackTag(string(other.Digest))+".sig", "other signature", 1, nil)
			storetest.Artifact(t, l, "", "other sbom", 1, &other)
			storetest.Multi(t, l, "3")
			storetest.Put(t, l, []byte("lost"))
			fill(l)
			if err := l.Prune(t.Context(), "no"); !errors.As(err, new(*store.NotFoundError)) {
				t.Errorf("Prune(no): %v", err)
			}
			if err := l.Prune(t.Context(), keep); err != nil {
				t.Fatal(err)
			}
			if tag, digest, err := l.Root(t.Context()); tag != "1" || digest != string(root.Digest) || err != nil {
				t.Errorf("Root(): %s, %s, %v", tag, digest, err)
			}
			mustClose(t, l)
			if diff := cmp.Diff(storetest.FilesOf(t, clean), storetest.FilesOf(t, path)); diff != "" {
				t.Errorf("Prune(%s): -want, +got:\n%.1000s", keep, diff)
			}
		})
	}
}

func TestLayoutManifest(t *testing.T) {
	l := newLayout(t, t.TempDir())
	ctx := t.Context()
	one := storetest.Artifact(t, l, "1", "one", 1, nil)
	if _, digest, err := l.Manifest(ctx, "1"); digest != string(one.Digest) || err != nil {
		t.Errorf("Manifest(1): %s, %v", digest, err)
	}
	for _, missing := range []string{"2", "", "sha256:" + strings.Repeat("0", 64)} {
		if _, _, err := l.Manifest(ctx, missing); !errors.As(err, new(*store.NotFoundError)) {
			t.Errorf("Manifest(%q): %v", missing, err)
		}
	}
	if err := l.PutManifest(ctx, []byte(`{"schemaVersion":2,"layers":[{"digest":"sha256:`+strings.Repeat("0", 64)+`","size":1}]}`), "x"); !strings.Contains(text(err), "the manifest refers to missing blob") {
		t.Errorf("PutManifest(...) without its blobs: %v", err)
	}
	two := storetest.Artifact(t, l, "1", "two", 1, nil)
	if _, digest, err := l.Manifest(ctx, "1"); digest != string(two.Digest) || err != nil {
		t.Errorf("Manifest(1) after it moved: %s, %v", digest, err)
	}
	read := openLayout(t, l.path)
	if err := read.PutManifest(ctx, []byte(`{"schemaVersion":2}`), "x"); !strings.Contains(text(err), "read-only") {
		t.Errorf("PutManifest(...) to what is read: %v", err)
	}
	if err := read.Prune(ctx, "1"); !strings.Contains(text(err), "read-only") {
		t.Errorf("Prune(...) of what is read: %v", err)
	}
}
