// SPDX-License-Identifier: Apache-2.0

package target

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/oauth2"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kubernetes/pkg/kube/client/aws"
	"github.com/crossplane-contrib/provider-kubernetes/pkg/kube/client/gke"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/target/azure"
	"github.com/crossplane-contrib/provider-kyma/internal/target/upbound"
)

// An identity authenticates instead of the user of a kubeconfig.
type identity struct {
	kind v1alpha1.IdentityType
	// injected is true for the identity of the provider. Then data is nil.
	injected bool
	data     []byte
	// lent is true if the identity belongs to the provider, and is not in a Secret.
	lent bool
	// server is the host to which the tokens of a lent identity can be sent, or empty.
	server string
}

// check returns an error if the policy does not permit the identity. It reads no files and sends no requests.
func (i *identity) check(tenant bool, p Policy) error {
	switch i.kind {
	case v1alpha1.IdentityTypeGoogleApplicationCredentials:
		return i.checkGoogle(p)
	case v1alpha1.IdentityTypeAzureServicePrincipalCredentials, v1alpha1.IdentityTypeAzureWorkloadIdentityCredentials:
		return i.checkAzure(tenant, p)
	case v1alpha1.IdentityTypeUpboundTokens:
		return i.needsData()
	case v1alpha1.IdentityTypeAWSWebIdentityCredentials:
		if !i.injected {
			return errors.Errorf("type %s only supports source InjectedIdentity", i.kind)
		}
		return nil
	}
	return errors.Errorf("unknown type %q", i.kind)
}

func (i *identity) needsData() error {
	if i.injected {
		return errors.Errorf("type %s does not support source InjectedIdentity", i.kind)
	}
	return nil
}

// checkGoogle checks Google credentials. Google's library reads the files and sends requests to the servers that
// federated credentials refer to.
func (i *identity) checkGoogle(p Policy) error {
	var key struct {
		Type     string `json:"type"`
		TokenURI string `json:"token_uri"`
	}
	if i.injected || !json.Valid(i.data) {
		return nil // What is not JSON is an access token.
	}
	if err := json.Unmarshal(i.data, &key); err != nil {
		return errors.New("the credentials must be a JSON object or an access token")
	}
	switch key.Type {
	case "service_account", "authorized_user":
		if key.TokenURI != "" && !slices.Contains(tokenURIs(), key.TokenURI) {
			return errors.Errorf("token_uri of the Google credentials must be %s, which is the default", tokenURIs()[0])
		}
		return nil
	}
	if p.AllowFiles {
		return nil
	}
	return errors.New("Google credentials must be of type service_account or authorized_user, because other types can " +
		"refer to files of the provider; to allow all types, start the provider with --allow-kubeconfig-files")
}

// tokenURIs returns the servers that exchange a Google key for a token. Without this list, Google's library would send the key
// to any server, and its response to the API server.
func tokenURIs() []string {
	return []string{
		"https://oauth2.googleapis.com/token", "https://accounts.google.com/o/oauth2/token", "https://www.googleapis.com/oauth2/v4/token",
	}
}

// checkAzure checks Azure credentials. A certificate and a federated token are files of the provider, and the token is
// the provider's own identity. Both require permission in the policy.
func (i *identity) checkAzure(tenant bool, p Policy) error {
	if err := i.needsData(); err != nil {
		return err
	}
	c, err := azure.Parse(i.data)
	if err == nil {
		err = c.CheckAuthority()
	}
	if err != nil {
		return err
	}
	if i.kind == v1alpha1.IdentityTypeAzureWorkloadIdentityCredentials {
		if tenant && !p.AllowTenantIdentity {
			return errors.Errorf("type %s would give a namespace access to the identity of the provider; use a "+
				"ClusterProviderConfig, or start the provider with --allow-tenant-identity", i.kind)
		}
		if !p.AllowFiles && c.FederatedTokenFile != "" {
			return refusedFile("federatedTokenFile")
		}
	}
	if !p.AllowFiles && c.ClientCertificate != "" {
		return refusedFile("clientCertificate")
	}
	return nil
}

func refusedFile(field string) error {
	return errors.Errorf("%s is not allowed, because it refers to a file of the provider; to allow it, start the "+
		"provider with --allow-kubeconfig-files", field)
}

// wrap adds the tokens of the identity to the requests of a REST config. The context must live as long as the config is used.
// The client is used to request tokens, except for the provider's own identity, which cloud libraries get from the metadata
// service or from the environment of the provider. Some identities take parameters from exec, which wrap then removes.
func (i *identity) wrap(ctx context.Context, rc *rest.Config, cluster string, client *http.Client) error {
	var err error
	switch i.kind {
	case v1alpha1.IdentityTypeGoogleApplicationCredentials:
		if !i.injected {
			ctx = context.WithValue(ctx, oauth2.HTTPClient, client)
		}
		err = gke.WrapRESTConfig(ctx, rc, i.data, gke.DefaultScopes...)
	case v1alpha1.IdentityTypeAzureServicePrincipalCredentials, v1alpha1.IdentityTypeAzureWorkloadIdentityCredentials:
		err = i.wrapAzure(rc, client)
	case v1alpha1.IdentityTypeUpboundTokens:
		err = upbound.Wrap(rc, strings.TrimSpace(string(i.data)), client)
	case v1alpha1.IdentityTypeAWSWebIdentityCredentials:
		err = aws.WrapRESTConfig(ctx, rc, cluster)
	default:
		err = errors.New("unknown type")
	}
	rc.ExecProvider, rc.AuthProvider = nil, nil
	return errors.Wrapf(err, "identity %s", i.kind)
}

func (i *identity) wrapAzure(rc *rest.Config, client *http.Client) error {
	c, err := azure.Parse(i.data)
	if err != nil {
		return err
	}
	if i.kind == v1alpha1.IdentityTypeAzureServicePrincipalCredentials {
		return c.WrapServicePrincipal(rc, client)
	}
	return c.WrapWorkloadIdentity(rc, client)
}
