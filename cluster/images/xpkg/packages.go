// SPDX-License-Identifier: Apache-2.0

package xpkg

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/crossplane-contrib/provider-kyma/cluster/images/image"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

const (
	// Configuration is the name of the package of the configuration.
	Configuration = "configuration-kyma"
	// layerKey marks a layer of a package. In a package file, it is the prefix of a label, followed by the digest of the
	// layer.
	layerKey = "io.crossplane.xpkg"
)

// Options say what the packages are built from.
type Options struct {
	// Root is the directory of the repository, and Dir that of the packages.
	Root, Dir string
	// Platforms and Images are the platforms of the provider, and its images for them.
	Platforms []image.Platform
	Images    []v1.Image
}

// A Package is a package file.
type Package struct {
	// Name is the name of the file, without its extension.
	Name string
	// File is the path of the file.
	File string
	// Platform is the platform of the program in the package, if it has one.
	Platform image.Platform
	// Pushed is the package as it is in a registry, and Digest is its digest there.
	Pushed v1.Image
	Digest string
}

// Build writes the packages of the provider, for each platform, and of the configuration. The package that users need most is the
// last but one, and the configuration is the last one.
func Build(ctx context.Context, o Options) ([]Package, error) {
	crank, err := tools.Path(ctx, tools.Crank)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "provider-kyma-xpkg-")
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a directory for packages")
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	sources := filepath.Join(tmp, image.Name)
	if err := stage(filepath.Join(o.Root, "package"), sources); err != nil {
		return nil, err
	}
	examples := filepath.Join(tmp, "examples")
	if err := stageExamples(filepath.Join(o.Root, "examples"), examples); err != nil {
		return nil, err
	}
	out := make([]Package, 0, len(o.Images)+1)
	for i, one := range slices.Backward(o.Images) {
		name := image.Name
		if i > 0 {
			name += "-" + o.Platforms[i].Arch
		}
		embedded := filepath.Join(tmp, name+".tar")
		if err := tarball.WriteToFile(embedded, nil, one); err != nil {
			return nil, errors.Wrap(err, "cannot write the image for the package")
		}
		made, err := build(ctx, crank, o.Dir, name,
			"--package-root="+sources, "--examples-root="+examples, "--embed-runtime-image-tarball="+embedded)
		if err != nil {
			return nil, err
		}
		made.Platform = o.Platforms[i]
		out = append(out, made)
	}
	configuration := filepath.Join(o.Root, "package", "configuration")
	made, err := build(ctx, crank, o.Dir, Configuration,
		"--package-root="+configuration, "--examples-root="+filepath.Join(configuration, "examples"))
	return append(out, made), err
}

// stage copies the files of the provider's package. The directory also contains those of the configuration, which the
// command line cannot exclude.
func stage(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // What is shipped is not secret.
		return errors.Wrap(err, "cannot stage the package")
	}
	if err := os.CopyFS(filepath.Join(to, "crds"), os.DirFS(filepath.Join(from, "crds"))); err != nil {
		return errors.Wrap(err, "cannot stage the CRDs")
	}
	const meta = "crossplane.yaml"
	data, err := fs.ReadFile(os.DirFS(from), meta)
	if err != nil {
		return errors.Wrap(err, "cannot read the package")
	}
	err = os.WriteFile(filepath.Join(to, meta), data, 0o600)
	return errors.Wrap(err, "cannot stage the package")
}

// stageExamples copies the examples of the provider's kinds. The example of the library contains chart files, which are
// not objects and must not be in a package.
func stageExamples(from, to string) error {
	err := os.CopyFS(to, os.DirFS(from))
	return errors.Wrap(errors.Join(err, os.RemoveAll(filepath.Join(to, "operator"))), "cannot stage the examples")
}

// build builds a package with Crossplane's command line.
func build(ctx context.Context, crank, dir, name string, args ...string) (Package, error) {
	file := filepath.Join(dir, name+".xpkg")
	cmd := exec.CommandContext(ctx, crank, append([]string{"xpkg", "build", "--package-file=" + file}, args...)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return Package{}, errors.Wrapf(err, "cannot build package %q: %s", name, strings.TrimSpace(string(said)))
	}
	pushed, err := asPushed(file)
	if err != nil {
		return Package{}, err
	}
	digest, err := pushed.Digest()
	return Package{Name: name, File: file, Pushed: pushed, Digest: digest.String()}, errors.Wrap(err, "cannot compute the digest of the package")
}

// asPushed returns a package file as it is in a registry. Its digest differs from that of the file, because a push turns the labels
// that mark layers into annotations.
func asPushed(file string) (v1.Image, error) {
	packed, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read package %q", file)
	}
	config, err := packed.ConfigFile()
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read the configuration of package %q", file)
	}
	layers, err := packed.Layers()
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read the layers of package %q", file)
	}
	pushed := empty.Image
	for _, l := range layers {
		if pushed, err = withLayer(pushed, l, config.Config.Labels); err != nil {
			return nil, err
		}
	}
	pushed, err = mutate.ConfigFile(pushed, config)
	return pushed, errors.Wrap(err, "cannot assemble the package")
}

func withLayer(to v1.Image, l v1.Layer, labels map[string]string) (v1.Image, error) {
	digest, err := l.Digest()
	if err != nil {
		return nil, errors.Wrap(err, "cannot compute the digest of a layer")
	}
	addendum := mutate.Addendum{Layer: l}
	if kind, ok := labels[layerKey+":"+digest.String()]; ok {
		addendum.Annotations = map[string]string{layerKey: kind}
	}
	made, err := mutate.Append(to, addendum)
	return made, errors.Wrap(err, "cannot assemble the package")
}
