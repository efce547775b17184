// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cosign"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
)

// DefaultSignature is the name of the signatures of Kyma's own tools.
const DefaultSignature = "kyma-module-signature"

// maxOwn bounds the config and the descriptor of a component, in bytes, which
// ocm bounds more closely.
const maxOwn = 8 << 20

// SignOptions say how to sign.
type SignOptions struct {
	Name   string // Of the signature.
	Signer crypto.Signer
	// Digest that reference must have, sha256:…, or empty.
	Digest string
	// Cosign adds a signature of the manifest, as cosign makes it, whose identity is Repository; default the name of the
	// component.
	Cosign     bool
	Repository string
}

// Signed says what became of it.
type Signed struct {
	Digest  string // Of the signed manifest, sha256:….
	Changed bool   // False where all signatures were there already.
}

// Sign the component that tag (or digest) of s is, and put the signed one in its
// place: all layers stay, and the tag moves unless another client has moved it
// (*store.ExistsError). A digest does not move: in a registry the signed
// component is then found by its own, new digest only, and in a layout by the
// tag of its version.
//
// A signature of the name by the same key is not made again, and one by another
// key is an error. So is a resource without a digest, of which nothing would be
// signed.
func Sign(ctx context.Context, s store.Store, reference string, o SignOptions) (Signed, error) {
	signed, err := sign(ctx, s, reference, o)
	return signed, errors.Wrapf(err, "cannot sign %s of %s", reference, s)
}

func sign(ctx context.Context, s store.Store, reference string, o SignOptions) (Signed, error) {
	data, digest, err := s.Manifest(ctx, reference)
	if err != nil {
		return Signed{}, err
	}
	if o.Digest != "" && o.Digest != digest {
		return Signed{}, errors.Errorf("it has the digest %s: want %s", digest, o.Digest)
	}
	if err := isModule(data); err != nil {
		return Signed{}, err
	}
	d, err := artifact.Describe(ctx, blobs{s}, s.String(), data)
	if err != nil {
		return Signed{}, err
	}
	out := Signed{Digest: digest}
	there, err := ocm.SignedBy(d, o.Name, o.Signer.Public())
	if err != nil {
		return Signed{}, errors.Wrapf(err, "it already has a signature named %q, by another key or of an earlier state of the component; "+
			"use another --signature-name", o.Name)
	}
	if !there {
		if out.Digest, err = replace(ctx, s, reference, data, digest, d, o); err != nil {
			return Signed{}, err
		}
		out.Changed = true
	}
	if !o.Cosign {
		return out, nil
	}
	if o.Repository == "" {
		o.Repository = d.Name()
	}
	added, err := cosign.Sign(ctx, s, o.Repository, out.Digest, o.Signer)
	out.Changed = out.Changed || added
	return out, err
}

// replace the component by the signed one, and return the digest of that.
func replace(ctx context.Context, s store.Store, reference string, old []byte, digest string, d *ocm.Descriptor, o SignOptions) (string, error) {
	if err := complete(d); err != nil {
		return "", err
	}
	signed, err := ocm.Sign(d, o.Name, o.Signer)
	if err != nil {
		return "", err
	}
	config, err := configOf(ctx, s, old)
	if err != nil {
		return "", err
	}
	manifest, config, layer, err := artifact.Redescribe(old, config, signed)
	if err != nil {
		return "", err
	}
	target := store.CopyOptions{Tag: reference, Replaces: digest}
	if reference == digest {
		target.Tag = ""
		// Otherwise no one could tell which of the two the layout is about.
		if _, ok := s.(*layout.Store); ok {
			if target.Tag, err = ocm.Tag(d.Version()); err != nil {
				return "", err
			}
		}
	}
	written := &overlay{Reader: s, digest: sum(manifest), manifest: manifest, blobs: map[string][]byte{sum(config): config, sum(layer): layer}}
	copied, err := store.Copy(ctx, written, written.digest, s, target)
	if l, ok := s.(*layout.Store); ok && err == nil {
		// A registry collects what no one refers to by itself.
		err = errors.Wrap(l.Drop(ctx, append(own(old), digest)...), "it is signed, but what was not is still there")
	}
	return copied.Digest, err
}

type ownBlob struct {
	Digest string `json:"digest"`
}

// own are the digests of the config and the descriptor of a component, and no
// other layers.
func own(manifest []byte) []string {
	var m struct {
		Config ownBlob   `json:"config"`
		Layers []ownBlob `json:"layers"`
	}
	if json.Unmarshal(manifest, &m) != nil || len(m.Layers) == 0 {
		return nil
	}
	return []string{m.Config.Digest, m.Layers[0].Digest}
}

// complete says which resource has no digest, and what to do.
func complete(d *ocm.Descriptor) error {
	for _, r := range d.Resources() {
		if r.Digest == nil && r.Access.Type != ocm.AccessNone {
			return errors.Errorf("resource %q of component %s:%s has no digest, so that nothing of its content would be signed: "+
				"make the module again with kymactl module create --from, and pin images by their digest", r.Name, d.Name(), d.Version())
		}
	}
	return nil
}

// configOf reads the config of a component.
func configOf(ctx context.Context, s store.Reader, manifest []byte) ([]byte, error) {
	var m struct {
		Config struct {
			Digest string `json:"digest"`
		} `json:"config"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, errors.Wrap(err, "cannot read the manifest")
	}
	return store.ReadBlob(ctx, s, m.Config.Digest, maxOwn)
}

// blobs are what is read of a component before it is signed.
type blobs struct{ store.Reader }

func (b blobs) Manifest(ctx context.Context, _, reference string) (data []byte, digest string, err error) {
	return b.Reader.Manifest(ctx, reference)
}

func (b blobs) Blob(ctx context.Context, _, digest string) ([]byte, error) {
	return store.ReadBlob(ctx, b.Reader, digest, maxOwn)
}

// An overlay is a store with a manifest more, and its new blobs.
type overlay struct {
	store.Reader

	digest   string
	manifest []byte
	blobs    map[string][]byte
}

func (o *overlay) Manifest(ctx context.Context, reference string) (data []byte, digest string, err error) {
	if reference == o.digest {
		return o.manifest, o.digest, nil
	}
	return o.Reader.Manifest(ctx, reference)
}

func (o *overlay) Blob(ctx context.Context, digest string, offset int64) (io.ReadCloser, error) {
	data, ok := o.blobs[digest]
	if !ok {
		return o.Reader.Blob(ctx, digest, offset)
	}
	return io.NopCloser(bytes.NewReader(data[min(offset, int64(len(data))):])), nil
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(h[:])
}
