// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func setCluster(rc *rest.Config, c *api.Cluster, o Options) error {
	if err := refuseFile("certificate-authority", c.CertificateAuthority, o); err != nil {
		return err
	}
	server, err := serverURL(c.Server)
	if err != nil {
		return err
	}
	hasCA := len(c.CertificateAuthorityData) > 0 || c.CertificateAuthority != ""
	if c.InsecureSkipTLSVerify && hasCA {
		return errors.New("insecure-skip-tls-verify and a certificate authority are mutually exclusive")
	}
	if len(c.CertificateAuthorityData) > 0 && !x509.NewCertPool().AppendCertsFromPEM(c.CertificateAuthorityData) {
		return errors.New("certificate-authority-data contains no PEM certificate")
	}
	rc.Host = server.String()
	rc.DisableCompression = c.DisableCompression
	rc.Insecure = c.InsecureSkipTLSVerify
	rc.ServerName = c.TLSServerName
	rc.CAData = c.CertificateAuthorityData
	rc.CAFile = c.CertificateAuthority
	if c.ProxyURL == "" {
		return nil
	}
	proxy, err := proxyURL(c.ProxyURL)
	if err != nil {
		return err
	}
	rc.Proxy = http.ProxyURL(proxy)
	return nil
}

func setUser(rc *rest.Config, u *api.AuthInfo, o Options) error {
	if u.Exec != nil && !o.AllowExec && !o.Identity {
		return errors.New("exec is not allowed, because it would run a command in the provider; use a token or a client " +
			"certificate, or start the provider with --allow-kubeconfig-exec")
	}
	if u.AuthProvider != nil && !o.AllowExec {
		return errors.New("auth-provider is not allowed; use a token or a client certificate, or start the provider with --allow-kubeconfig-exec")
	}
	for _, f := range []struct{ field, path string }{
		{"tokenFile", u.TokenFile},
		{"client-certificate", u.ClientCertificate},
		{"client-key", u.ClientKey},
	} {
		if err := refuseFile(f.field, f.path, o); err != nil {
			return err
		}
	}
	if err := checkKeyPair(u); err != nil {
		return err
	}
	rc.Username, rc.Password = u.Username, u.Password
	rc.BearerToken, rc.BearerTokenFile = u.Token, u.TokenFile
	rc.CertData, rc.CertFile = u.ClientCertificateData, u.ClientCertificate
	rc.KeyData, rc.KeyFile = u.ClientKeyData, u.ClientKey
	rc.Impersonate = rest.ImpersonationConfig{
		UserName: u.Impersonate,
		UID:      u.ImpersonateUID,
		Groups:   u.ImpersonateGroups,
		Extra:    u.ImpersonateUserExtra,
	}
	rc.AuthProvider = u.AuthProvider
	if u.Exec != nil {
		rc.ExecProvider = u.Exec.DeepCopy()
		rc.ExecProvider.StdinUnavailable = true
	}
	return nil
}

func refuseFile(field, path string, o Options) error {
	if path == "" || o.AllowFiles {
		return nil
	}
	return errors.Errorf("%s is not allowed, because it refers to a file of the provider; embed the content in the "+
		"kubeconfig, or start the provider with --allow-kubeconfig-files", field)
}

// maxURL is the maximum length of an address, in bytes. Addresses are in messages and the keys of caches.
const maxURL = 2048

// serverURL parses the address of an HTTP server, and rejects all other URLs. Errors do not quote the address, because it
// may contain a password.
func serverURL(server string) (*url.URL, error) {
	if server == "" {
		return nil, errors.New("server is not set")
	}
	if len(server) > maxURL {
		return nil, errors.Errorf("server is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(server)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" {
		return nil, errors.New("server must be an http or https URL with a host")
	}
	if u.User != nil {
		return nil, errors.New("server must not contain a user or a password")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("server must not contain a query or a fragment")
	}
	return u, nil
}

func proxyURL(proxy string) (*url.URL, error) {
	if len(proxy) > maxURL {
		return nil, errors.Errorf("proxy-url is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(proxy)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("proxy-url must be a URL with a host")
	}
	switch u.Scheme {
	case "http", "https", "socks5":
		return u, nil
	}
	return nil, errors.New("proxy-url must be an http, https or socks5 URL")
}

// checkKeyPair returns an error that names the invalid field. Without it, the TLS library would report the error only
// when the connection is opened.
func checkKeyPair(u *api.AuthInfo) error {
	hasCert := len(u.ClientCertificateData) > 0 || u.ClientCertificate != ""
	hasKey := len(u.ClientKeyData) > 0 || u.ClientKey != ""
	if hasCert != hasKey {
		return errors.New("client-certificate-data and client-key-data must be set together")
	}
	if len(u.ClientCertificateData) == 0 || len(u.ClientKeyData) == 0 {
		return nil
	}
	if _, err := tls.X509KeyPair(u.ClientCertificateData, u.ClientKeyData); err != nil {
		return errors.New("client-certificate-data and client-key-data must be a PEM certificate and the matching key")
	}
	return nil
}
