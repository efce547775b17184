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
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// An endpoint is a function that runs.
type endpoint struct {
	process *process.Process
	// address is what Crossplane dials. The certificate is for its host.
	address string
	// secret holds the certificate, for Crossplane to see that there is one.
	secret string
}

// startFunction starts a function with a certificate of Crossplane's authority, and
// returns once it takes connections.
func (x *Crossplane) startFunction(ctx context.Context, t tools.Tool) (*endpoint, error) {
	binary, err := tools.Path(ctx, t)
	if err != nil {
		return nil, err
	}
	dir := x.path("functions", string(t))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, errors.Wrap(err, "cannot make the folder of a function")
	}
	files, err := x.certify(ctx)
	if err != nil {
		return nil, err
	}
	for file, data := range files {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
			return nil, errors.Wrap(err, "cannot write the certificate of a function")
		}
	}
	e := &endpoint{secret: string(t) + "-tls"}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: e.secret},
		Data:       map[string][]byte{corev1.TLSCertKey: files[corev1.TLSCertKey]},
	}
	if err := client.IgnoreAlreadyExists(x.client.Create(ctx, secret)); err != nil {
		return nil, errors.Wrap(err, "cannot create the Secret of a function")
	}
	port, err := process.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	listen := net.JoinHostPort(loopback, strconv.Itoa(port))
	e.process, err = process.Start(dir, string(t), binary, []string{"HOME=" + dir},
		"--debug", "--address="+listen, "--tls-certs-dir="+dir)
	if err != nil {
		return nil, err
	}
	e.address = "dns:///" + net.JoinHostPort("localhost", strconv.Itoa(port))
	if err := x.await(ctx, string(t)+" listens", dialer(listen)); err != nil {
		e.process.Stop()
		return nil, err
	}
	return e, nil
}

func dialer(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return err //nolint:wrapcheck // It names the address.
		}
		return conn.Close() //nolint:wrapcheck // It names the address.
	}
}

// certify returns tls.crt and tls.key for localhost, signed by Crossplane's
// authority, and its ca.crt.
func (x *Crossplane) certify(ctx context.Context) (map[string][]byte, error) {
	s := &corev1.Secret{}
	if err := x.client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: secretCA}, s); err != nil {
		return nil, errors.Wrapf(err, "cannot get Secret %q", secretCA)
	}
	authority, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, errors.Wrap(err, "cannot read Crossplane's authority")
	}
	parent, err := x509.ParseCertificate(authority.Certificate[0])
	if err != nil {
		return nil, errors.Wrap(err, "cannot read Crossplane's authority")
	}
	certificate, key, err := sign(parent, authority.PrivateKey)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"ca.crt": s.Data[corev1.TLSCertKey], corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}, nil
}

func sign(parent *x509.Certificate, authority crypto.PrivateKey) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot make a key")
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
