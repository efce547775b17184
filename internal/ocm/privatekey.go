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
		return nil, errors.Errorf("content is larger than the limit of %d bytes", maxKeyFile)
	}
	block, rest := pem.Decode(data)
	if block == nil {
		return nil, errors.New("not in PEM format")
	}
	if err := checkBlock(block); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("the file must contain a single PEM block with the private key, and nothing else")
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
		return nil, errors.Errorf("malformed PEM block %q", block.Type)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.Errorf("expected an RSA key, got %s", kindOfKey(key))
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
		return errors.New("the key is encrypted: decrypt it with openssl pkey -in FILE -out NEWFILE, and keep NEWFILE secret")
	}
	switch block.Type {
	case "PRIVATE KEY", "RSA PRIVATE KEY":
		return nil
	case "EC PRIVATE KEY", "EC PARAMETERS":
		return errors.New("expected an RSA key, got an EC key")
	case "OPENSSH PRIVATE KEY":
		return errors.New("the key is in OpenSSH format: convert a copy of it to PEM with ssh-keygen -p -m PEM -f COPY")
	case "CERTIFICATE":
		return errors.New("expected a private key, got a certificate: use the private key that belongs to the certificate")
	}
	if strings.HasSuffix(block.Type, "PUBLIC KEY") {
		return errors.New("expected a private key, got a public key")
	}
	return errors.Errorf("unsupported PEM block %.50q: must be PRIVATE KEY or RSA PRIVATE KEY", block.Type)
}

// parsePKCS8 parses a private key. Unlike x509, it refuses trailing data.
func parsePKCS8(der []byte) (any, error) {
	var whole asn1.RawValue
	rest, err := asn1.Unmarshal(der, &whole)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, errors.New("trailing data after the key")
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
	return "a key of an unsupported type"
}
