// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/internal/cli"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	greeter   = "example.org/module/greeter"
	version   = "1.0.0"
	signature = "kyma-module-signature"
	module    = greeter + ":" + version

	ociManifest = "application/vnd.oci.image.manifest.v1+json"
)

// TestMain prevents the tests from using the credentials of the user.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "interop-test-")
	if err != nil {
		panic(err)
	}
	if err := os.Setenv("DOCKER_CONFIG", dir); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// kymactl runs a command line that must end with an exit code, and returns stdout and stderr.
func kymactl(t *testing.T, want command.ExitCode, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Run(t.Context(), &command.Environment{In: strings.NewReader(""), Out: &out, Err: &errs}, args); code != want {
		t.Fatalf("kymactl %s: want exit code %d, got %d:\n%s", strings.Join(args, " "), want, code, errs.String())
	}
	return out.String(), errs.String()
}

// ok runs kymactl, and returns the last line of stdout.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	out, _ := kymactl(t, command.ExitOK, args...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

// objects returns the objects that a module installs.
func objects(t *testing.T, reference string) string {
	t.Helper()
	out, warnings := kymactl(t, command.ExitOK, "module", "inspect", reference, "--show-objects")
	if warnings != "" {
		t.Errorf("inspect %s: %s", reference, warnings)
	}
	return out
}

// tool runs the program of another client without a home directory, and returns stdout.
func tool(t *testing.T, which tools.Tool, args ...string) (string, error) {
	t.Helper()
	path, err := tools.Path(t.Context(), which)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "TMPDIR=" + home, "DOCKER_CONFIG=" + home}
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return errs.String(), err
	}
	return out.String(), nil
}

// run runs a tool, which must succeed.
func run(t *testing.T, which tools.Tool, args ...string) string {
	t.Helper()
	out, err := tool(t, which, args...)
	if err != nil {
		t.Fatalf("%s %s: %v:\n%s", which, strings.Join(args, " "), err, out)
	}
	return out
}

func startRegistry(t *testing.T) *controlplane.Registry {
	t.Helper()
	return controlplane.RegistryFor(t, controlplane.WebOptions{})
}

// chart returns a chart with a ConfigMap.
func chart(name string) controlplane.Files {
	return controlplane.Files{
		"Chart.yaml":                  []byte("apiVersion: v2\nname: " + name + "\nversion: 0.1.0+b.1\ndescription: Greets.\nappVersion: \"1\"\n"),
		"values.yaml":                 []byte("greeting: hello\n"),
		"templates/map.yaml":          []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {of: " + name + ", greeting: {{ .Values.greeting }}}\n"),
		"templates/deep/a/b/map.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "-deep}\n"),
	}
}

const moduleYAML = "name: " + greeter + "\nversion: " + version + `
charts:
- path: inner
- path: web
  format: helm
manifests:
- path: plain.yaml
`

// directory creates the directory of a module.
func moduleDir(t *testing.T, moduleYAML string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "module.yaml"), []byte(moduleYAML))
	write(t, filepath.Join(dir, "plain.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n"))
	for _, name := range []string{"inner", "web"} {
		for file, data := range chart(name) {
			write(t, filepath.Join(dir, name, file), data)
		}
	}
	return dir
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// made creates the layout of a module, and returns its path and digest.
func made(t *testing.T, moduleYAML string, args ...string) (path, digest string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "layout")
	return path, ok(t, append([]string{"module", "create", moduleDir(t, moduleYAML), "-o", path}, args...)...)
}

// A blob of an artifact.
type blob struct {
	mediaType string
	data      []byte
}

func (b blob) digest() string { return digestOf(b.data) }

func (b blob) describe() map[string]any {
	return map[string]any{"mediaType": b.mediaType, "digest": b.digest(), "size": len(b.data)}
}

// push pushes an artifact with a different library than ours.
func push(t *testing.T, reference string, config blob, layers ...blob) (digest string) {
	t.Helper()
	ref, err := name.NewTag(reference)
	if err != nil {
		t.Fatal(err)
	}
	var described []any
	for i, b := range append([]blob{config}, layers...) {
		if i > 0 {
			described = append(described, b.describe())
		}
		if err := remote.WriteLayer(ref.Context(), static.NewLayer(b.data, types.MediaType(b.mediaType))); err != nil {
			t.Fatal(err)
		}
	}
	// In the format of component-spec, without mediaType.
	manifest, err := json.Marshal(map[string]any{"schemaVersion": 2, "config": config.describe(), "layers": described})
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Put(ref, taggable(manifest)); err != nil {
		t.Fatal(err)
	}
	return digestOf(manifest)
}

// taggable is a manifest in the form in which the registry stores it.
type taggable []byte

func (m taggable) RawManifest() ([]byte, error) { return m, nil }

func (taggable) MediaType() (types.MediaType, error) { return ociManifest, nil }

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// key is created only once, because this takes a while.
var key = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

// keyFiles writes files with the private key in PKCS#8, as component-spec reads it, and the public key.
func keyFiles(t *testing.T) (private, public string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key())
	if err != nil {
		t.Fatal(err)
	}
	pub, err := x509.MarshalPKIXPublicKey(key().Public())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return write(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		write(t, filepath.Join(dir, "pub.pem"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pub}))
}
