// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

const canary = "s3cr3t-canary"

// config returns a kubeconfig from the lines of its cluster and its user.
func config(cluster, user string) string {
	return `apiVersion: v1
kind: Config
current-context: main
contexts:
- name: main
  context: {cluster: c1, user: u1}
- name: other
  context: {cluster: missing, user: u1}
clusters:
- name: c1
  cluster: {` + cluster + `}
users:
- name: u1
  user: {` + user + `}
`
}

const (
	server = "server: 'https://api.example.org:6443'"
	token  = "token: " + canary
)

// pair returns a certificate and its key in PEM, base64-encoded.
func pair(t testing.TB) (string, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "u"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, b []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}))
	}
	return encode("CERTIFICATE", der), encode("EC PRIVATE KEY", keyDER)
}

func TestParseRefuses(t *testing.T) {
	cert, key := pair(t)
	const noPEM = "bm90IGEgUEVN"
	base := config(server, token)
	cases := map[string]struct {
		reason string
		data   string
		o      Options
		want   string
	}{
		"Empty":      {reason: "An empty value is most likely a mistake in the secret.", data: "", want: "kubeconfig is empty"},
		"TooLarge":   {reason: "Parsing is bounded.", data: strings.Repeat("#", MaxBytes+1), want: "the maximum is 1048576"},
		"NotYAML":    {reason: "A token where a kubeconfig is expected must not be shown.", data: canary, want: "must be a v1 Config"},
		"BrokenYAML": {reason: "The line helps to find it.", data: "apiVersion: v1\nkind: Config\nusers: *" + canary + "\n", want: "cannot read kubeconfig"},
		"OtherKind":  {reason: "Any object may be in a secret.", data: "apiVersion: v1\nkind: Secret\n", want: "must be a v1 Config"},
		"NoCurrentContext": {
			reason: "None of several contexts is a guess.",
			data:   strings.Replace(base, "current-context: main", "", 1), want: "kubeconfig has no current-context",
		},
		"MissingContext": {
			reason: "The context is named, where others dereference nil.",
			data:   strings.Replace(base, "current-context: main", "current-context: prod", 1), want: `no context "prod"`,
		},
		"MissingCluster": {
			reason: "The cluster and the context are named.",
			data:   strings.Replace(base, "current-context: main", "current-context: other", 1), want: `kubeconfig has no cluster "missing", which context "other" refers to`,
		},
		"MissingUser": {
			reason: "Without an identity, someone has to authenticate.",
			data:   strings.Replace(base, "name: u1", "name: u2", 1), want: `kubeconfig has no user "u1", which context "main" refers to`,
		},
		"ContextWithoutUser": {
			reason: "For a context without a user, the error says what to do.",
			data:   strings.Replace(base, "user: u1}\n- name: other", "user: ''}\n- name: other", 1), want: `context "main" of the kubeconfig has no user; add a user, or set spec.identity`,
		},
		"NoServer":     {reason: "An empty server would mean localhost.", data: config("", token), want: `cluster "c1" of the kubeconfig: server is not set`},
		"UnixServer":   {reason: "Only HTTP and HTTPS are supported.", data: config("server: 'unix:///run/docker.sock'", token), want: "server must be an http or https URL with a host"},
		"NoScheme":     {reason: "A scheme is not guessed.", data: config("server: 'api.example.org:6443'", token), want: "server must be an http or https URL with a host"},
		"LongServer":   {reason: "Addresses are in the keys of caches.", data: config("server: 'https://"+strings.Repeat("x", 2048)+"'", token), want: "server is longer than 2048 bytes"},
		"NoHost":       {reason: "A path is not an address.", data: config("server: 'https:///x'", token), want: "server must be an http or https URL with a host"},
		"UserInServer": {reason: "A user in the URL of the server would be shown in errors.", data: config("server: 'https://u:"+canary+"@h'", token), want: "server must not contain a user"},
		"QueryInServer": {
			reason: "A query would be added to no request.",
			data:   config("server: 'https://h?x=y'", token), want: "server must not contain a query",
		},
		"BadProxy":       {reason: "The proxy may hold a password.", data: config(server+", proxy-url: 'http://u:"+canary+"@[::1'", token), want: "proxy-url must be a URL"},
		"LongProxy":      {reason: "Addresses are in the keys of caches.", data: config(server+", proxy-url: 'http://"+strings.Repeat("x", 2048)+"'", token), want: "proxy-url is longer than 2048 bytes"},
		"ProxyScheme":    {reason: "The scheme is checked early.", data: config(server+", proxy-url: 'ftp://p'", token), want: "proxy-url must be an http, https or socks5 URL"},
		"BadCA":          {reason: "The field is named.", data: config(server+", certificate-authority-data: "+noPEM, token), want: "certificate-authority-data contains no PEM certificate"},
		"InsecureWithCA": {reason: "A certificate authority without verification is a mistake.", data: config(server+", insecure-skip-tls-verify: true, certificate-authority-data: "+cert, token), want: "are mutually exclusive"},
		"CAFile":         {reason: "A path in certificate-authority would refer to a file of the provider.", data: config(server+", certificate-authority: /ca", token), want: "certificate-authority is not allowed, because it refers to a file of the provider"},
		"Exec": {
			reason: "An exec plugin would run a program in the provider.",
			data:   config(server, "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}"), want: `user "u1" of the kubeconfig: exec is not allowed, because it would run a command in the provider`,
		},
		"AuthProvider": {
			reason: "An auth provider is not allowed, even if an identity authenticates.",
			data:   config(server, "auth-provider: {name: gcp}"), o: Options{Identity: true}, want: "auth-provider is not allowed",
		},
		"Aliases": {
			reason: "A few kilobytes must not become gigabytes: the process would end, for all tenants.",
			data:   bomb(base, 20<<10, 2000), want: "YAML is larger than 1048576 bytes when its aliases are expanded",
		},
		"Values": {
			reason: "A long list of small values must not be decoded, because it takes a hundred times its length.",
			data:   base + "x-list: [" + strings.Repeat("0,", maxValues) + "0]\n", want: "cannot read kubeconfig: YAML contains too many values",
		},
		"TokenFile":     {reason: "A token file would send the provider's own token.", data: config(server, "tokenFile: /var/run/token"), want: "tokenFile is not allowed, because it refers to a file of the provider"},
		"CertFile":      {reason: "A path in client-certificate would refer to a file of the provider.", data: config(server, "client-certificate: /c"), want: "client-certificate is not allowed, because it refers to a file of the provider"},
		"KeyFile":       {reason: "A path in client-key is not allowed, even if an identity authenticates.", data: config(server, "client-key: /k"), o: Options{Identity: true}, want: "client-key is not allowed, because it refers to a file of the provider"},
		"KeyMissing":    {reason: "A client certificate requires its key.", data: config(server, "client-certificate-data: "+cert), want: "must be set together"},
		"CertMissing":   {reason: "A client key requires its certificate.", data: config(server, "client-key-data: "+key), want: "must be set together"},
		"BadPair":       {reason: "If a certificate and its key do not match, the error names both fields.", data: config(server, "client-certificate-data: "+cert+", client-key-data: "+noPEM), want: "must be a PEM certificate and the matching key"},
		"FieldType":     {reason: "The error does not show the value of a field with a wrong type.", data: config(server, "token: ["+canary+"]"), want: "with valid field types"},
		"LongNameShort": {reason: "A name may be as long as the secret.", data: strings.Replace(base, "current-context: main", "current-context: "+strings.Repeat("x", 1000), 1), want: strings.Repeat("x", 64) + "…"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.data), tc.o)
			if err == nil {
				t.Fatalf("%s\nParse(...): want error with %q, got none", tc.reason, tc.want)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nParse(...): want error with %q, got %q", tc.reason, tc.want, err)
			}
			if strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
				t.Errorf("%s\nParse(...): error shows a credential or is not a short line: %q", tc.reason, err)
			}
		})
	}
}

func TestParse(t *testing.T) {
	cert, key := pair(t)
	type want struct {
		Host, Cluster, Token, TokenFile, Username, ServerName, Proxy, Exec, UID string
		Insecure, HasCert, HasCA                                                bool
		QPS                                                                     float32
	}
	cases := map[string]struct {
		reason string
		data   string
		o      Options
		want   want
	}{
		"Token": {
			reason: "The usual kubeconfig of a service account is accepted. The client never limits the rate.",
			data:   config(server+", tls-server-name: kube, certificate-authority-data: "+cert, token),
			want:   want{Host: "https://api.example.org:6443", Cluster: "c1", Token: canary, ServerName: "kube", HasCA: true, QPS: -1},
		},
		"ClientCertificate": {
			reason: "The usual kubeconfig of an administrator is accepted.",
			data:   config(server+", insecure-skip-tls-verify: true", "client-certificate-data: "+cert+", client-key-data: "+key),
			want:   want{Host: "https://api.example.org:6443", Cluster: "c1", Insecure: true, HasCert: true, QPS: -1},
		},
		"Proxy": {
			reason: "proxy-url is honoured, with its password.",
			data:   config(server+", proxy-url: 'http://u:p@proxy:3128'", "username: u, password: p, as-uid: x, act-as-uid: y"),
			want:   want{Host: "https://api.example.org:6443", Cluster: "c1", Username: "u", Proxy: "http://u:p@proxy:3128", QPS: -1},
		},
		"IdentityWithoutUser": {
			reason: "An identity authenticates, so the user may be missing.",
			data:   strings.Replace(config(server, token), "name: u1", "name: u2", 1),
			o:      Options{Identity: true},
			want:   want{Host: "https://api.example.org:6443", Cluster: "c1", QPS: -1},
		},
		"IdentityWithExec": {
			reason: "Identities read their parameters from exec; the caller removes it.",
			data:   config(server, "exec: {apiVersion: client.authentication.k8s.io/v1, command: kubelogin, interactiveMode: Never}"),
			o:      Options{Identity: true},
			want:   want{Host: "https://api.example.org:6443", Cluster: "c1", Exec: "kubelogin", QPS: -1},
		},
		"AllowedExec": {
			reason: "The administrator allows it.",
			data:   config(server, "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Never}"),
			o:      Options{AllowExec: true},
			want:   want{Host: "https://api.example.org:6443", Cluster: "c1", Exec: "aws", QPS: -1},
		},
		"Anchors": {
			reason: "An alias that stays small is YAML like any other.",
			data:   strings.ReplaceAll(config("server: &s 'https://api.example.org:6443'", token), "current-context: main", "x-server: {a: &a b, c: *a}\ncurrent-context: main"),
			want:   want{Host: "https://api.example.org:6443", Cluster: "c1", Token: canary, QPS: -1},
		},
		"AllowedFiles": {
			reason: "The administrator allows it.",
			data:   config(server+", certificate-authority: /ca", "tokenFile: /token"),
			o:      Options{AllowFiles: true},
			want:   want{Host: "https://api.example.org:6443", Cluster: "c1", TokenFile: "/token", HasCA: true, QPS: -1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := Parse([]byte(tc.data), tc.o)
			if err != nil {
				t.Fatalf("%s\nParse(...): %v", tc.reason, err)
			}
			c := r.Config
			got := want{
				Host: c.Host, Cluster: r.Cluster, Token: c.BearerToken, TokenFile: c.BearerTokenFile, Username: c.Username,
				ServerName: c.ServerName, Insecure: c.Insecure, HasCert: len(c.CertData) > 0 && len(c.KeyData) > 0,
				HasCA: len(c.CAData) > 0 || c.CAFile != "", QPS: c.QPS,
			}
			if c.Proxy != nil {
				u, err := c.Proxy(nil)
				if err != nil {
					t.Fatal(err)
				}
				got.Proxy = u.String()
			}
			if c.ExecProvider != nil {
				got.Exec = c.ExecProvider.Command
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nParse(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// bomb returns a kubeconfig that contains a text of size bytes count times.
func bomb(kubeconfig string, size, count int) string {
	return kubeconfig + "x-a: &a " + strings.Repeat("x", size) + "\nx-b: [" + strings.Repeat("*a,", count) + "]\n"
}

// allocation bounds what a kubeconfig may take.
func allocation() fuzztest.Limits { return fuzztest.Limits{Base: 64 << 20, PerByte: 128} }

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		config(server, token), config(server+", proxy-url: 'socks5://p:1'", "username: u, password: p"),
		config(server, "tokenFile: /t"), config(server, "exec: {command: sh}"), "users: *x", "{}", "",
		bomb(config(server, token), 20<<10, 2000), bomb("", 16, 4000),
		config(server, token) + "x-list: [" + strings.Repeat("0,", 10000) + "0]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, allocation(), len(data))()
		r, err := Parse(data, Options{})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error is not one line: %q", err)
			}
			return
		}
		c := r.Config
		if c.ExecProvider != nil || c.AuthProvider != nil || c.BearerTokenFile != "" || c.CAFile != "" || c.CertFile != "" || c.KeyFile != "" {
			t.Errorf("what is refused got through: %#v", c)
		}
		if !strings.HasPrefix(c.Host, "http") {
			t.Errorf("host %q is not a URL", c.Host)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	cert, key := pair(b)
	data := []byte(config(server, "client-certificate-data: "+cert+", client-key-data: "+key))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
