// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAWS(t *testing.T) {
	cases := map[string]struct {
		reason string
		sts    int
		ecr    int
		want   got
		asked  []string
	}{
		"Pod": {
			reason: "The role of the pod gets a token, which is cached.", sts: 200, ecr: 200,
			want: got{User: "AWS", Password: "ecr-token"}, asked: []string{"POST sts", "POST ecr"},
		},
		"NoTrust": {
			reason: "If the role does not trust the ServiceAccount, the error does not contain the ID of the request.", sts: 403, ecr: 200,
			want:  got{Err: `aws did not return credentials for host "` + hostOfECR + `": AccessDenied: no trust`},
			asked: []string{"POST sts"},
		},
		"NoPolicy": {
			reason: "The role has no permission to pull.", sts: 200, ecr: 400,
			want:  got{Err: `aws did not return credentials for host "` + hostOfECR + `": AccessDeniedException: no policy`},
			asked: []string{"POST sts", "POST ecr"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			isolate(t)
			var asked []string
			s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Form.Get("Action") == "AssumeRoleWithWebIdentity" {
					asked = append(asked, r.Method+" sts")
					answerSTS(t, w, r, tc.sts)
					return
				}
				asked = append(asked, r.Method+" ecr")
				answerECR(t, w, r, tc.ecr)
			})
			t.Setenv("AWS_ENDPOINT_URL_STS", s.URL)
			t.Setenv("AWS_ENDPOINT_URL_ECR", s.URL)
			t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/provider")
			t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", write(t, "token", "web-identity"))
			if diff := cmp.Diff(tc.want, credentials(t, newAWS(), hostOfECR)); diff != "" {
				t.Errorf("\n%s\nCredentials(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.asked, asked); diff != "" {
				t.Errorf("\n%s\nrequests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func answerSTS(t *testing.T, w http.ResponseWriter, r *http.Request, code int) {
	t.Helper()
	if r.Form.Get("WebIdentityToken") != "web-identity" {
		t.Errorf("STS got the token %q", r.Form.Get("WebIdentityToken"))
	}
	w.WriteHeader(code)
	if code != http.StatusOK {
		_, _ = io.WriteString(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>no trust</Message></Error><RequestId>1</RequestId></ErrorResponse>`)
		return
	}
	_, _ = fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
		<AccessKeyId>key</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken>
		<Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
		time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
}

func answerECR(t *testing.T, w http.ResponseWriter, r *http.Request, code int) {
	t.Helper()
	if got := r.Header.Get("X-Amz-Target"); got != "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken" {
		t.Errorf("ECR was asked for %q", got)
	}
	if got := r.Header.Get("Authorization"); !strings.Contains(got, "Credential=key/") || !strings.Contains(got, "/eu-central-1/ecr/") {
		t.Errorf("the request is signed as %q", got)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(code)
	if code != http.StatusOK {
		_, _ = io.WriteString(w, `{"__type":"AccessDeniedException","message":"no policy"}`)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"authorizationData": []any{map[string]any{ //nolint:errchkjson // The client notices.
		"authorizationToken": base64.StdEncoding.EncodeToString([]byte("AWS:ecr-token")), "expiresAt": time.Now().Add(12 * time.Hour).Unix(),
	}}})
}
