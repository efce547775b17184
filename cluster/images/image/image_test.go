// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"crypto/x509"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

func TestImage(t *testing.T) {
	made, err := New([]byte("binary"), "v1.0.0", Platform{OS: "linux", Arch: "arm64"})
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
		want   []Platform
		err    bool
	}{
		"Two":      {reason: "The order is kept.", in: "linux/amd64, linux/arm64", want: []Platform{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}}},
		"Empty":    {reason: "At least one platform is required.", err: true},
		"NoSlash":  {reason: "Both parts are needed.", in: "linux", err: true},
		"Variants": {reason: "A variant would be ignored.", in: "linux/arm/v7", err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParsePlatforms(tc.in)
			if (err != nil) != tc.err {
				t.Fatalf("%s: ParsePlatforms(%q): %v", tc.reason, tc.in, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: ParsePlatforms(%q): -want, +got:\n%s", tc.reason, tc.in, diff)
			}
		})
	}
}
