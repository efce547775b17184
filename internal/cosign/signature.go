// SPDX-License-Identifier: Apache-2.0

package cosign

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"regexp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	sigstore "github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/options"
	"github.com/sigstore/sigstore/pkg/signature/payload"
)

// Bounds of the size of an RSA key, in bits, which are the same as for descriptors.
const (
	minBits = 2048
	maxBits = 16384
)

var isDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func checkDigest(digest string) error {
	if !isDigest.MatchString(digest) {
		return errors.Errorf("malformed digest %.100q: must be sha256: followed by 64 hexadecimal digits", digest)
	}
	return nil
}

// A signature is the content of a layer, and its annotation.
type signature struct {
	payload []byte
	base64  string
}

// newSignature signs the payload that cosign would sign: a JSON claim that identifies the manifest.
func newSignature(repository, digest string, signer crypto.Signer, v verifier) (*signature, error) {
	claim := payload.SimpleContainerImage{Critical: payload.Critical{
		Identity: payload.Identity{DockerReference: repository},
		Image:    payload.Image{DockerManifestDigest: digest},
		Type:     payload.CosignSignatureType,
	}}
	data, err := json.Marshal(claim)
	if err != nil {
		return nil, err
	}
	s, err := sigstore.LoadSigner(signer, crypto.SHA256)
	if err != nil {
		return nil, errors.Wrap(err, "cannot sign with the key")
	}
	value, err := s.SignMessage(bytes.NewReader(data))
	if err != nil {
		return nil, errors.Wrap(err, "the signer failed")
	}
	if !v.verify(data, value) {
		return nil, errors.New("the signer returned a signature that does not match its public key")
	}
	return &signature{payload: data, base64: base64.StdEncoding.EncodeToString(value)}, nil
}

// A verifier verifies signatures with one key, in all variants in which cosign signs with keys of its type.
type verifier []sigstore.Verifier

func newVerifier(key crypto.PublicKey) (verifier, error) {
	opts := [][]sigstore.LoadOption{{options.WithHash(crypto.SHA256)}}
	switch k := key.(type) {
	case *rsa.PublicKey:
		if n := k.N.BitLen(); n < minBits || n > maxBits {
			return nil, errors.Errorf("the RSA key has %d bits: must have between %d and %d", n, minBits, maxBits)
		}
	case *ecdsa.PublicKey:
		// Version 2 always used SHA-256, and version 3 uses a hash as strong as the curve.
		opts = append(opts, []sigstore.LoadOption{options.WithHash(crypto.SHA384)}, []sigstore.LoadOption{options.WithHash(crypto.SHA512)})
	case ed25519.PublicKey:
		// Version 3 signs the prehash of the payload (Ed25519ph).
		opts = append(opts, []sigstore.LoadOption{options.WithED25519ph()})
	default:
		return nil, errors.Errorf("unsupported public key type %T: must be RSA, ECDSA or Ed25519", key)
	}
	out := make(verifier, 0, len(opts))
	for _, o := range opts {
		v, err := sigstore.LoadVerifierWithOpts(key, o...)
		if err != nil {
			return nil, errors.Wrap(err, "the public key cannot be used")
		}
		out = append(out, v)
	}
	return out, nil
}

// verify reports whether value is a signature of data.
func (v verifier) verify(data, value []byte) bool {
	for _, one := range v {
		if one.VerifySignature(bytes.NewReader(value), bytes.NewReader(data)) == nil {
			return true
		}
	}
	return false
}

// claims returns the digest of the manifest that a payload claims, or "" if the payload is of another type.
func claims(data []byte) string {
	var claim payload.SimpleContainerImage
	if json.Unmarshal(data, &claim) != nil || claim.Critical.Type != payload.CosignSignatureType {
		return ""
	}
	return claim.Critical.Image.DockerManifestDigest
}
