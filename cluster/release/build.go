// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/crossplane-contrib/provider-kyma/cluster/images/image"
	"github.com/crossplane-contrib/provider-kyma/cluster/images/xpkg"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/archive"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/chart"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/krew"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/manual"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/registry"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/sbom"
	"github.com/crossplane-contrib/provider-kyma/internal/cli"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

const (
	// imageName is the name of the image in a registry. The package has the name of the provider.
	imageName = image.Name + "-controller"
	kymactl   = "kymactl"
)

// A release is what was built so far.
type release struct {
	order  order
	commit commit
	out    io.Writer
	// sums are the SHA-256 sums of the files, by name.
	sums map[string]string
	// digests are the digests of the artifacts that are pushed, and of their parts, by name.
	digests   map[string]string
	artifacts []registry.Artifact
	archives  []krew.Archive
	// toolchain is the version of Go.
	toolchain string
}

// write writes a file, and records its sum.
func (r *release) write(name string, data []byte) error {
	//nolint:gosec // What is shipped is not secret.
	if err := os.WriteFile(filepath.Join(r.order.dir, name), data, 0o644); err != nil {
		return errors.Wrapf(err, "cannot write %s", name)
	}
	sum := sha256.Sum256(data)
	r.sums[name] = hex.EncodeToString(sum[:])
	return nil
}

// sayf prints a line about the progress, because some steps take minutes. A line that cannot be printed does not stop a release: files
// contain all results.
func (r *release) sayf(format string, args ...any) { _, _ = fmt.Fprintf(r.out, format+"\n", args...) }

// build builds the artifacts and the archives.
func (r *release) build(ctx context.Context) error {
	if err := r.provider(ctx); err != nil {
		return err
	}
	if err := r.chart(); err != nil {
		return err
	}
	return r.commands(ctx)
}

// provider builds the image and the packages.
func (r *release) provider(ctx context.Context) error {
	platforms := r.order.linux()
	images := make([]v1.Image, len(platforms))
	infos := make([]*debug.BuildInfo, len(platforms))
	for i, p := range platforms {
		r.sayf("building the provider for %s", p)
		binary, err := r.order.source.Compile(ctx, image.Program, p)
		if err != nil {
			return err
		}
		if infos[i], err = sbom.Read(binary); err != nil {
			return err
		}
		if images[i], err = image.New(binary, r.order.source.Version, p); err != nil {
			return err
		}
	}
	r.toolchain = infos[0].GoVersion
	if err := r.image(images, infos); err != nil {
		return err
	}
	r.sayf("building the packages")
	packages, err := xpkg.Build(ctx, xpkg.Options{Root: r.order.source.Root, Dir: r.order.dir, Platforms: platforms, Images: images})
	if err != nil {
		return err
	}
	return r.packages(packages, infos)
}

// image adds the image with its SBOMs, and writes it as an OCI layout.
func (r *release) image(images []v1.Image, infos []*debug.BuildInfo) error {
	all := image.Index(images, r.order.linux())
	if _, err := layout.Write(filepath.Join(r.order.dir, "image"), all); err != nil {
		return errors.Wrap(err, "cannot write the image")
	}
	parts := make([]part, len(images))
	for i, p := range r.order.linux() {
		parts[i] = part{name: imageName + "-" + p.Suffix(), image: images[i], info: infos[i]}
	}
	return r.artifact(imageName, all, parts...)
}

// packages adds the packages with their SBOMs.
func (r *release) packages(built []xpkg.Package, infos []*debug.BuildInfo) error {
	platforms := r.order.linux()
	parts := make([]part, len(platforms))
	pushed := make([]v1.Image, len(platforms))
	for _, b := range built {
		data, err := os.ReadFile(b.File)
		if err != nil {
			return errors.Wrapf(err, "cannot read package %q", b.Name)
		}
		if err := r.write(filepath.Base(b.File), data); err != nil {
			return err
		}
		for i, p := range platforms {
			if p == b.Platform {
				pushed[i], parts[i] = b.Pushed, part{name: image.Name + "-" + p.Suffix(), image: b.Pushed, info: infos[i]}
			}
		}
		if b.Name == xpkg.Configuration {
			if err := r.artifact(b.Name, b.Pushed, part{name: b.Name, image: b.Pushed}); err != nil {
				return err
			}
		}
	}
	// Crossplane's command line pushes a single package without an index.
	if len(pushed) == 1 {
		return r.artifact(image.Name, pushed[0], parts...)
	}
	return r.artifact(image.Name, image.Index(pushed, platforms), parts...)
}

// chart packs the Helm chart. Its tag is its version, as helm requires, and charts have a repository of their own, because a package has
// the same name.
func (r *release) chart() error {
	r.sayf("packing the chart")
	c, err := chart.Pack(r.order.source.Root, r.order.source.Version, r.commit.time)
	if err != nil {
		return err
	}
	if err := r.write(chart.Name+"-chart.tgz", c.Archive); err != nil {
		return err
	}
	if err := r.artifact("charts/"+chart.Name, c.Image, part{name: chart.Name + "-chart", image: c.Image}); err != nil {
		return err
	}
	r.artifacts[len(r.artifacts)-1].Tag = c.Version
	return nil
}

// commands builds the archives of kymactl for all platforms.
func (r *release) commands(ctx context.Context) error {
	shared, err := r.shared() //nolint:contextcheck // No command runs; their help is read.
	if err != nil {
		return err
	}
	for _, p := range r.order.platforms {
		r.sayf("building %s for %s", kymactl, p)
		binary, err := r.order.source.Compile(ctx, "./cmd/"+kymactl, p)
		if err != nil {
			return err
		}
		if err := r.pack(p, binary, shared); err != nil {
			return err
		}
	}
	return nil
}

// pack writes the archive of kymactl for a platform, and the SBOM of the binary.
func (r *release) pack(p image.Platform, binary []byte, shared []archive.File) error {
	write, program, extension := archive.TarGz, kymactl, ".tar.gz"
	if p.OS == "windows" {
		write, program, extension = archive.Zip, kymactl+".exe", ".zip"
	}
	data, err := write(r.commit.time, append([]archive.File{{Path: program, Data: binary, Executable: true}}, shared...)...)
	if err != nil {
		return err
	}
	name := kymactl + "-" + p.Suffix()
	if err := r.write(name+extension, data); err != nil {
		return err
	}
	r.archives = append(r.archives, krew.Archive{
		OS: p.OS, Arch: p.Arch, Binary: program, URL: r.order.baseURL + "/" + name + extension, SHA256: r.sums[name+extension],
	})
	info, err := sbom.Read(binary)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(binary)
	_, err = r.bill(sbom.Subject{Name: name, SHA256: hex.EncodeToString(sum[:]), Purpose: sbom.Application, Info: info})
	return err
}

// shared returns the files that the archives for all platforms contain.
func (r *release) shared() ([]archive.File, error) {
	license, err := os.ReadFile(filepath.Join(r.order.source.Root, "LICENSE"))
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the license")
	}
	out := []archive.File{{Path: "LICENSE", Data: license}}
	root := cli.New(&command.Environment{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	completions, err := manual.Completions(root)
	if err != nil {
		return nil, err
	}
	pages, err := manual.Pages(root, r.order.source.Version, r.commit.time)
	if err != nil {
		return nil, err
	}
	for _, files := range []map[string][]byte{completions, pages} {
		for path, data := range files {
			out = append(out, archive.File{Path: path, Data: data})
		}
	}
	return out, nil
}
