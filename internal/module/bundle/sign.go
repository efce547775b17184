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

// maxOwn bounds the config and the descriptor of a component, in bytes. Package ocm has tighter bounds.
const maxOwn = 8 << 20

// SignOptions holds the options of Sign.
type SignOptions struct {
	Name   string // Name of the signature.
	Signer crypto.Signer
	// Digest is the digest that the reference must have, sha256:…, or empty.
	Digest string
	// Cosign adds a signature of the manifest in the format of cosign. Its identity is Repository, by default the name
	// of the component.
	Cosign     bool
	Repository string
}

// Signed is the result of Sign.
type Signed struct {
	Digest  string // Digest of the signed manifest, sha256:….
	Changed bool   // False if all signatures existed already.
}

// Sign signs the component that the reference, a tag or a digest, has in s, and replaces it by the signed one: all
// layers stay, and the tag moves unless another client has moved it (*store.ExistsError). A digest cannot move: the
// signed component then has a new digest, by which it can be found in a registry, while a layout gets the tag of its
// version.
//
// Sign does not repeat a signature of the same name by the same key. It returns an error if there is one by another
// key, or if a resource has no digest, as its content would not be signed.
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
		return Signed{}, errors.Errorf("the manifest has digest %s, expected %s", digest, o.Digest)
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
		return Signed{}, errors.Wrapf(err, "the existing signature %q is from another key, or of a previous version of "+
			"the component; use another --signature-name", o.Name)
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

// replace replaces the component by the signed one, and returns the digest of the latter.
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
	manifest, config, layer, err := artifact.ReplaceDescriptor(old, config, signed)
	if err != nil {
		return "", err
	}
	target := store.CopyOptions{Tag: reference, Replaces: digest}
	if reference == digest {
		target.Tag = ""
		// Otherwise, it would be ambiguous which of the two is the root of the layout.
		if _, ok := s.(*layout.Store); ok {
			if target.Tag, err = ocm.Tag(d.Version()); err != nil {
				return "", err
			}
		}
	}
	written := &overlay{Reader: s, digest: sum(manifest), manifest: manifest, blobs: map[string][]byte{sum(config): config, sum(layer): layer}}
	copied, err := store.Copy(ctx, written, written.digest, s, target)
	if l, ok := s.(*layout.Store); ok && err == nil {
		// A registry garbage-collects unreferenced blobs by itself.
		err = errors.Wrap(l.Drop(ctx, append(own(old), digest)...), "the module is signed, but the unsigned manifest could not be deleted")
	}
	return copied.Digest, err
}

type ownBlob struct {
	Digest string `json:"digest"`
}

// own returns the digests of the config and the descriptor of a component, without other layers.
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

// complete returns an error if a resource has no digest.
func complete(d *ocm.Descriptor) error {
	for _, r := range d.Resources() {
		if r.Digest == nil && r.Access.Type != ocm.AccessNone {
			return errors.Errorf("resource %q of component %s:%s has no digest, so its content cannot be signed: build the "+
				"module again with kymactl module create --from, and pin images by digest", r.Name, d.Name(), d.Version())
		}
	}
	return nil
}

// configOf returns the config of a component.
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

// blobs reads a component before it is signed.
type blobs struct{ store.Reader }

func (b blobs) Manifest(ctx context.Context, _, reference string) (data []byte, digest string, err error) {
	return b.Reader.Manifest(ctx, reference)
}

func (b blobs) Blob(ctx context.Context, _, digest string) ([]byte, error) {
	return store.ReadBlob(ctx, b.Reader, digest, maxOwn)
}

// An overlay is a store with an additional manifest and its new blobs.
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
