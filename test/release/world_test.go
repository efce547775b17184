// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	version  = "v0.1.0"
	password = "a password of a test"
	// platform is that of the image, suffix the same in names of files.
	platform = "linux/" + runtime.GOARCH
	suffix   = "linux-" + runtime.GOARCH

	image         = "provider-kyma-controller"
	provider      = "provider-kyma"
	configuration = "configuration-kyma"
	sums          = "SHA256SUMS"
	// chart is the repository of the Helm chart, and chartVersion its tag.
	chart, chartVersion = "charts/provider-kyma", "0.1.0"
)

// A world is a release in a registry, and its public key.
type world struct {
	registry *controlplane.Registry
	// program is the path of the program that builds releases.
	program string
	// dir contains the files, base is the registry with the path, and said is what the program printed.
	dir, base, said string
	// private and public are files with the keys of cosign.
	private, public string
}

// newWorld builds a release and pushes it to a registry.
func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{registry: controlplane.RegistryFor(t, controlplane.WebOptions{}), program: filepath.Join(t.TempDir(), "release")}
	if err := tools.Compile(t.Context(), tools.Program{Dir: root, Package: "./cluster/release", Output: w.program}); err != nil {
		t.Fatal(err)
	}
	keys := t.TempDir()
	if out, err := tool(t, keys, tools.Cosign, "generate-key-pair"); err != nil {
		t.Fatalf("cosign generate-key-pair: %v:\n%s", err, out)
	}
	w.private, w.public = filepath.Join(keys, "cosign.key"), filepath.Join(keys, "cosign.pub")
	w.base = w.registry.Host() + "/team"
	w.dir, w.said = w.release(t, "-registry", w.base, "-key", w.private)
	return w
}

// release builds the release into a new directory. The source may have changes that are not committed.
func (w *world) release(t *testing.T, args ...string) (dir, said string) {
	t.Helper()
	return build(t, w.program, "", version, args...)
}

// build builds a release of a version into a new directory, with a program in the directory of its source. If source is empty, it is
// the source of this test.
func build(t *testing.T, program, source, version string, args ...string) (dir, said string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "release")
	args = append([]string{"-version", version, "-dir", dir, "-platforms", platform, "-allow-modified"}, args...)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "COSIGN_PASSWORD="+password, "TUF_ROOT="+t.TempDir(), "HTTPS_PROXY=http://127.0.0.1:1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("release %q: %v:\n%s", args, err, out)
	}
	return dir, string(out)
}

// read returns a file of the release.
func (w *world) read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// unpack unpacks the archive of kymactl, and returns the directory with its files.
func (w *world) unpack(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := execute(t.Context(), dir, "/usr/bin/env", "tar", "-xzf", filepath.Join(w.dir, "kymactl-"+suffix+".tar.gz")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// digest returns a digest that the release lists.
func (w *world) digest(t *testing.T, name string) string {
	t.Helper()
	for line := range strings.Lines(string(w.read(t, "digests.txt"))) {
		if digest, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return digest
		}
	}
	t.Fatalf("digests.txt does not list %s", name)
	return ""
}

// tool runs a tool in a directory. It can only reach the registry on the loopback interface.
func tool(t *testing.T, dir string, name tools.Tool, args ...string) (string, error) {
	t.Helper()
	path, err := tools.Path(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return execute(t.Context(), dir, path, args...)
}

// execute runs a program without the environment of the user, and returns what it prints to stdout.
func execute(ctx context.Context, dir, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "TUF_ROOT=" + dir, "COSIGN_PASSWORD=" + password, "HTTPS_PROXY=http://127.0.0.1:1"}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	return string(out), errors.Wrap(err, strings.TrimSpace(stderr.String()))
}

// ok runs a tool that must succeed.
func ok(t *testing.T, name tools.Tool, args ...string) string {
	t.Helper()
	out, err := tool(t, t.TempDir(), name, args...)
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return out
}

// A referrer is what oras discover lists.
type referrer struct {
	Reference    string `json:"reference"`
	ArtifactType string `json:"artifactType"`
	// Annotations contain the file and the release.
	Annotations map[string]string `json:"annotations"`
}

// referrers returns the referrers of a manifest that belong to the release, by the names of their files.
func referrers(t *testing.T, reference string) map[string]referrer {
	t.Helper()
	var found struct {
		Manifests []referrer `json:"manifests"`
	}
	decode(t, []byte(ok(t, tools.Oras, "discover", "--plain-http", "--format", "json", reference)), &found)
	out := map[string]referrer{}
	for _, m := range found.Manifests {
		if m.Annotations["org.opencontainers.image.version"] == version {
			out[m.Annotations["org.opencontainers.image.title"]] = m
		}
	}
	return out
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
}
