// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
)

// caFile is the name of the file with the certificate of Crossplane's authority.
const caFile = "ca.crt"

// certify creates tls.crt and tls.key for localhost, signed by Crossplane's authority, and ca.crt. It writes them to a
// directory and returns their contents.
func certify(ctx context.Context, s host, dir string) (map[string][]byte, error) {
	data, err := s.secret(ctx, secretCA)
	if err != nil {
		return nil, err
	}
	authority, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the certificate authority of Crossplane")
	}
	parent, err := x509.ParseCertificate(authority.Certificate[0])
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the certificate authority of Crossplane")
	}
	certificate, key, err := sign(parent, authority.PrivateKey)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{caFile: data[corev1.TLSCertKey], corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}
	return files, errors.Wrap(writeFiles(dir, files), "cannot write a certificate")
}

func sign(parent *x509.Certificate, authority crypto.PrivateKey) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot create a key")
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "localhost"},
		DNSNames:     []string{"localhost"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &private.PublicKey, authority)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot sign a certificate")
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot encode a key")
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), nil
}
