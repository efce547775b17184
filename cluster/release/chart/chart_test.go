// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/charts"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

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
	files, config, err := contents(root, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	metadata := string(files[charts.MetadataFile])
	for _, line := range []string{"version: 1.2.3", "appVersion: v1.2.3", "name: provider-kyma"} {
		if !slices.Contains(strings.Split(metadata, "\n"), line) {
			t.Errorf("want a line %q, got\n%s", line, metadata)
		}
	}
	var kinds []string
	for name := range files {
		if strings.HasPrefix(name, "crds/") {
			kinds = append(kinds, name)
		}
		if strings.HasSuffix(name, ".go") {
			t.Errorf("the chart contains %s", name)
		}
	}
	if diff := cmp.Diff(9, len(kinds)); diff != "" {
		t.Errorf("CRDs: -want, +got:\n%s", diff)
	}
	if got, err := first.Image.RawConfigFile(); err != nil || !bytes.Equal(got, config) || !bytes.Contains(got, []byte(`"version":"1.2.3"`)) {
		t.Errorf("want the metadata of the chart, got %s, %v", got, err)
	}
}

func TestPackNothing(t *testing.T) {
	if _, err := Pack(t.TempDir(), "v1.2.3", time.Now()); err == nil {
		t.Error("want an error if there is no chart")
	}
}
