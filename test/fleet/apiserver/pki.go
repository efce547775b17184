// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Domain is the domain of the server names of clusters: the one of the cluster "c1" is c1.fleet.test.
const Domain = "fleet.test"

// A pki has the certificates of a cluster. As in reality, each cluster has an authority of its own, whose key is not kept: a client that
// connects to many clusters can share neither the authority nor the parsed certificate.
type pki struct {
	// ca is the DER certificate of the authority, and serving is a certificate that it signed.
	ca      []byte
	serving tls.Certificate
}

// newPKI returns new certificates for a server name.
func newPKI(serverName string) (*pki, error) {
	const lifetime = 30 * 24 * time.Hour
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a key")
	}
	authority := &x509.Certificate{
		Subject: pkix.Name{CommonName: "fleet"}, IsCA: true, BasicConstraintsValid: true, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(lifetime), KeyUsage: x509.KeyUsageCertSign,
	}
	ca, err := x509.CreateCertificate(rand.Reader, authority, authority, &key.PublicKey, key)
	if err != nil {
		return nil, errors.Wrap(err, "cannot create the certificate of an authority")
	}
	// The certificate of the authority has the identifier of its key, which distinguishes authorities with the same name.
	if authority, err = x509.ParseCertificate(ca); err != nil {
		return nil, errors.Wrap(err, "cannot parse the certificate of an authority")
	}
	leaf := &x509.Certificate{
		Subject: pkix.Name{CommonName: serverName}, DNSNames: []string{serverName}, NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a key")
	}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, authority, &leafKey.PublicKey, key)
	serving := tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: leafKey}
	return &pki{ca: ca, serving: serving}, errors.Wrap(err, "cannot create a certificate")
}

// pem returns the certificate of the authority as PEM.
func (p *pki) pem() []byte { return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.ca}) }

func newToken() (string, error) {
	const size = 16
	b := make([]byte, size)
	_, err := rand.Read(b)
	return hex.EncodeToString(b), errors.Wrap(err, "cannot create a token")
}
