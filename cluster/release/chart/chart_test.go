// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// unpack returns the files of an archive.
func unpack(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = string(content)
	}
}

// TestPack checks that the chart of this repository has the version of the release, all CRDs, and always the same digest.
func TestPack(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first, err := Pack(root, "v1.2.3", at)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Pack(root, "v1.2.3", at)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Archive, again.Archive) {
		t.Error("the archives differ")
	}
	one, err := first.Image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if two, err := again.Image.Digest(); err != nil || one != two {
		t.Errorf("want the digest %s, got %s, %v", one, two, err)
	}
	files := unpack(t, first.Archive)
	metadata := files["provider-kyma/Chart.yaml"]
	for _, line := range []string{"version: 1.2.3", "appVersion: v1.2.3", "name: provider-kyma"} {
		if !slices.Contains(strings.Split(metadata, "\n"), line) {
			t.Errorf("want a line %q, got\n%s", line, metadata)
		}
	}
	var kinds []string
	for name := range files {
		if strings.HasPrefix(name, "provider-kyma/crds/") {
			kinds = append(kinds, name)
		}
		if strings.HasSuffix(name, ".go") {
			t.Errorf("the chart contains %s", name)
		}
	}
	if diff := cmp.Diff(9, len(kinds)); diff != "" {
		t.Errorf("CRDs: -want, +got:\n%s", diff)
	}
	config, err := first.Image.RawConfigFile()
	if err != nil || !strings.Contains(string(config), `"version":"1.2.3"`) {
		t.Errorf("want the metadata of the chart, got %s, %v", config, err)
	}
}

func TestPackNothing(t *testing.T) {
	if _, err := Pack(t.TempDir(), "v1.2.3", time.Now()); err == nil {
		t.Error("want an error if there is no chart")
	}
}
