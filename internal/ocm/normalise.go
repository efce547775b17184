// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"bytes"
	"crypto"
	_ "crypto/sha256" // Hash functions must be linked to be available.
	_ "crypto/sha512"
	"encoding/hex"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
	"github.com/gardener/component-spec/bindings-go/apis/v2/signatures"
)

// Names in digests. OCM writes hash algorithms in upper case and reads both.
const (
	HashSHA256 = "sha256"
	HashSHA512 = "sha512"

	NormalisationBlob     = string(v2.GenericBlobDigestV1)
	NormalisationArtifact = string(v2.OciArtifactDigestV1)
	NormalisationJSON     = string(v2.JsonNormalisationV1)

	normalisationJSON2 = "jsonNormalisation/v2"
)

// Excluded returns the digest of a resource that is excluded from signatures.
func Excluded() Digest { return Digest(*v2.NewExcludeFromSignatureDigest()) }

// Normalised returns the part of the descriptor that signatures cover, in the form jsonNormalisation/v1. It returns an
// error if a resource or a reference has no digest, except for resources whose access is None.
func (d *Descriptor) Normalised() ([]byte, error) {
	return normalise(d.spec)
}

// Hash returns the SHA-256 of the result of Normalised, in hex. It returns an error if Normalised does.
func (d *Descriptor) Hash() (string, error) {
	return d.hash(crypto.SHA256)
}

func (d *Descriptor) hash(h crypto.Hash) (string, error) {
	normalised, err := d.Normalised()
	if err != nil {
		return "", err
	}
	return sum(h, normalised), nil
}

func sum(h crypto.Hash, data []byte) string {
	f := h.New()
	f.Write(data)
	return hex.EncodeToString(f.Sum(nil))
}

// hashFunction returns the hash function with the given name, in either spelling.
func hashFunction(name string) (crypto.Hash, error) {
	switch name {
	case HashSHA256, "SHA-256":
		return crypto.SHA256, nil
	case HashSHA512, "SHA-512":
		return crypto.SHA512, nil
	}
	return 0, errors.Errorf("unknown hash algorithm %.100q: must be %s or %s", name, HashSHA256, HashSHA512)
}

// A recorder is a hash function that records its input: the library does not return the normalised form, only its hash.
type recorder struct{ bytes.Buffer }

func (r *recorder) Sum(b []byte) []byte { return b }
func (r *recorder) Size() int           { return 0 }
func (r *recorder) BlockSize() int      { return 1 }

func normalise(spec *v2.ComponentDescriptor) ([]byte, error) {
	if err := complete(spec); err != nil {
		return nil, errors.Wrapf(err, "cannot normalise component %s:%s", spec.Name, spec.Version)
	}
	r := &recorder{}
	if _, err := signatures.HashForComponentDescriptor(*spec, signatures.Hasher{HashFunction: r, AlgorithmName: HashSHA256}); err != nil {
		return nil, err
	}
	return r.Bytes(), nil
}

// complete returns an error if a digest is missing. The error of the library would be less clear.
func complete(spec *v2.ComponentDescriptor) error {
	for i := range spec.ComponentReferences {
		r := &spec.ComponentReferences[i]
		if r.Digest == nil || r.Digest.HashAlgorithm == "" || r.Digest.NormalisationAlgorithm == "" || r.Digest.Value == "" {
			return errors.Errorf("reference %q has no digest", r.Name)
		}
	}
	for i := range spec.Resources {
		r := &spec.Resources[i]
		none := r.Access == nil || r.Access.GetType() == AccessNone
		if none && r.Digest != nil {
			return errors.Errorf("resource %q must not have a digest, because the type of its access is %s", r.Name, AccessNone)
		}
		if !none && r.Digest == nil {
			return errors.Errorf("resource %q has no digest", r.Name)
		}
	}
	return nil
}
