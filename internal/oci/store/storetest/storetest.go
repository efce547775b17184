// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

// Octets is the media type of blobs.
const Octets = "application/octet-stream"

// Opener returns a function that opens data, for PutBlob.
func Opener(data []byte) func(int64) (io.ReadCloser, error) {
	return func(offset int64) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data[offset:])), nil }
}

// Put writes a blob, and returns its descriptor.
func Put(tb testing.TB, to store.Writer, data []byte) v1.Descriptor {
	tb.Helper()
	d := v1.Descriptor{MediaType: Octets, Digest: digest.Digest(oci.DigestOf(data)), Size: int64(len(data))}
	if err := to.PutBlob(tb.Context(), store.Content{MediaType: Octets, Digest: string(d.Digest), Size: d.Size}, Opener(data)); err != nil {
		tb.Fatal(err)
	}
	return d
}

// PutManifest writes a manifest under a tag, and returns its descriptor.
func PutManifest(tb testing.TB, to store.Writer, m any, tag string) v1.Descriptor {
	tb.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	if err := to.PutManifest(tb.Context(), data, tag); err != nil {
		tb.Fatal(err)
	}
	p, err := store.ParseManifest(data)
	if err != nil {
		tb.Fatal(err)
	}
	return v1.Descriptor{MediaType: p.MediaType, Digest: digest.Digest(oci.DigestOf(data)), Size: int64(len(data))}
}

// Artifact writes a manifest with some layers, and returns its descriptor. Different content results in different
// layers.
func Artifact(tb testing.TB, to store.Writer, tag, content string, layers int, subject *v1.Descriptor) v1.Descriptor {
	tb.Helper()
	m := v1.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, Subject: subject}
	m.Config = Put(tb, to, []byte(`{"of":"`+content+`"}`))
	m.Layers = []v1.Descriptor{}
	for i := range layers {
		m.Layers = append(m.Layers, Put(tb, to, bytes.Repeat(fmt.Appendf(nil, "%s %d\n", content, i), 1000)))
	}
	return PutManifest(tb, to, m, tag)
}

// Multi writes an index of two artifacts, and returns its descriptor.
func Multi(tb testing.TB, to store.Writer, tag string) v1.Descriptor {
	tb.Helper()
	i := v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}
	for _, arch := range []string{"amd64", "arm64"} {
		d := Artifact(tb, to, "", arch, 1, nil)
		d.Platform = &v1.Platform{OS: "linux", Architecture: arch}
		i.Manifests = append(i.Manifests, d)
	}
	return PutManifest(tb, to, i, tag)
}

// FilesOf returns the contents of the files below a directory, by their relative paths.
func FilesOf(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path) //nolint:gosec // A directory of the test.
		rel, _ := filepath.Rel(dir, path)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
