// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"encoding/hex"
	"encoding/pem"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
)

// A VerificationError reports why components are not trusted.
type VerificationError struct {
	Reason string // One line that names the component and the field.
}

// Error returns the message, which is one line.
func (e *VerificationError) Error() string { return "verification failed: " + e.Reason }

// A Verified holds the digests that a valid signature covers.
type Verified struct {
	signature string
	digests   map[string]struct{}
}

// Covers reports whether a signed resource names a blob or a manifest with the digest, sha256:…. It covers neither
// excluded resources nor resources of components to which no signed digest leads.
func (v *Verified) Covers(digest string) bool {
	_, ok := v.digests[digest]
	return ok
}

// Signature returns the name of the valid signature.
func (v *Verified) Signature() string { return v.signature }

// Verify verifies the signature of the first component, the root, with the keys that have its name, one of which must
// match; it verifies the other components by the digests in the references to them. The components must include all
// that are referenced, as Collect returns them.
//
// The signature must be RSASSA-PKCS1-V1_5 over the hash, SHA-256 or SHA-512, of the current content of the descriptor,
// in the form jsonNormalisation/v1. Verify refuses anything else, and also a local blob whose access names another
// digest than the signed one. The caller must call Covers with the digest that it pulls. The error is a
// *VerificationError.
func Verify(components []*Descriptor, keys []Key) (*Verified, error) {
	v, err := verify(components, keys)
	if err != nil {
		return nil, &VerificationError{Reason: err.Error()}
	}
	return v, nil
}

func verify(components []*Descriptor, keys []Key) (*Verified, error) {
	if len(components) == 0 {
		return nil, errors.New("no component descriptor to verify")
	}
	c := &checker{components: map[string]*Descriptor{}, done: map[string]struct{}{}, digests: map[string]struct{}{}}
	for _, d := range components {
		if other, ok := c.components[d.ID()]; ok && !bytes.Equal(other.raw, d.raw) {
			return nil, errors.Errorf("two different descriptors for component %s", d.ID())
		}
		c.components[d.ID()] = d
	}
	root := components[0]
	name, err := verifySignatures(root, keys)
	if err != nil {
		return nil, errors.Wrapf(err, "component %s", root.ID())
	}
	if err := c.check(root); err != nil {
		return nil, err
	}
	return &Verified{signature: name, digests: c.digests}, nil
}

// verifySignatures returns the name of the first signature that one of the keys verifies.
func verifySignatures(d *Descriptor, keys []Key) (string, error) {
	signatures := map[string]Signature{}
	for _, s := range d.Signatures() {
		if _, ok := signatures[s.Name]; ok {
			return "", errors.Errorf("the component has two signatures named %.253q", s.Name)
		}
		signatures[s.Name] = s
	}
	var failed error
	var names []string
	for _, k := range keys {
		s, ok := signatures[k.Name]
		if !ok {
			names = append(names, k.Name)
			continue
		}
		err := verifySignature(d, s, k.public)
		if err == nil {
			return s.Name, nil
		}
		if failed == nil {
			failed = errors.Wrapf(err, "signature %q", s.Name)
		}
	}
	switch {
	case failed != nil:
		return "", failed
	case len(names) == 0:
		return "", errors.New("no key to verify the signature")
	}
	slices.Sort(names)
	return "", errors.Errorf("the component has no signature named %s", strings.Join(slices.Compact(names), " or "))
}

// SignedBy reports whether a descriptor has a signature with the given name. It returns an error if that signature is
// not valid or was created with another key, or if there are two. It does not verify the references of the component,
// so it does not replace Verify.
func SignedBy(d *Descriptor, name string, key crypto.PublicKey) (bool, error) {
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return false, errors.Errorf("unsupported public key type %T: must be RSA", key)
	}
	var found []Signature
	for _, s := range d.Signatures() {
		if s.Name == name {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return false, nil
	case 1:
		return true, verifySignature(d, found[0], public)
	}
	return true, errors.Errorf("the component has %d signatures with this name", len(found))
}

func verifySignature(d *Descriptor, s Signature, k *rsa.PublicKey) error {
	if k == nil {
		return errors.New("the key is empty")
	}
	// ParseKey checks the size, but SignedBy accepts any key.
	if err := checkBits(k); err != nil {
		return err
	}
	if s.Algorithm != v2.RSAPKCS1v15 {
		return errors.Errorf("unknown signature algorithm %.100q: must be %s", s.Algorithm, v2.RSAPKCS1v15)
	}
	h, hashed, err := checkHash(d, s.Digest)
	if err != nil {
		return err
	}
	value, err := signatureValue(s)
	if err != nil {
		return err
	}
	if rsa.VerifyPKCS1v15(k, h, hashed, value) != nil {
		return errors.New("the signature does not match this component and the public key")
	}
	return nil
}

// checkHash computes the hash of a descriptor and compares it with the digest of a signature or a reference. Trusting
// that digest instead would accept any descriptor with an old signature.
func checkHash(d *Descriptor, want Digest) (crypto.Hash, []byte, error) {
	switch want.NormalisationAlgorithm {
	case NormalisationJSON:
	case normalisationJSON2:
		return 0, nil, errors.Errorf("normalisation %s is not supported: sign with %s", normalisationJSON2, NormalisationJSON)
	default:
		return 0, nil, errors.Errorf("unknown normalisation algorithm %.100q: must be %s", want.NormalisationAlgorithm, NormalisationJSON)
	}
	h, err := hashFunction(want.HashAlgorithm)
	if err != nil {
		return 0, nil, err
	}
	got, err := d.hash(h)
	if err != nil {
		return 0, nil, err
	}
	if got != want.Value {
		return 0, nil, errors.Errorf("the component was changed after it was signed: its hash is %s, but the signed hash is %.140q", got, want.Value)
	}
	hashed, err := hex.DecodeString(got)
	return h, hashed, err
}

// signatureValue returns the bytes of a signature, which is encoded as hex or PEM.
func signatureValue(s Signature) ([]byte, error) {
	switch s.MediaType {
	case v2.MediaTypeRSASignature:
		b, err := hex.DecodeString(s.Value)
		if err != nil {
			return nil, errors.New("the value of the signature is not hexadecimal")
		}
		return b, nil
	case v2.MediaTypePEM:
		return signaturePEM([]byte(s.Value))
	}
	return nil, errors.Errorf("unknown media type %.100q: must be %s or %s", s.MediaType, v2.MediaTypeRSASignature, v2.MediaTypePEM)
}

// signaturePEM returns the only PEM block with the signature. It ignores the certificates that OCM appends, since only
// the given keys are trusted.
func signaturePEM(data []byte) ([]byte, error) {
	var found *pem.Block
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != v2.SignaturePEMBlockType {
			continue
		}
		if found != nil {
			return nil, errors.New("the value contains more than one PEM block with a signature")
		}
		found = block
	}
	if found == nil {
		return nil, errors.Errorf("the value contains no PEM block of type %s", v2.SignaturePEMBlockType)
	}
	if a, ok := found.Headers[v2.SignatureAlgorithmHeader]; ok && a != v2.RSAPKCS1v15 {
		return nil, errors.Errorf("the PEM block has algorithm %.100q: must be %s", a, v2.RSAPKCS1v15)
	}
	return found.Bytes, nil
}
