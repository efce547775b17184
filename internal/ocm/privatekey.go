// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxKeyFile bounds a file with a key, in bytes. A key of 16384 bits has 13 KB.
const maxKeyFile = 64 << 10

// ParsePrivateKey parses the private key for signing, RSA of 2048 to 16384 bits. The data must be one PEM block:
// PRIVATE KEY (PKCS#8) or RSA PRIVATE KEY (PKCS#1). Errors never contain a part of the key.
func ParsePrivateKey(data []byte) (crypto.Signer, error) {
	key, err := parsePrivate(data)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read private key")
	}
	return key, nil
}

func parsePrivate(data []byte) (*rsa.PrivateKey, error) {
	if len(data) > maxKeyFile {
		return nil, errors.Errorf("it is larger than the limit of %d bytes", maxKeyFile)
	}
	block, rest := pem.Decode(data)
	if block == nil {
		return nil, errors.New("it is not PEM")
	}
	if err := checkBlock(block); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("it is more than one block of PEM, or something follows it: leave nothing but the private key")
	}
	var key any
	var err error
	if block.Type == "RSA PRIVATE KEY" {
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	} else {
		key, err = parsePKCS8(block.Bytes)
	}
	if err != nil {
		// The text of the cause may depend on the key.
		return nil, errors.Errorf("its PEM block %q is malformed", block.Type)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.Errorf("it is %s: descriptors are signed with RSA", kindOfKey(key))
	}
	if err := checkBits(&private.PublicKey); err != nil {
		return nil, err
	}
	return private, nil
}

// checkBlock returns an error that describes a block, unless it is an unencrypted private key.
func checkBlock(block *pem.Block) error {
	_, legacy := block.Headers["DEK-Info"]
	if legacy || strings.HasPrefix(block.Type, "ENCRYPTED ") {
		return errors.New("it is encrypted: write it without a passphrase first, with openssl pkey -in FILE -out NEWFILE, and keep that secret")
	}
	switch block.Type {
	case "PRIVATE KEY", "RSA PRIVATE KEY":
		return nil
	case "EC PRIVATE KEY", "EC PARAMETERS":
		return errors.New("it is an EC key: descriptors are signed with RSA")
	case "OPENSSH PRIVATE KEY":
		return errors.New("it is a key of OpenSSH: write it as PEM first, with ssh-keygen -p -m PEM on a copy of it")
	case "CERTIFICATE":
		return errors.New("it is a certificate: use the private key that matches it")
	}
	if strings.HasSuffix(block.Type, "PUBLIC KEY") {
		return errors.New("it is a public key: give the private one")
	}
	return errors.Errorf("it is a PEM block %.50q: want PRIVATE KEY or RSA PRIVATE KEY", block.Type)
}

// parsePKCS8 parses a private key. Unlike x509, it refuses trailing data.
func parsePKCS8(der []byte) (any, error) {
	var whole asn1.RawValue
	rest, err := asn1.Unmarshal(der, &whole)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, errors.New("it has trailing data")
	}
	return x509.ParsePKCS8PrivateKey(der)
}

func kindOfKey(key any) string {
	switch key.(type) {
	case *ecdsa.PrivateKey:
		return "an EC key"
	case ed25519.PrivateKey:
		return "an Ed25519 key"
	}
	return "a key of another kind"
}
