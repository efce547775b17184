// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/x509"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// fake creates a repository with a small program in place of the provider, which is quickly built for two platforms.
func fake(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, data := range map[string]string{
		"go.mod":                "module github.com/crossplane-contrib/provider-kyma\n\ngo 1.26.0\n",
		"cmd/provider/main.go":  "package main\n\nimport v \"github.com/crossplane-contrib/provider-kyma/internal/version\"\n\nfunc main() { println(v.Version) }\n",
		"internal/version/v.go": "package version\n\nvar Version = \"none\"\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func both() []platform {
	return []platform{{os: "linux", arch: "amd64"}, {os: "linux", arch: "arm64"}}
}

func TestImageIsReproducible(t *testing.T) {
	var said [3]bytes.Buffer
	for i, version := range []string{"v1.0.0", "v1.0.0", "v1.0.1"} {
		o := order{root: fake(t), dir: t.TempDir(), version: version, platforms: both()}
		if err := makeImage(t.Context(), o, &said[i]); err != nil {
			t.Fatal(err)
		}
		index, err := layout.ImageIndexFromPath(filepath.Join(o.dir, "image"))
		if err != nil {
			t.Fatal(err)
		}
		digest, err := index.Digest()
		if err != nil || !strings.HasSuffix(said[i].String(), "\nprovider-kyma "+digest.String()+"\n") {
			t.Errorf("the layout has digest %s, %v, and what was said is %q", digest, err, said[i].String())
		}
	}
	if said[0].String() != said[1].String() {
		t.Errorf("the same source in another directory makes another image:\n%s%s", said[0].String(), said[1].String())
	}
	if said[0].String() == said[2].String() {
		t.Error("another version makes the same image")
	}
}

func TestImage(t *testing.T) {
	made, err := image([]byte("binary"), "v1.0.0", platform{os: "linux", arch: "arm64"})
	if err != nil {
		t.Fatal(err)
	}
	config, err := made.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Architecture != "arm64" || config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/usr/local/bin/provider" {
		t.Errorf("the configuration is %+v", config)
	}
	modes := map[string]int64{}
	content := mutate.Extract(made)
	defer func() { _ = content.Close() }()
	for archive := tar.NewReader(content); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		modes[header.Name] = header.Mode
		if header.ModTime.Unix() != 0 || header.Uid != 0 {
			t.Errorf("%s has a time or an owner: %+v", header.Name, header)
		}
	}
	// Directories lose their trailing slash.
	want := map[string]int64{
		"etc": 0o755, "etc/passwd": 0o644, "etc/group": 0o644, "etc/ssl": 0o755, "etc/ssl/certs": 0o755,
		"etc/ssl/certs/ca-certificates.crt": 0o644, "tmp": 0o1777,
		"usr": 0o755, "usr/local": 0o755, "usr/local/bin": 0o755, "usr/local/bin/provider": 0o755,
	}
	if diff := cmp.Diff(want, modes); diff != "" {
		t.Errorf("content: -want, +got:\n%s", diff)
	}
}

func TestRoots(t *testing.T) {
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(roots()) {
		t.Error("there are no certificates")
	}
}

func TestParsePlatforms(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   []platform
		err    bool
	}{
		"Two":      {reason: "The order is kept.", in: "linux/amd64, linux/arm64", want: both()},
		"Empty":    {reason: "There is no default here.", err: true},
		"NoSlash":  {reason: "Both parts are needed.", in: "linux", err: true},
		"Variants": {reason: "A variant would be ignored.", in: "linux/arm/v7", err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parsePlatforms(tc.in)
			if (err != nil) != tc.err {
				t.Fatalf("%s: parsePlatforms(%q): %v", tc.reason, tc.in, err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(platform{})); diff != "" {
				t.Errorf("%s: parsePlatforms(%q): -want, +got:\n%s", tc.reason, tc.in, diff)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Nothing":  {reason: "The arguments name what to make.", args: []string{"-dir", t.TempDir()}, want: "must be image or xpkg"},
		"Platform": {reason: "A platform that is none is named.", args: []string{"-platforms", "mars", "image"}, want: `"mars"`},
		"Name":     {reason: "A name that is none is refused before minutes of building.", args: []string{"-name", "a|b", "image"}, want: "invalid name of the image"},
		"Flag":     {reason: "A flag that is misspelt is named.", args: []string{"-plattforms", "x"}, want: "plattforms"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := run(context.Background(), tc.args, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: run(%q): want an error with %q, got %v", tc.reason, tc.args, tc.want, err)
			}
		})
	}
}

// TestExamplesAreObjects checks that the package contains examples, and that all of them are objects.
func TestExamplesAreObjects(t *testing.T) {
	to := filepath.Join(t.TempDir(), "examples")
	if err := stageExamples(filepath.Join("..", "..", "examples"), to); err != nil {
		t.Fatal(err)
	}
	found := 0
	err := filepath.WalkDir(to, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		found++
		data, err := os.ReadFile(path)
		if err == nil && !bytes.Contains(data, []byte("kind: ")) {
			t.Errorf("%s is not an object: a package cannot have it", path)
		}
		return err
	})
	if err != nil || found < 10 {
		t.Errorf("want the examples, got %d and %v", found, err)
	}
}
