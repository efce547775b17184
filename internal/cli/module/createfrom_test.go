// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// pushImage pushes an image with the given layers, and returns its digest.
func pushImage(t *testing.T, repository, tag string, layers ...string) string {
	t.Helper()
	s, err := remote.New(repository, nil)
	if err != nil {
		t.Fatal(err)
	}
	config := []byte(`{"architecture":"amd64","os":"linux"}`)
	putBlob(t, s, config)
	list := []any{}
	for _, l := range layers {
		putBlob(t, s, []byte(l))
		list = append(list, map[string]any{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": digestOf([]byte(l)), "size": len(l)})
	}
	return putManifest(t, s, tag, map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": map[string]any{"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digestOf(config), "size": len(config)},
		"layers": list,
	})
}

func putManifest(t *testing.T, s store.Store, tag string, m map[string]any) string {
	t.Helper()
	data, err := json.Marshal(m)
	if err == nil {
		err = s.PutManifest(t.Context(), data, tag)
	}
	if err != nil {
		t.Fatal(err)
	}
	return digestOf(data)
}

func TestCreateFromImage(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	repository := r.Host() + "/team/image"
	digest := pushImage(t, repository, "1.0", "first layer", "second layer")
	dir, secret := fixture(t, "full"), privateKey(t)
	t.Chdir(t.TempDir())

	kymactl(t, "module", "create", dir, "--from", repository+":1.0", "-o", "out").want(t, command.ExitOK, "Wrote")
	l, err := layout.Open("out")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	data, _, err := l.Manifest(t.Context(), "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Layers      []struct{ Digest string }
		Annotations map[string]string
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Layers) != 11 || m.Layers[1].Digest != digestOf([]byte("first layer")) || m.Layers[2].Digest != digestOf([]byte("second layer")) {
		t.Errorf("layers: %v", m.Layers)
	}
	want := map[string]string{"org.opencontainers.image.base.name": repository + ":1.0", "org.opencontainers.image.base.digest": digest}
	if diff := cmp.Diff(want, m.Annotations); diff != "" {
		t.Errorf("annotations: %s", diff)
	}
	kymactl(t, "module", "create", dir, "--from", repository+":1.0", "-o", "signed", "--key", secret).want(t, command.ExitOK, "")
	kymactl(t, "module", "create", dir, "--from", repository+":1.0", "-o", "later").want(t, command.ExitOK, "")
	kymactl(t, "module", "sign", "later", "--key", secret).want(t, command.ExitOK, "")
	wantSame(t, "signed", "later")
	inspected := kymactl(t, "module", "inspect", "out", "-o", "json").want(t, command.ExitOK, "")
	if !strings.Contains(inspected.out, digestOf([]byte("first layer"))) {
		t.Errorf("inspect: %s", inspected.out)
	}

	// Only a name and a version are needed in addition, and nothing in the working directory is added.
	if err := os.WriteFile("extra.yaml", []byte("a: b"), 0o600); err != nil {
		t.Fatal(err)
	}
	alone := kymactl(t, "module", "create", "--from", repository+"@"+digest, "--name", greeter, "--version", "1.0.0", "-o", "alone").want(t, command.ExitOK, "")
	again := kymactl(t, "module", "create", "--from", repository+"@"+digest, "--name", greeter, "--version", "1.0.0", "--dry-run").want(t, command.ExitOK, "")
	if alone.lastLine() != again.lastLine() {
		t.Errorf("digests: %s, %s", alone.lastLine(), again.lastLine())
	}
	kymactl(t, "module", "create", "--from", repository+":1.0", "-o", "x").want(t, command.ExitFailure, "name is missing")
	kymactl(t, "module", "create", "--from", repository+":2.0", "-o", "x").want(t, command.ExitNotFound, "2.0")

	s, err := remote.New(repository, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := pushImage(t, repository, "arm", "arm layer")
	child := func(digest, arch string) map[string]any {
		data, _, err := s.Manifest(t.Context(), digest)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]any{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest, "size": len(data), "platform": map[string]any{"os": "linux", "architecture": arch}}
	}
	index := map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []any{child(digest, "amd64"), child(other, "arm64")}}
	putManifest(t, s, "index", index)
	kymactl(t, "module", "create", "--from", repository+":index", "--name", greeter, "--version", "1.0.0", "-o", "x").
		want(t, command.ExitFailure, "the reference is an index of 2 images: specify the digest of one of them: "+digest+" (linux/amd64), "+other+" (linux/arm64)")
	index["manifests"] = []any{child(digest, "amd64")}
	putManifest(t, s, "single", index)
	kymactl(t, "module", "create", "--from", repository+":single", "--name", greeter, "--version", "1.0.0", "-o", "single").want(t, command.ExitOK, "")
	if _, err := os.Stat("x"); err == nil {
		t.Error("something was written")
	}
}

func TestCreateFromModule(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	full, chart, want := fixture(t, "full"), fixture(t, "chart"), goldenDigest(t, "full")
	t.Chdir(t.TempDir())
	kymactl(t, "module", "create", full, "--key", privateKey(t), "-o", "base").want(t, command.ExitOK, "")
	kymactl(t, "module", "push", "base", r.Host()+"/modules").want(t, command.ExitOK, "")
	base := []string{"base", r.Host() + "/modules//" + greeter + ":1.2.3", r.Host() + "/modules/component-descriptors/" + greeter + ":1.2.3"}

	var digests []string
	for _, from := range base {
		got := kymactl(t, "module", "create", "--from", from, "--dry-run").want(t, command.ExitOK, "the signatures of the base are omitted")
		if got.lastLine() != want {
			t.Errorf("--from %s: without changes, want the digest of the unsigned base, %s, got %s", from, want, got.lastLine())
		}
		over := kymactl(t, "module", "create", chart, "--from", from, "--version", "2.0.0", "--channel", "rapid", "-o", "over").want(t, command.ExitOK, "")
		digests = append(digests, over.lastLine())
	}
	if slices.Sort(digests); len(slices.Compact(digests)) != 1 {
		t.Errorf("digests: %v", digests)
	}
	l, err := layout.Open("over")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var got []string
	for _, d := range describe(t, l, "2.0.0").Resources() {
		got = append(got, d.Name+" "+d.Version)
	}
	resources := []string{"crds 2.0.0", "config 2.0.0", "greeter 2.0.0", "manifests 2.0.0", "more 2.0.0", "tuned 2.0.0", "default-cr 2.0.0", "moduletemplate 2.0.0"}
	if diff := cmp.Diff(resources, got); diff != "" {
		t.Errorf("resources: -want, +got:\n%s", diff)
	}
	text := kymactl(t, "module", "create", "--from", "over", "--dry-run").want(t, command.ExitOK, "")
	if text.lastLine() != digests[0] {
		t.Errorf("--from a module with a base: want %s, got %s", digests[0], text.lastLine())
	}
}

// describe returns the component descriptor of a layout.
func describe(t *testing.T, l *layout.Store, tag string) *ocm.Descriptor {
	t.Helper()
	data, _, err := l.Manifest(t.Context(), tag)
	if err != nil {
		t.Fatal(err)
	}
	d, err := artifact.Describe(t.Context(), layoutRegistry{l}, l.String(), data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
