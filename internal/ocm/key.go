// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Bounds of the size of a key, in bits. Verifying a signature with a key as large as a Secret would take hours.
const (
	minBits = 2048
	maxBits = 16384
)

// A Key is a public key that verifies the signatures with its name.
type Key struct {
	// Name is the name that a signature must have for the key to be used.
	Name string

	public *rsa.PublicKey
}

// ParseKey parses a public key, RSA of 2048 to 16384 bits, for the signatures with the given name. The data must be one
// PEM block: PUBLIC KEY (PKIX), RSA PUBLIC KEY (PKCS#1) or CERTIFICATE. ParseKey uses only the key of a certificate,
// and ignores its issuer and expiry, because the caller already trusts the key.
func ParseKey(signatureName string, data []byte) (Key, error) {
	if signatureName == "" {
		return Key{}, errors.New("cannot read public key: the signature name is empty")
	}
	public, err := parsePublic(data)
	return Key{Name: signatureName, public: public}, errors.Wrapf(err, "cannot read public key of signature %.100q", signatureName)
}

// Public returns the public key, or nil.
func (k Key) Public() crypto.PublicKey {
	if k.public == nil {
		return nil
	}
	return k.public
}

// Fingerprint returns 64 hexadecimal digits that identify the key together with the name of its signatures.
func (k Key) Fingerprint() string {
	data := []byte(k.Name + "\x00")
	if k.public != nil {
		data = append(data, x509.MarshalPKCS1PublicKey(k.public)...)
	}
	return sum(crypto.SHA256, data)
}

func parsePublic(data []byte) (*rsa.PublicKey, error) {
	block, rest := pem.Decode(data)
	if block == nil {
		return nil, errors.New("not in PEM format")
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("more than one PEM block")
	}
	key, err := parseBlock(block)
	if err != nil {
		return nil, err
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, errors.Errorf("unsupported key type %T: must be RSA", key)
	}
	return public, checkBits(public)
}

func parseBlock(block *pem.Block) (any, error) {
	var key any
	var err error
	switch block.Type {
	case "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		var c *x509.Certificate
		if c, err = x509.ParseCertificate(block.Bytes); err == nil {
			key = c.PublicKey
		}
	default:
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return nil, errors.New("expected a public key, got a private key: use the public key, and keep the private key secret")
		}
		return nil, errors.Errorf("unsupported PEM block %.50q: must be PUBLIC KEY, RSA PUBLIC KEY or CERTIFICATE", block.Type)
	}
	if err != nil {
		return nil, errors.Errorf("malformed PEM block %q", block.Type)
	}
	return key, nil
}

func checkBits(k *rsa.PublicKey) error {
	if n := k.N.BitLen(); n < minBits || n > maxBits {
		return errors.Errorf("the RSA key has %d bits: must have between %d and %d", n, minBits, maxBits)
	}
	return nil
}
