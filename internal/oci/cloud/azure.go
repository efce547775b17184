// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
)

const (
	hostsOfAzure = `^[a-z0-9]{5,50}(?:-[a-z0-9-]+)?\.azurecr\.(?:io|cn|us)$`

	// userOfACR is the user name that goes with a token.
	userOfACR = "00000000-0000-0000-0000-000000000000"

	// scopeOfACR is the scope of registries in every Azure cloud.
	scopeOfACR = "https://containerregistry.azure.net/.default"

	// lifeOfACR is shorter than the three hours for which a token of ACR is valid.
	lifeOfACR = time.Hour

	// maxAnswer bounds the response of a registry, in bytes.
	maxAnswer = 64 << 10
)

// azure exchanges tokens of Microsoft Entra ID for tokens of registries.
type azure struct {
	client *http.Client
	// credential is called for each login, because it reads a file that may have changed.
	credential func() (azcore.TokenCredential, error)
}

func newAzure() *identity {
	return newIdentity("azure", hostsOfAzure, (&azure{
		client:     netguard.New(netguard.Options{}).Dialer(netguard.Platform).Client(loginTimeout),
		credential: credentialOfAzure,
	}).login, explainAzure)
}

// credentialOfAzure returns the credential of Azure Workload Identity from the environment of the pod, otherwise that
// of a service principal in the environment, otherwise the managed identity of the machine.
func credentialOfAzure() (azcore.TokenCredential, error) {
	switch {
	case os.Getenv("AZURE_FEDERATED_TOKEN_FILE") != "":
		return azidentity.NewWorkloadIdentityCredential(nil)
	case os.Getenv("AZURE_CLIENT_SECRET") != "", os.Getenv("AZURE_CLIENT_CERTIFICATE_PATH") != "":
		return azidentity.NewEnvironmentCredential(nil)
	}
	o := &azidentity.ManagedIdentityCredentialOptions{}
	if id := os.Getenv("AZURE_CLIENT_ID"); id != "" {
		o.ID = azidentity.ClientID(id)
	}
	return azidentity.NewManagedIdentityCredential(o)
}

func (a *azure) login(ctx context.Context, host string) (login, error) {
	credential, err := a.credential()
	if err != nil {
		return login{}, err
	}
	token, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scopeOfACR}})
	if err != nil {
		return login{}, err
	}
	form := url.Values{"grant_type": {"access_token"}, "service": {host}, "access_token": {token.Token}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+host+"/oauth2/exchange", strings.NewReader(form.Encode()))
	if err != nil {
		return login{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := a.client.Do(req)
	if err != nil {
		return login{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return login{}, errors.Errorf("the registry rejects the identity (%d %s)", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	var answer struct {
		RefreshToken string `json:"refresh_token"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&answer) != nil || answer.RefreshToken == "" {
		return login{}, errors.New("the registry returned no token")
	}
	return login{user: userOfACR, password: answer.RefreshToken, expires: time.Now().Add(lifeOfACR)}, nil
}

// explainAzure returns the message of err without request IDs and times.
func explainAzure(err error) string {
	var failed *azidentity.AuthenticationFailedError
	if errors.As(err, &failed) && failed.RawResponse != nil {
		code := failed.RawResponse.StatusCode
		return fmt.Sprintf("Microsoft Entra ID rejects the identity (%d %s)", code, http.StatusText(code))
	}
	return explainURL(err)
}
