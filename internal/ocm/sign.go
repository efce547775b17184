// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"encoding/pem"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
)

// Sign returns d with an additional signature: RSASSA-PKCS1-V1_5 over the SHA-256 of the normalised descriptor, as PEM,
// which component-spec and OCM read. The signer's key must be RSA of 2048 to 16384 bits. Sign refuses what Verify would
// refuse: a reference without digest, a resource without digest that is not excluded, unknown algorithms, and a second
// signature of the same name. The same key gives the same signature.
func Sign(d *Descriptor, name string, signer crypto.Signer) (*Descriptor, error) {
	signed, err := sign(d, name, signer)
	return signed, errors.Wrapf(err, "cannot sign component %s", d.ID())
}

func sign(d *Descriptor, name string, signer crypto.Signer) (*Descriptor, error) {
	if name == "" {
		return nil, errors.New("the signature name is empty")
	}
	for _, s := range d.Signatures() {
		if s.Name == name {
			return nil, errors.Errorf("the component already has a signature named %q", name)
		}
	}
	public, ok := signer.Public().(*rsa.PublicKey)
	if !ok {
		return nil, errors.Errorf("unsupported public key type %T: must be RSA", signer.Public())
	}
	if err := checkBits(public); err != nil {
		return nil, err
	}
	if _, err := signedDigests(d); err != nil {
		return nil, err
	}
	hash, err := d.Hash()
	if err != nil {
		return nil, err
	}
	hashed, err := hex.DecodeString(hash)
	if err != nil {
		return nil, err
	}
	value, err := signer.Sign(rand.Reader, hashed, crypto.SHA256)
	if err != nil {
		return nil, errors.Wrap(err, "the signer failed")
	}
	if rsa.VerifyPKCS1v15(public, crypto.SHA256, hashed, value) != nil {
		return nil, errors.New("the signer returned an invalid signature: it must match its public key and use " + v2.RSAPKCS1v15)
	}
	return d.with(v2.Signature{
		Name:   name,
		Digest: v2.DigestSpec{HashAlgorithm: HashSHA256, NormalisationAlgorithm: NormalisationJSON, Value: hash},
		Signature: v2.SignatureSpec{
			Algorithm: v2.RSAPKCS1v15,
			MediaType: v2.MediaTypePEM,
			Value: string(pem.EncodeToMemory(&pem.Block{
				Type:    v2.SignaturePEMBlockType,
				Headers: map[string]string{v2.SignatureAlgorithmHeader: v2.RSAPKCS1v15},
				Bytes:   value,
			})),
		},
	})
}
