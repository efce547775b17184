// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/crossplane-contrib/provider-kyma/cluster/images/image"
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

func both() []image.Platform {
	return []image.Platform{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}}
}

func TestImageIsReproducible(t *testing.T) {
	var said [3]bytes.Buffer
	for i, version := range []string{"v1.0.0", "v1.0.0", "v1.0.1"} {
		o := order{source: image.Source{Root: fake(t), Version: version}, dir: t.TempDir(), platforms: both()}
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
