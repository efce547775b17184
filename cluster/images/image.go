// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/crossplane-contrib/provider-kyma/cluster/images/image"
)

// images builds the image for each platform, in order.
func images(ctx context.Context, o order) ([]v1.Image, error) {
	out := make([]v1.Image, 0, len(o.platforms))
	for _, p := range o.platforms {
		binary, err := o.source.Compile(ctx, image.Program, p)
		if err != nil {
			return nil, err
		}
		made, err := image.New(binary, o.source.Version, p)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

// makeImage writes the images as an OCI layout, and prints their digests and that of the index.
func makeImage(ctx context.Context, o order, out io.Writer) error {
	made, err := images(ctx, o)
	if err != nil {
		return err
	}
	all := image.Index(made, o.platforms)
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
		say(out, image.Name+"-"+p.Suffix(), digest.String())
	}
	digest, err := all.Digest()
	if err != nil {
		return errors.Wrap(err, "cannot compute the digest of the index")
	}
	say(out, image.Name, digest.String())
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
