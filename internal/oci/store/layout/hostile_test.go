// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
)

// TestLayoutManyTimes checks that a large manifest is read only once, even if an index lists it many times.
func TestLayoutManyTimes(t *testing.T) {
	dir := t.TempDir()
	l := newLayout(t, dir)
	big := v1.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, Config: storetest.Put(t, l, []byte("{}"))}
	layer := storetest.Put(t, l, []byte("x"))
	for range 20_000 {
		big.Layers = append(big.Layers, layer)
	}
	// All of them are attached to another manifest, so none of them is the main manifest of the layout.
	big.Subject = &layer
	d := storetest.PutManifest(t, l, big, "")
	i := v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}
	for range maxListed {
		i.Manifests = append(i.Manifests, d)
	}
	data, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	if err := os.WriteFile(filepath.Join(dir, indexFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	l = openLayout(t, dir)
	begin := time.Now()
	if _, _, err := l.Root(t.Context()); err == nil {
		t.Error("Root(): no error")
	}
	if all, err := l.Referrers(t.Context(), oci.DigestOf([]byte("x"))); err != nil || len(all) != maxListed {
		t.Errorf("referrers(...): %d, %v", len(all), err)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("Root() and referrers(...) took %s", took)
	}
}

// TestLayoutCancelled checks that searching a large layout can be stopped.
func TestLayoutCancelled(t *testing.T) {
	l := newLayout(t, t.TempDir())
	d := storetest.Artifact(t, l, "1", "one", 1, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.Root(ctx); err == nil {
		t.Error("Root(): no error")
	}
	if _, err := l.Referrers(ctx, string(d.Digest)); err == nil {
		t.Error("referrers(...): no error")
	}
}

// TestLayoutOddPartial checks that unexpected files in place of a partially written blob cause no harm, such as a link to
// another file of the layout, or a pipe.
func TestLayoutOddPartial(t *testing.T) {
	data := []byte("the content of a blob")
	cases := map[string]struct {
		reason string
		make   func(path string) error
	}{
		"Link": {reason: "The partial blob is a link to the index.", make: func(path string) error { return os.Symlink("../../"+indexFile, path) }},
		"Pipe": {reason: "The partial blob is a pipe, which no one writes to.", make: mkfifo},
		"Dir":  {reason: "The partial blob is a directory.", make: func(path string) error { return os.Mkdir(path, 0o700) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := newLayout(t, dir)
			storetest.Artifact(t, l, "1", "one", 1, nil)
			before := storetest.FilesOf(t, dir)[indexFile]
			for _, content := range []string{string(data), "other"} {
				if err := tc.make(filepath.Join(dir, partialName(oci.DigestOf([]byte(content))))); err != nil {
					t.Fatal(err)
				}
			}
			done := make(chan error, 1)
			go func() {
				err := l.PutBlob(t.Context(), store.Content{Digest: oci.DigestOf(data), Size: int64(len(data))}, storetest.Opener(data))
				if err == nil {
					err = l.Close()
				}
				done <- err
			}()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("\n%s\nPutBlob(...), Close(): %v", tc.reason, err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("\n%s\nPutBlob(...), Close(): still running", tc.reason)
			}
			if after := storetest.FilesOf(t, filepath.Join(dir, "."))[indexFile]; after != before {
				t.Errorf("\n%s\nPutBlob(...): changed the index", tc.reason)
			}
		})
	}
}
