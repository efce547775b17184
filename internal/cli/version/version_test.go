// SPDX-License-Identifier: Apache-2.0

package version_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	build "github.com/crossplane-contrib/provider-kyma/internal/version"
)

// answers returns the responses of a control plane with Crossplane.
func answers(provider string) map[string]string {
	return map[string]string{
		"/version": `{"major":"1","minor":"36","gitVersion":"v1.36.3"}`,
		"/api":     `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"pkg.crossplane.io",` +
			`"versions":[{"groupVersion":"pkg.crossplane.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"pkg.crossplane.io/v1","version":"v1"}},` +
			`{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`,
		"/apis/pkg.crossplane.io/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"pkg.crossplane.io/v1","resources":[` +
			`{"name":"providers","singularName":"provider","namespaced":false,"kind":"Provider","verbs":["get"]}]}`,
		"/apis/apps/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[` +
			`{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["list"]}]}`,
		"/apis/apps/v1/deployments":                          `{"kind":"DeploymentList","apiVersion":"apps/v1","items":[]}`,
		"/apis/pkg.crossplane.io/v1/providers/provider-kyma": provider,
	}
}

// withChart returns the responses of a control plane in which the Helm chart runs the provider.
func withChart() map[string]string {
	all := answers(missing)
	all["/apis/apps/v1/deployments"] = `{"kind":"DeploymentList","apiVersion":"apps/v1","items":[{"kind":"Deployment","apiVersion":"apps/v1",` +
		`"metadata":{"name":"provider-kyma","namespace":"kyma"},"spec":{"template":{"spec":{"containers":[{"name":"provider","image":"example.org/a/b:v1.2.3@sha256:0123"}]}}}}]}`
	return all
}

const (
	tagged   = `{"kind":"Provider","apiVersion":"pkg.crossplane.io/v1","metadata":{"name":"provider-kyma"},"spec":{"package":"example.org:5000/a/b:v2"},"status":{"currentIdentifier":"example.org:5000/a/b:v1.2.3"}}`
	digested = `{"kind":"Provider","apiVersion":"pkg.crossplane.io/v1","metadata":{"name":"provider-kyma"},"spec":{"package":"example.org:5000/a/b@sha256:0123"}}`
	missing  = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":"provider-kyma","group":"pkg.crossplane.io","kind":"providers"}}`
)

func TestVersion(t *testing.T) {
	client := "Client Version: " + build.Installed() + "\n"
	type want struct {
		Code command.ExitCode
		Out  string
		Err  string // Part of stderr.
	}
	cases := map[string]struct {
		reason  string
		answers map[string]string
		args    []string
		want    want
	}{
		"Client":   {reason: "Without --provider, no request is sent.", want: want{Out: client}},
		"Provider": {reason: "With --provider, the versions of the provider and the API server are printed.", answers: answers(tagged), args: []string{"--provider"}, want: want{Out: client + "Provider Version: v1.2.3\nServer Version: v1.36.3\n"}},
		"Digest":   {reason: "The version of a package without a tag is its digest, even before it is installed.", answers: answers(digested), args: []string{"--provider"}, want: want{Out: client + "Provider Version: sha256:0123\nServer Version: v1.36.3\n"}},
		"Chart": {
			reason: "The version of a provider that the chart installed is that of its image.", answers: withChart(), args: []string{"--provider", "-o", "jsonpath={.providerVersion}"},
			want: want{Out: `{"gitVersion":"v1.2.3","image":"example.org/a/b:v1.2.3@sha256:0123"}` + "\n"},
		},
		"None":     {reason: "If there is no Provider, a warning is printed.", answers: answers(missing), args: []string{"--provider"}, want: want{Out: client + "Server Version: v1.36.3\n", Err: "the control plane has neither a Provider provider-kyma nor a Deployment of the chart provider-kyma"}},
		"Away":     {reason: "If the control plane does not answer, the version of kymactl is printed.", answers: map[string]string{}, args: []string{"--provider"}, want: want{Code: command.ExitFailure, Out: client, Err: "Error: cannot get the version of the API server"}},
		"Path":     {reason: "Fields have the names of kubectl.", answers: answers(tagged), args: []string{"--provider", "-o", "jsonpath={.providerVersion.package} {.serverVersion.gitVersion}"}, want: want{Out: "example.org:5000/a/b:v1.2.3 v1.36.3\n"}},
		"Argument": {reason: "The command has no arguments.", args: []string{"x"}, want: want{Code: command.ExitUsage, Err: "expected no arguments, got 1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer, ok := tc.answers[r.URL.Path]
				w.Header().Set("Content-Type", "application/json")
				switch {
				case !ok:
					w.WriteHeader(http.StatusInternalServerError)
				case answer == missing:
					w.WriteHeader(http.StatusNotFound)
				}
				_, _ = w.Write([]byte(answer))
			}))
			defer s.Close()
			var out, said bytes.Buffer
			args := append([]string{"version", "--kubeconfig", kubeconfig(t, s.URL)}, tc.args...)
			code := cli.Run(t.Context(), &command.Environment{In: strings.NewReader(""), Out: &out, Err: &said}, args)
			if !strings.Contains(said.String(), tc.want.Err) || tc.want.Err == "" && said.Len() > 0 {
				t.Errorf("\n%s\nstderr: want %q, got %q", tc.reason, tc.want.Err, said.String())
			}
			if diff := cmp.Diff(tc.want, want{Code: code, Out: out.String(), Err: tc.want.Err}); diff != "" {
				t.Errorf("\n%s\nRun(%v): -want, +got:\n%s", tc.reason, args, diff)
			}
		})
	}
}

func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],`+
		`"clusters":[{"name":"c","cluster":{"server":%q}}]}`, url)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
