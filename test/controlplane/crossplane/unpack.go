// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"archive/tar"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Unpack pulls an image, extracts the program of its entrypoint into a directory, and returns its path.
func Unpack(ctx context.Context, image, dir string) (string, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return "", errors.Wrapf(err, "cannot pull image %q", image)
	}
	pulled, err := remote.Image(ref, remote.WithContext(ctx),
		remote.WithPlatform(v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}))
	if err != nil {
		return "", errors.Wrapf(err, "cannot pull image %q", image)
	}
	config, err := pulled.ConfigFile()
	if err != nil {
		return "", errors.Wrapf(err, "cannot read the configuration of image %q", image)
	}
	if len(config.Config.Entrypoint) != 1 {
		return "", errors.Errorf("image %q starts %q, but only a single program can be simulated", image, config.Config.Entrypoint)
	}
	content := mutate.Extract(pulled)
	defer func() { _ = content.Close() }()
	for archive := tar.NewReader(content); ; {
		header, err := archive.Next()
		if err != nil {
			return "", errors.Wrapf(err, "cannot find %q in image %q", config.Config.Entrypoint[0], image)
		}
		if path.Join("/", header.Name) != config.Config.Entrypoint[0] {
			continue
		}
		return write(archive, filepath.Join(dir, path.Base(header.Name)))
	}
}

// write writes a program to a file. A previous program in the file may be running.
func write(from io.Reader, file string) (string, error) {
	// The file of a running program cannot be written, but it can be replaced.
	if err := os.RemoveAll(file); err != nil {
		return "", errors.Wrap(err, "cannot remove the previous program")
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return "", errors.Wrap(err, "cannot write a program")
	}
	if _, err := io.Copy(f, from); err != nil {
		_ = f.Close()
		return "", errors.Wrap(err, "cannot write a program")
	}
	return file, errors.Wrap(f.Close(), "cannot write a program")
}
