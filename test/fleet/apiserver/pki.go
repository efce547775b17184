// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Domain is the domain of the server names of clusters: the one of the cluster "c1" is c1.fleet.test.
const Domain = "fleet.test"

// A pki has the certificates of a server. All clusters share the serving certificate, which is valid for all server names.
type pki struct {
	ca      []byte
	serving tls.Certificate
	// foreign is a certificate of another authority.
	foreign tls.Certificate
}

func newPKI() (*pki, error) {
	ca, serving, err := newServing()
	if err != nil {
		return nil, err
	}
	_, foreign, err := newServing()
	return &pki{ca: ca, serving: serving, foreign: foreign}, err
}

// newServing returns the PEM certificate of a new authority, and a serving certificate that it signed.
func newServing() ([]byte, tls.Certificate, error) {
	const lifetime = 30 * 24 * time.Hour
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, tls.Certificate{}, errors.Wrap(err, "cannot create a key")
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fleet"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, &key.PublicKey, key)
	if err != nil {
		return nil, tls.Certificate{}, errors.Wrap(err, "cannot create the certificate of an authority")
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: Domain}, DNSNames: []string{"*." + Domain},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, tls.Certificate{}, errors.Wrap(err, "cannot create a key")
	}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, authority, &leafKey.PublicKey, key)
	if err != nil {
		return nil, tls.Certificate{}, errors.Wrap(err, "cannot create a certificate")
	}
	b := &bytes.Buffer{}
	err = pem.Encode(b, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	return b.Bytes(), tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: leafKey}, errors.Wrap(err, "cannot encode a certificate")
}

func newToken() (string, error) {
	const size = 16
	b := make([]byte, size)
	_, err := rand.Read(b)
	return hex.EncodeToString(b), errors.Wrap(err, "cannot create a token")
}
