// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
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

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

const (
	configurationName = "configuration-kyma"
	// layerKey marks a layer of a package. In a package file, it is the prefix of a label, followed by the digest of the
	// layer.
	layerKey = "io.crossplane.xpkg"
)

// makePackages builds the packages of the provider and of the configuration.
func makePackages(ctx context.Context, o order, out io.Writer) error {
	crank, err := tools.Path(ctx, tools.Crank)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "provider-kyma-xpkg-")
	if err != nil {
		return errors.Wrap(err, "cannot create a directory for packages")
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	sources := filepath.Join(tmp, providerName)
	if err := stage(filepath.Join(o.root, "package"), sources); err != nil {
		return err
	}
	examples := filepath.Join(tmp, "examples")
	if err := stageExamples(filepath.Join(o.root, "examples"), examples); err != nil {
		return err
	}
	made, err := images(ctx, o)
	if err != nil {
		return err
	}
	// The package that users look for is printed last.
	for i, one := range slices.Backward(made) {
		name := providerName
		if i > 0 {
			name += "-" + o.platforms[i].arch
		}
		embedded := filepath.Join(tmp, name+".tar")
		if err := tarball.WriteToFile(embedded, nil, one); err != nil {
			return errors.Wrap(err, "cannot write the image for the package")
		}
		err := xpkg(ctx, crank, o, out, name,
			"--package-root="+sources, "--examples-root="+examples, "--embed-runtime-image-tarball="+embedded)
		if err != nil {
			return err
		}
	}
	configuration := filepath.Join(o.root, "package", "configuration")
	return xpkg(ctx, crank, o, out, configurationName,
		"--package-root="+configuration, "--examples-root="+filepath.Join(configuration, "examples"))
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

// xpkg builds a package with Crossplane's command line and prints its digest.
func xpkg(ctx context.Context, crank string, o order, out io.Writer, name string, args ...string) error {
	file := filepath.Join(o.dir, name+".xpkg")
	cmd := exec.CommandContext(ctx, crank, append([]string{"xpkg", "build", "--package-file=" + file}, args...)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return errors.Wrapf(err, "cannot build package %q: %s", name, strings.TrimSpace(string(said)))
	}
	digest, err := pushedDigest(file)
	if err != nil {
		return err
	}
	say(out, name, digest)
	return nil
}

// pushedDigest returns the digest that a package file has in a registry. It differs from the digest of the file, because
// a push turns the labels that mark layers into annotations.
func pushedDigest(file string) (string, error) {
	packed, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return "", errors.Wrapf(err, "cannot read package %q", file)
	}
	config, err := packed.ConfigFile()
	if err != nil {
		return "", errors.Wrapf(err, "cannot read the configuration of package %q", file)
	}
	layers, err := packed.Layers()
	if err != nil {
		return "", errors.Wrapf(err, "cannot read the layers of package %q", file)
	}
	pushed := empty.Image
	for _, l := range layers {
		if pushed, err = withLayer(pushed, l, config.Config.Labels); err != nil {
			return "", err
		}
	}
	if pushed, err = mutate.ConfigFile(pushed, config); err != nil {
		return "", errors.Wrap(err, "cannot assemble the package")
	}
	digest, err := pushed.Digest()
	return digest.String(), errors.Wrap(err, "cannot compute the digest of the package")
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
