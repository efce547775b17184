// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Credentials are the credentials of an identity. provider-kubernetes and provider-helm use the same JSON.
type Credentials struct {
	ClientID string `json:"clientId"`
	TenantID string `json:"tenantId"`
	// ServerID is the ID of the application of the API server. By default, it is taken from the kubeconfig.
	ServerID string `json:"serverId"`

	// ClientSecret authenticates a service principal. Alternatively, ClientCertificate is the path of a file with a
	// certificate and its key.
	ClientSecret              string `json:"clientSecret"`
	ClientCertificate         string `json:"clientCertificate"`
	ClientCertificatePassword string `json:"clientCertificatePassword"`

	// FederatedTokenFile is the path of the token of a workload identity. It and AuthorityHost default to values from the
	// environment.
	FederatedTokenFile string `json:"federatedTokenFile"`
	AuthorityHost      string `json:"authorityHost"`
}

// Parse parses credentials. The error does not quote them.
func Parse(data []byte) (*Credentials, error) {
	c := &Credentials{}
	if json.Unmarshal(data, c) != nil {
		return nil, errors.New("the credentials must be a JSON object with string values")
	}
	return c, nil
}

// CheckAuthority returns an error if authorityHost, to which secrets are sent, is not a server of Microsoft Entra ID.
func (c *Credentials) CheckAuthority() error {
	if c.AuthorityHost == "" {
		return nil
	}
	hosts := []string{
		"login.microsoftonline.com", "login.microsoftonline.us", "login.chinacloudapi.cn", "login.partner.microsoftonline.cn",
	}
	u, err := url.Parse(c.AuthorityHost)
	if err == nil && u.Scheme == "https" && u.User == nil && slices.Contains(hosts, strings.ToLower(u.Host)) {
		return nil
	}
	return errors.Errorf("authorityHost is not a known host of Microsoft Entra ID: use one of https://%s, or set "+
		"AZURE_AUTHORITY_HOST in the environment of the provider", strings.Join(hosts, ", https://"))
}

// WrapServicePrincipal adds the tokens of a service principal to the requests of a REST config. The client requests the
// tokens.
func (c *Credentials) WrapServicePrincipal(rc *rest.Config, client *http.Client) error {
	return c.wrap(rc, func(o azcore.ClientOptions) (azcore.TokenCredential, error) {
		o.Transport = client
		return c.servicePrincipal(o)
	})
}

// WrapWorkloadIdentity adds the tokens of a workload identity to the requests of a REST config. The client requests the
// tokens.
func (c *Credentials) WrapWorkloadIdentity(rc *rest.Config, client *http.Client) error {
	return c.wrap(rc, func(o azcore.ClientOptions) (azcore.TokenCredential, error) {
		o.Transport = client
		return c.workloadIdentity(o)
	})
}

// wrap adds the tokens of an identity, which it creates with default options, to the requests of a REST config.
func (c *Credentials) wrap(rc *rest.Config, identity func(azcore.ClientOptions) (azcore.TokenCredential, error)) error {
	server, err := c.server(rc.ExecProvider)
	if err != nil {
		return err
	}
	credential, err := identity(azcore.ClientOptions{})
	if err != nil {
		return err
	}
	rc.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &transport{credential: credential, scope: scopeOf(server), next: next}
	})
	return nil
}

// server returns the ID of the application that tokens are for. Kubeconfigs of Azure contain it in the arguments of
// kubelogin.
func (c *Credentials) server(exec *clientcmdapi.ExecConfig) (string, error) {
	id := ""
	flags := pflag.NewFlagSet("kubelogin", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.StringVar(&id, "server-id", "", "")
	if exec != nil {
		if err := flags.Parse(exec.Args); err != nil {
			return "", errors.New("cannot parse the arguments of exec in the kubeconfig")
		}
	}
	if c.ServerID != "" {
		id = c.ServerID
	}
	if id == "" {
		return "", errors.New("the application of the API server is unknown: set serverId, or --server-id in the exec of the kubeconfig")
	}
	return id, nil
}

func scopeOf(server string) string {
	server = strings.TrimSuffix(server, "/")
	if strings.HasSuffix(server, "/.default") {
		return server
	}
	return server + "/.default"
}

func (c *Credentials) servicePrincipal(o azcore.ClientOptions) (azcore.TokenCredential, error) {
	switch {
	case c.ClientID == "" || c.TenantID == "":
		return nil, errors.New("clientId and tenantId are required")
	case (c.ClientSecret == "") == (c.ClientCertificate == ""):
		return nil, errors.New("either clientSecret or clientCertificate is required")
	case c.ClientSecret != "":
		return azidentity.NewClientSecretCredential(c.TenantID, c.ClientID, c.ClientSecret, &azidentity.ClientSecretCredentialOptions{
			ClientOptions: o, DisableInstanceDiscovery: o.Cloud.ActiveDirectoryAuthorityHost != "",
		})
	}
	data, err := os.ReadFile(c.ClientCertificate)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read clientCertificate")
	}
	certificates, key, err := azidentity.ParseCertificates(data, []byte(c.ClientCertificatePassword))
	if err != nil {
		return nil, errors.New("clientCertificate must contain a certificate and its private key, or the password is wrong")
	}
	return azidentity.NewClientCertificateCredential(c.TenantID, c.ClientID, certificates, key, &azidentity.ClientCertificateCredentialOptions{
		ClientOptions: o, SendCertificateChain: true, DisableInstanceDiscovery: o.Cloud.ActiveDirectoryAuthorityHost != "",
	})
}

func (c *Credentials) workloadIdentity(o azcore.ClientOptions) (azcore.TokenCredential, error) {
	if c.AuthorityHost != "" {
		o.Cloud = cloud.Configuration{ActiveDirectoryAuthorityHost: c.AuthorityHost}
	}
	credential, err := azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
		ClientOptions: o, ClientID: c.ClientID, TenantID: c.TenantID, TokenFilePath: c.FederatedTokenFile,
		DisableInstanceDiscovery: o.Cloud.ActiveDirectoryAuthorityHost != "",
	})
	return credential, errors.Wrap(err, "cannot use the workload identity of the provider")
}

// A transport adds tokens to requests. The credential caches the tokens.
type transport struct {
	credential azcore.TokenCredential
	scope      string
	next       http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(in *http.Request) (*http.Response, error) {
	token, err := t.credential.GetToken(in.Context(), policy.TokenRequestOptions{Scopes: []string{t.scope}})
	if err != nil {
		if in.Body != nil {
			_ = in.Body.Close()
		}
		return nil, explain(err)
	}
	r := in.Clone(in.Context())
	r.Header.Set("Authorization", "Bearer "+token.Token)
	return t.next.RoundTrip(r)
}

// explain returns an error without the details that vary between responses of Microsoft Entra ID, such as the trace ID.
func explain(err error) error {
	var failed *azidentity.AuthenticationFailedError
	if !errors.As(err, &failed) || failed.RawResponse == nil {
		return errors.Wrap(err, "cannot get a token from Microsoft Entra ID")
	}
	code := failed.RawResponse.StatusCode
	return errors.Errorf("Microsoft Entra ID rejects the credentials (%d %s)", code, http.StatusText(code))
}
