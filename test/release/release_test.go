// SPDX-License-Identifier: Apache-2.0

package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// TestRelease builds a release once, and lets users verify it.
func TestRelease(t *testing.T) {
	w := newWorld(t)
	for _, step := range []struct {
		name   string
		verify func(*testing.T, *world)
	}{
		// The first one pushes another release, so that the others show that releases do not affect each other in a registry.
		{"Upgrade", upgraded}, {"Files", files}, {"Checksums", checksums}, {"Kymactl", kymactl}, {"Signatures", signatures},
		{"Referrers", attached}, {"Provenance", provenance}, {"Packages", packages}, {"Chart", pulled}, {"Notes", notes}, {"Again", again},
	} {
		t.Run(step.name, func(t *testing.T) { step.verify(t, w) })
	}
}

// files checks that everything is in the directory.
func files(t *testing.T, w *world) {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]string, 0, len(entries))
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := []string{
		sums, sums + ".sigstore.json", "image", "digests.txt", "kyma.yaml", "notes.md", "provenance.intoto.json",
		"provider-kyma-chart.spdx.json", "provider-kyma-chart.tgz", configuration + ".spdx.json", configuration + ".xpkg",
		provider + ".xpkg", provider + "-" + suffix + ".spdx.json",
		image + "-" + suffix + ".spdx.json", "kymactl-" + suffix + ".spdx.json", "kymactl-" + suffix + ".tar.gz",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// checksums checks that the sums are those of all files, in the format of sha256sum.
func checksums(t *testing.T, w *world) {
	listed := map[string]bool{}
	for line := range strings.Lines(string(w.read(t, sums))) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = true
		got := sha256.Sum256(w.read(t, name))
		if hex.EncodeToString(got[:]) != want {
			t.Errorf("%s: want the sum %s, got %x", name, want, got)
		}
	}
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), sums) && !listed[e.Name()] {
			t.Errorf("%s has no sum", e.Name())
		}
	}
}

// kymactl checks that the archive contains a program for this machine, and what belongs to it.
func kymactl(t *testing.T, w *world) {
	if runtime.GOOS != "linux" {
		t.Logf("this machine runs %s, so it only unpacks the program for Linux", runtime.GOOS)
	}
	dir := w.unpack(t)
	for _, name := range []string{"LICENSE", "completions/kymactl.bash", "completions/_kymactl", "man/man1/kymactl-module-create.1"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	out, err := execute(t.Context(), dir, filepath.Join(dir, "kymactl"), "--version")
	if err != nil || strings.TrimSpace(out) != version {
		t.Errorf("kymactl --version: want %s, got %q, %v", version, out, err)
	}
}

// signatures checks that cosign verifies everything that is signed, and refuses what is not.
func signatures(t *testing.T, w *world) {
	verify := func(reference string) error {
		_, err := tool(t, t.TempDir(), tools.Cosign, "verify", "--key", w.public, "--insecure-ignore-tlog=true", "--allow-http-registry", reference)
		return err
	}
	for _, reference := range []string{
		image + ":" + version, image + "@" + w.digest(t, image+"-"+suffix), provider + ":" + version, configuration + ":" + version,
		chart + ":" + chartVersion,
	} {
		if err := verify(w.base + "/" + reference); err != nil {
			t.Errorf("cosign verify %s: %v", reference, err)
		}
	}
	unsigned, err := w.registry.PushBlob(t.Context(), "team/unsigned", []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(unsigned.Repository + "@" + unsigned.Manifest); err == nil {
		t.Error("cosign verifies what no one has signed")
	}
	blob := func(path string) error {
		_, err := tool(t, t.TempDir(), tools.Cosign, "verify-blob", "--key", w.public, "--insecure-ignore-tlog=true",
			"--bundle", filepath.Join(w.dir, sums+".sigstore.json"), path)
		return err
	}
	if err := blob(filepath.Join(w.dir, sums)); err != nil {
		t.Errorf("cosign verify-blob: %v", err)
	}
	changed := filepath.Join(t.TempDir(), sums)
	if err := os.WriteFile(changed, append(w.read(t, sums), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := blob(changed); err == nil {
		t.Error("cosign verifies changed sums")
	}
}

// attached checks that oras finds the SBOM and the provenance of all artifacts, and that they are the files of the release. An artifact
// that did not change since another release, as the configuration, has the documents of both.
func attached(t *testing.T, w *world) {
	const spdx, intoto = "application/spdx+json", "application/vnd.in-toto+json"
	for reference, bill := range map[string]string{
		image + ":" + version:                            image + "-" + suffix + ".spdx.json",
		image + "@" + w.digest(t, image+"-"+suffix):      image + "-" + suffix + ".spdx.json",
		provider + ":" + version:                         provider + "-" + suffix + ".spdx.json",
		configuration + ":" + version:                    configuration + ".spdx.json",
		chart + ":" + chartVersion:                       "provider-kyma-chart.spdx.json",
		provider + "@" + w.digest(t, provider):           provider + "-" + suffix + ".spdx.json",
		configuration + "@" + w.digest(t, configuration): configuration + ".spdx.json",
	} {
		found := referrers(t, w.base+"/"+reference)
		for name, media := range map[string]string{bill: spdx, "provenance.intoto.json": intoto} {
			if found[name].ArtifactType != media {
				t.Errorf("oras discover %s: want %s of type %s, got %v", reference, name, media, found)
				continue
			}
			dir := t.TempDir()
			ok(t, tools.Oras, "pull", "--plain-http", "--output", dir, found[name].Reference)
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !bytes.Equal(got, w.read(t, name)) {
				t.Errorf("oras pull of %s of %s: it is not the file of the release: %v", name, reference, err)
			}
		}
	}
}

// provenance checks that the SBOMs and the provenance describe what is in the registry and in the archives.
func provenance(t *testing.T, w *world) {
	var statement struct {
		Subject []struct {
			Name   string            `json:"name"`
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
	}
	decode(t, w.read(t, "provenance.intoto.json"), &statement)
	subjects := map[string]string{}
	for _, s := range statement.Subject {
		subjects[s.Name] = s.Digest["sha256"]
	}
	for _, name := range []string{image, image + "-" + suffix, provider, configuration} {
		if want := strings.TrimPrefix(w.digest(t, name), "sha256:"); subjects[name] != want {
			t.Errorf("%s: want the digest %s, got %q", name, want, subjects[name])
		}
		bill := name + ".spdx.json"
		if _, err := os.Stat(filepath.Join(w.dir, bill)); err == nil && !bytes.Contains(w.read(t, bill), []byte(subjects[name])) {
			t.Errorf("%s does not contain the digest %s", bill, subjects[name])
		}
	}
	archive := "kymactl-" + suffix + ".tar.gz"
	if got := sha256.Sum256(w.read(t, archive)); subjects[archive] != hex.EncodeToString(got[:]) {
		t.Errorf("%s: want the sum %x, got %q", archive, got, subjects[archive])
	}
	if !bytes.Contains(w.read(t, "kyma.yaml"), []byte(subjects[archive])) {
		t.Errorf("the manifest for krew does not contain the sum of %s", archive)
	}
	for bill, module := range map[string]string{
		"kymactl-" + suffix + ".spdx.json":     "pkg:golang/github.com/spf13/cobra@",
		image + "-" + suffix + ".spdx.json":    "pkg:golang/golang.org/x/crypto/x509roots/fallback@",
		provider + "-" + suffix + ".spdx.json": "pkg:golang/sigs.k8s.io/controller-runtime@",
		configuration + ".spdx.json":           `"DESCRIBES"`,
	} {
		if !bytes.Contains(w.read(t, bill), []byte(module)) {
			t.Errorf("%s does not contain %s", bill, module)
		}
	}
}

// packages checks that the command line of Crossplane pushes the package files with the same digests.
func packages(t *testing.T, w *world) {
	for _, name := range []string{provider, configuration} {
		reference := w.registry.Host() + "/other/" + name + ":" + version
		ok(t, tools.Crank, "xpkg", "push", "-f", filepath.Join(w.dir, name+".xpkg"), reference)
		if got, want := strings.TrimSpace(ok(t, tools.Crane, "digest", reference)), w.digest(t, name); got != want {
			t.Errorf("crossplane xpkg push %s: want %s, got %s", name, want, got)
		}
		if got, want := strings.TrimSpace(ok(t, tools.Crane, "digest", w.base+"/"+name+":"+version)), w.digest(t, name); got != want {
			t.Errorf("%s: want %s, got %s", name, want, got)
		}
	}
	if out, err := tool(t, t.TempDir(), tools.Crane, "validate", "--remote", w.base+"/"+image+":"+version); err != nil {
		t.Errorf("crane validate: %v: %s", err, out)
	}
}

// pulled checks that helm pulls the chart of the release, and that it renders with the image of the release.
func pulled(t *testing.T, w *world) {
	dir := t.TempDir()
	from := "oci://" + w.base + "/" + chart
	if out, err := tool(t, dir, tools.Helm, "pull", from, "--version", chartVersion, "--plain-http"); err != nil {
		t.Fatalf("helm pull: %v: %s", err, out)
	}
	file := filepath.Join(dir, "provider-kyma-"+chartVersion+".tgz")
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, w.read(t, "provider-kyma-chart.tgz")) {
		t.Errorf("helm pull: it is not the chart of the release: %v", err)
	}
	if out := ok(t, tools.Helm, "template", "x", file); !strings.Contains(out, "/provider-kyma:"+version+"\n") {
		t.Errorf("helm template: want the image of %s, got\n%s", version, out)
	}
}

// notes checks that the notes are those of the changelog.
func notes(t *testing.T, w *world) {
	if got := string(w.read(t, "notes.md")); !strings.Contains(got, "\n- ") || strings.Contains(got, "\n## ") || strings.Contains(got, "](docs/") {
		t.Errorf("want the changes of one version, with absolute links, got:\n%s", got)
	}
}

// again checks that a second build makes the same files, whether it is pushed and signed or not.
func again(t *testing.T, w *world) {
	dir, said := w.release(t)
	if !strings.Contains(said, "nothing is signed, because there is no key") || strings.Contains(w.said, "nothing is signed") {
		t.Errorf("want a line about signatures only without a key, got\n%s\nand\n%s", w.said, said)
	}
	got, err := os.ReadFile(filepath.Join(dir, sums))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(w.read(t, sums)), string(got)); diff != "" {
		t.Errorf("-first, +second:\n%s", diff)
	}
}
