// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// entra simulates Microsoft Entra ID, and records the requests.
type entra struct {
	*httptest.Server

	asked  []url.Values
	refuse bool
}

func newEntra(t *testing.T) *entra {
	t.Helper()
	e := &entra{}
	e.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "/.well-known/") {
			_ = json.NewEncoder(w).Encode(map[string]string{
				"token_endpoint":         e.URL + "/tenant/oauth2/v2.0/token",
				"authorization_endpoint": e.URL + "/tenant/oauth2/v2.0/authorize",
				"issuer":                 e.URL + "/tenant/v2.0",
			})
			return
		}
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		e.asked = append(e.asked, r.PostForm)
		if e.refuse {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"AADSTS7000215: canary. Trace ID: 1"}`)
			return
		}
		_, _ = io.WriteString(w, `{"token_type":"Bearer","expires_in":3600,"access_token":"token"}`)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *entra) options() azcore.ClientOptions {
	return azcore.ClientOptions{
		Transport: e.Client(), Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: e.URL}, Retry: policy.RetryOptions{MaxRetries: -1},
	}
}

// send sends a request through the transport of a REST config.
func send(t *testing.T, rc *rest.Config) (authorization string, err error) {
	t.Helper()
	rt := rc.WrapTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		authorization = r.Header.Get("Authorization")
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://cluster.example.org/", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return "", err
	}
	if r.Header.Get("Authorization") != "" {
		t.Error("RoundTrip(...): the request of the caller was changed")
	}
	return authorization, resp.Body.Close()
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// certificateFile returns a file with a certificate and its key.
func certificateFile(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "x"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "certificate.pem")
	data := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWrap(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("federated"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AZURE_FEDERATED_TOKEN_FILE", token)
	secret := Credentials{ClientID: "client", TenantID: "tenant", ClientSecret: "secret"}
	exec := []string{"get-token", "--login", "spn", "--server-id", "server"}
	cases := map[string]struct {
		reason   string
		c        Credentials
		workload bool
		args     []string
		refuse   bool
		want     map[string]string
		err      string
	}{
		"Secret": {
			reason: "The kubeconfig names the server.", c: secret, args: exec,
			want: map[string]string{"client_id": "client", "client_secret": "secret", "scope": "server/.default openid offline_access profile"},
		},
		"Certificate": {
			reason: "A certificate signs an assertion.", c: Credentials{ClientID: "client", TenantID: "tenant", ClientCertificate: certificateFile(t)}, args: exec,
			want: map[string]string{"client_id": "client", "client_secret": "", "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
		},
		"Workload": {
			reason: "The token is that of the environment.", workload: true, c: Credentials{ClientID: "client", TenantID: "tenant", ServerID: "other/"}, args: exec,
			want: map[string]string{"client_id": "client", "client_assertion": "federated", "scope": "other/.default openid offline_access profile"},
		},
		"WorkloadWithoutExec": {
			reason: "The credentials name the server.", workload: true, c: Credentials{ClientID: "client", TenantID: "tenant", ServerID: "server/.default"},
			want: map[string]string{"scope": "server/.default openid offline_access profile"},
		},
		"Refused": {reason: "The error contains nothing that differs each time.", c: secret, args: exec, refuse: true, err: "Microsoft Entra ID rejects the credentials (401 Unauthorized)"},
		"NoServer": {
			reason: "Tokens are for one application.", c: secret, args: []string{"get-token"},
			err: "the application of the API server is unknown: set serverId, or --server-id in the exec of the kubeconfig",
		},
		"NoSecret": {reason: "A client must have a secret or a certificate.", c: Credentials{ClientID: "client", TenantID: "tenant"}, args: exec, err: "either clientSecret or clientCertificate is required"},
		"NoClient": {reason: "A client must have an ID.", c: Credentials{TenantID: "tenant", ClientSecret: "secret"}, args: exec, err: "clientId and tenantId are required"},
		"NoFile": {
			reason: "The file is missing.", c: Credentials{ClientID: "client", TenantID: "tenant", ClientCertificate: "/missing"}, args: exec,
			err: "cannot read clientCertificate: open /missing: no such file or directory",
		},
		"NoCertificate": {
			reason: "The file is something else, which is not shown.", c: Credentials{ClientID: "client", TenantID: "tenant", ClientCertificate: token}, args: exec,
			err: "clientCertificate must contain a certificate and its private key, or the password is wrong",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := newEntra(t)
			e.refuse = tc.refuse
			rc := &rest.Config{}
			if tc.args != nil {
				rc.ExecProvider = &clientcmdapi.ExecConfig{Args: tc.args}
			}
			identity := tc.c.servicePrincipal
			if tc.workload {
				identity = tc.c.workloadIdentity
			}
			err := tc.c.wrap(rc, func(azcore.ClientOptions) (azcore.TokenCredential, error) { return identity(e.options()) })
			var got string
			for range 2 {
				if err == nil {
					got, err = send(t, rc)
				}
			}
			if text := errorText(err); text != tc.err || tc.err == "" && got != "Bearer token" {
				t.Fatalf("\n%s\nwrap(...): %q, want error %q, got %q", tc.reason, got, tc.err, text)
			}
			if tc.err != "" {
				return
			}
			if len(e.asked) != 1 {
				t.Errorf("\n%s\n%d tokens for two requests, want one", tc.reason, len(e.asked))
			}
			asked := map[string]string{}
			for k := range tc.want {
				asked[k] = e.asked[0].Get(k)
			}
			if diff := cmp.Diff(tc.want, asked); diff != "" {
				t.Errorf("\n%s\nwrap(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
