// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	providerPackage = "./cmd/provider"
	binaryPath      = "usr/local/bin/provider"
	// user is the ID of the user that many images call nonroot. It is a number because Kubernetes cannot verify by a name
	// that a user is not root.
	user = "65532"
)

// image builds the image of the provider for one platform.
func image(binary []byte, version string, p platform) (v1.Image, error) {
	system, err := layer(
		entry{path: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n")},
		entry{path: "etc/group", mode: 0o644, data: []byte("root:x:0:\nnonroot:x:65532:\n")},
		entry{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: roots()},
		// The provider keeps its cache here, and Crossplane may run it as any user.
		entry{path: "tmp/", mode: 0o1777},
	)
	if err != nil {
		return nil, err
	}
	program, err := layer(entry{path: binaryPath, mode: 0o755, data: binary})
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	made, err := mutate.AppendLayers(base, system, program)
	if err != nil {
		return nil, errors.Wrap(err, "cannot assemble the layers")
	}
	file, err := made.ConfigFile()
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the configuration of the image")
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = p.os, p.arch
	file.Config = v1.Config{
		User:       user + ":" + user,
		Entrypoint: []string{"/" + binaryPath},
		WorkingDir: "/",
		// Without HOME, libraries would look for it in the root directory.
		Env: []string{"PATH=/usr/local/bin", "HOME=/tmp", "TMPDIR=/tmp"},
		// Most container runtimes then keep the directory writable when the root file system is read-only.
		Volumes:      map[string]struct{}{"/tmp": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "8081/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":    providerName,
			"org.opencontainers.image.version":  version,
			"org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.source":   "https://github.com/crossplane-contrib/provider-kyma",
		},
	}
	made, err = mutate.ConfigFile(made, file)
	return made, errors.Wrap(err, "cannot configure the image")
}

// images builds the image for each platform, in order.
func images(ctx context.Context, o order) ([]v1.Image, error) {
	out := make([]v1.Image, 0, len(o.platforms))
	for _, p := range o.platforms {
		binary, err := compile(ctx, o, providerPackage, p)
		if err != nil {
			return nil, err
		}
		made, err := image(binary, o.version, p)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

// index returns an image index from which a registry selects the image of a platform.
func index(made []v1.Image, platforms []platform) v1.ImageIndex {
	out := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, p := range platforms {
		out = mutate.AppendManifests(out, mutate.IndexAddendum{
			Add:        made[i],
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
		})
	}
	return out
}

// makeImage writes the images as an OCI layout, and prints their digests and that of the index.
func makeImage(ctx context.Context, o order, out io.Writer) error {
	made, err := images(ctx, o)
	if err != nil {
		return err
	}
	all := index(made, o.platforms)
	dir := filepath.Join(o.dir, "image")
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+".tar")); err != nil {
		return errors.Wrap(err, "cannot remove the previous image")
	}
	if _, err := layout.Write(dir, all); err != nil {
		return errors.Wrapf(err, "cannot write the image to %q", dir)
	}
	if err := archive(o, made[0]); err != nil {
		return err
	}
	for i, p := range o.platforms {
		digest, err := made[i].Digest()
		if err != nil {
			return errors.Wrap(err, "cannot compute the digest of the image")
		}
		say(out, providerName+"-"+p.os+"-"+p.arch, digest.String())
	}
	digest, err := all.Digest()
	if err != nil {
		return errors.Wrap(err, "cannot compute the digest of the index")
	}
	say(out, providerName, digest.String())
	return nil
}

// archive writes the image of the first platform, with its tag, to a file for docker load. It does nothing if there is no
// tag.
func archive(o order, first v1.Image) error {
	if o.tag.TagStr() == "" {
		return nil
	}
	return errors.Wrap(tarball.WriteToFile(filepath.Join(o.dir, "image.tar"), o.tag, first), "cannot write the image to an archive")
}
