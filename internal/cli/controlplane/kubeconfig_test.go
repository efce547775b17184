// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/crossplane-contrib/provider-kyma/internal/target/kubeconfig"
)

const canary = "s3cr3t-canary"

// twoContexts returns a kubeconfig with a second context, which must not be copied.
func twoContexts(cluster, user string) string {
	return `apiVersion: v1
kind: Config
current-context: main
preferences: {colors: true}
contexts:
- name: main
  context: {cluster: c1, user: u1, namespace: x, extensions: [{name: e, extension: {a: b}}]}
- name: other
  context: {cluster: c2, user: u2}
clusters:
- name: c1
  cluster: {` + cluster + `}
- name: c2
  cluster: {server: 'https://other.example.org'}
users:
- name: u1
  user: {` + user + `}
- name: u2
  user: {token: token-of-another}
`
}

func TestTargetKubeconfig(t *testing.T) {
	const server = "server: 'https://api.example.org'"
	authority := string(certificate(t))
	cases := map[string]struct {
		reason  string
		data    string
		context string
		files   map[string]string
		// want is the result if err is empty, with a single space instead of line breaks and indentation.
		want   string
		copied bool
		err    string
	}{
		"Minified": {
			reason: "Only what the context needs is copied.",
			data:   twoContexts(server, "token: "+canary),
			want: "apiVersion: v1 clusters: - cluster: server: https://api.example.org name: c1 contexts: - context: cluster: c1 user: u1 name: main " +
				"current-context: main kind: Config users: - name: u1 user: token: " + canary,
		},
		"OtherContext": {
			reason: "The context can be selected.", context: "other",
			data: twoContexts(server, "token: "+canary),
			want: "apiVersion: v1 clusters: - cluster: server: https://other.example.org name: c2 contexts: - context: cluster: c2 user: u2 name: other " +
				"current-context: other kind: Config users: - name: u2 user: token: token-of-another",
		},
		"TokenFile": {
			reason: "Files are relative to the kubeconfig, and a copied token is reported.",
			data:   twoContexts(server, "tokenFile: sub/token"), files: map[string]string{"sub/token": canary + "\n"}, copied: true,
			want: "apiVersion: v1 clusters: - cluster: server: https://api.example.org name: c1 contexts: - context: cluster: c1 user: u1 name: main " +
				"current-context: main kind: Config users: - name: u1 user: token: " + canary,
		},
		"AuthorityFile": {
			reason: "The content of files is embedded.",
			data:   twoContexts(server+", certificate-authority: ca.pem", "token: "+canary), files: map[string]string{"ca.pem": authority},
			want: "apiVersion: v1 clusters: - cluster: certificate-authority-data: " + encode([]byte(authority)) +
				" server: https://api.example.org name: c1 contexts: - context: cluster: c1 user: u1 name: main " +
				"current-context: main kind: Config users: - name: u1 user: token: " + canary,
		},
		"Exec": {
			reason: "exec is rejected, as by the provider.",
			data:   twoContexts(server, "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, args: ["+canary+"], interactiveMode: Never}"),
			err:    "exec is not allowed",
		},
		"AuthProvider":   {reason: "auth-provider is rejected, as by the provider.", data: twoContexts(server, "auth-provider: {name: "+canary+"}"), err: "auth-provider is not allowed"},
		"UnknownContext": {reason: "An unknown context is named in the error.", context: "none", data: twoContexts(server, "token: "+canary), err: `no context "none"`},
		"Unreadable":     {reason: "Content that cannot be parsed is not in the error.", data: "token " + canary, err: "cannot read kubeconfig"},
		"Empty":          {reason: "An empty file is a mistake.", data: "", err: "kubeconfig is empty"},
		"MissingFile":    {reason: "A missing file is named with its field.", data: twoContexts(server, "client-certificate: none.pem, client-key: none.key"), err: "client-certificate: open"},
		"EmptyFile":      {reason: "An empty token file is an error.", data: twoContexts(server, "tokenFile: token"), files: map[string]string{"token": ""}, err: "tokenFile: "},
		"BadAuthority": {
			reason: "A file that is not a certificate is rejected.",
			data:   twoContexts(server+", certificate-authority: ca.pem", "token: "+canary), files: map[string]string{"ca.pem": canary},
			err: "certificate-authority-data contains no PEM certificate",
		},
		"TooLarge": {reason: "The size is limited to what fits in a Secret.", data: strings.Repeat("#", kubeconfig.MaxBytes+1), err: "too large"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "kubeconfig")
			write(t, path, tc.data)
			for file, content := range tc.files {
				write(t, filepath.Join(dir, file), content)
			}
			data, copied, err := targetKubeconfig(path, tc.context)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), canary) {
					t.Fatalf("%s\ntargetKubeconfig(...): want error with %q and without a value, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\ntargetKubeconfig(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, strings.Join(strings.Fields(string(data)), " ")); diff != "" {
				t.Errorf("%s\ntargetKubeconfig(...): -want, +got:\n%s", tc.reason, diff)
			}
			if copied != tc.copied {
				t.Errorf("%s\ntargetKubeconfig(...): want copied %t, got %t", tc.reason, tc.copied, copied)
			}
			if _, err := clientcmd.RESTConfigFromKubeConfig(data); err != nil {
				t.Errorf("%s\ntargetKubeconfig(...): clients cannot read it: %v", tc.reason, err)
			}
			again, _, err := targetKubeconfig(path, tc.context)
			if err != nil || string(again) != string(data) {
				t.Errorf("%s\ntargetKubeconfig(...): the second result differs: %v", tc.reason, err)
			}
		})
	}
}

func write(t testing.TB, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}
