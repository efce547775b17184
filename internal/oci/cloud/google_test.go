// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGoogle(t *testing.T) {
	cases := map[string]struct {
		reason string
		code   int
		file   bool
		want   got
		asked  []string
	}{
		"Pod": {
			reason: "The metadata server returns a token for the pod, which is cached.", code: 200,
			want:  got{User: userOfGoogle, Password: "google"},
			asked: []string{"GET /computeMetadata/v1/instance/service-accounts/default/token"},
		},
		"File": {
			reason: "Credentials in a file that the environment names are exchanged.", code: 200, file: true,
			want: got{User: userOfGoogle, Password: "google"}, asked: []string{"POST /token"},
		},
		"Refused": {
			reason: "The error does not contain values that differ for each request.", code: 400, file: true,
			want:  got{Err: `gcp did not return credentials for host "europe-docker.pkg.dev": Google rejects the identity (400 Bad Request)`},
			asked: []string{"POST /token"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			isolate(t)
			s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.code)
				_, _ = io.WriteString(w, `{"access_token":"google","token_type":"Bearer","expires_in":3600}`)
			})
			t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(s.URL, "http://"))
			if tc.file {
				t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", write(t, "key.json", serviceAccount(t, s.URL+"/token")))
			}
			if diff := cmp.Diff(tc.want, credentials(t, newGoogle(), hostOfGAR)); diff != "" {
				t.Errorf("\n%s\nCredentials(...): -want, +got:\n%s", tc.reason, diff)
			}
			// The library requests the project only once per process.
			asked := slices.DeleteFunc(s.asked, func(r string) bool { return strings.HasSuffix(r, "/project-id") })
			if diff := cmp.Diff(tc.asked, asked); diff != "" {
				t.Errorf("\n%s\nrequests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// serviceAccount returns a key of a Google service account.
func serviceAccount(t *testing.T, tokenURL string) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	data, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "x@example.org", "private_key": string(private), "token_uri": tokenURL,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
