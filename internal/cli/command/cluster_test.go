// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestWarnings uses an API server that sends warnings with each response.
func TestWarnings(t *testing.T) {
	answers := map[string]string{
		"/api":  `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[` +
			`{"name":"namespaces","singularName":"namespace","namespaced":false,"kind":"Namespace","verbs":["get"]}]}`,
		"/api/v1/namespaces/x": `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"x"}}`,
	}
	cases := map[string]struct {
		reason   string
		warnings []string
		quiet    bool
		want     string
	}{
		"Once":      {reason: "A repeated warning is shown once.", warnings: []string{`299 - "is deprecated"`}, want: "Warning: is deprecated\n"},
		"Quiet":     {reason: "A warning is also shown with --quiet.", warnings: []string{`299 - "a"`}, quiet: true, want: "Warning: a\n"},
		"Several":   {reason: "Different warnings are all shown.", warnings: []string{`299 - "a"`, `299 - "b"`}, want: "Warning: a\nWarning: b\n"},
		"OtherCode": {reason: "Warnings of proxies are not for users.", warnings: []string{`110 - "stale"`}},
		"Terminal":  {reason: "Control characters of a server are removed.", warnings: []string{"299 - \"a \u202e b\""}, want: "Warning: a b\n"},
		"None":      {reason: "Without warnings, nothing is shown."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Warning"] = tc.warnings
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(answers[r.URL.Path]))
			}))
			defer s.Close()
			var flags ClusterFlags
			f := pflag.NewFlagSet("test", pflag.ContinueOnError)
			flags.AddFlags(f)
			if err := f.Parse([]string{"--kubeconfig", kubeconfig(t, s.URL)}); err != nil {
				t.Fatal(err)
			}
			var out, said bytes.Buffer
			e := &Environment{Out: &out, Err: &said, Quiet: tc.quiet}
			c, err := flags.Connect(e)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := c.Get(t.Context(), client.ObjectKey{Name: "x"}, &corev1.Namespace{}); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, said.String()); diff != "" {
				t.Errorf("\n%s\nstderr: -want, +got:\n%s", tc.reason, diff)
			}
			if out.Len() > 0 {
				t.Errorf("\n%s\nstdout: want nothing, got %q", tc.reason, out.String())
			}
		})
	}
}

// TestClusterFlagNames checks which flags of kubectl a command has. There are none for credentials, which other users could read.
func TestClusterFlagNames(t *testing.T) {
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	(&ClusterFlags{}).AddFlags(f)
	var got []string
	f.VisitAll(func(flag *pflag.Flag) { got = append(got, flag.Name) })
	want := []string{
		"as", "as-group", "as-uid", "cluster", "context", "kubeconfig", "namespace", "proxy-url", "request-timeout", "server",
		"tls-server-name", "user",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flags of a command: -want, +got:\n%s", diff)
	}
}

func TestClusterFlags(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	// Tests must not connect to the cluster that they run in.
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	const url, other = "https://a.example.org", "https://b.example.org"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"one","contexts":[`+
		`{"name":"one","context":{"cluster":"a","user":"u","namespace":"team-a"}},{"name":"two","context":{"cluster":"b","user":"v"}}],`+
		`"clusters":[{"name":"a","cluster":{"server":%q}},{"name":"b","cluster":{"server":%q}}],`+
		`"users":[{"name":"u","user":{"token":"tu"}},{"name":"v","user":{"token":"tv"}}]}`, url, other)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	type want struct {
		Host, Namespace, Token, As string
		Groups                     []string
		Timeout                    time.Duration
		Code                       ExitCode
		Part                       string // Of the error.
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   want
	}{
		"Current":     {reason: "The kubeconfig has a current context.", args: []string{"--kubeconfig", path}, want: want{Host: url, Namespace: "team-a", Token: "tu"}},
		"Context":     {reason: "--context selects another one.", args: []string{"--kubeconfig", path, "--context", "two"}, want: want{Host: other, Namespace: "default", Token: "tv"}},
		"Parts":       {reason: "--cluster, --user and --namespace override the context.", args: []string{"--kubeconfig", path, "--cluster", "b", "--user", "v", "-n", "x"}, want: want{Host: other, Namespace: "x", Token: "tv"}},
		"Server":      {reason: "--server overrides the URL.", args: []string{"--kubeconfig", path, "-s", "https://c.example.org"}, want: want{Host: "https://c.example.org", Namespace: "team-a", Token: "tu"}},
		"Impersonate": {reason: "--as and --as-group impersonate.", args: []string{"--kubeconfig", path, "--as", "jane", "--as-group", "g", "--as-group", "h"}, want: want{Host: url, Namespace: "team-a", Token: "tu", As: "jane", Groups: []string{"g", "h"}}},
		"Timeout":     {reason: "--request-timeout limits requests.", args: []string{"--kubeconfig", path, "--request-timeout", "3s"}, want: want{Host: url, Namespace: "team-a", Token: "tu", Timeout: 3 * time.Second}},
		"BadTimeout":  {reason: "An invalid duration is wrong usage.", args: []string{"--kubeconfig", path, "--request-timeout", "soon"}, want: want{Code: ExitUsage, Part: "Invalid timeout value"}},
		"None":        {reason: "Without a kubeconfig, kymactl connects to no server.", want: want{Code: ExitUsage, Part: "no kubeconfig found in " + os.Getenv("KUBECONFIG")}},
		"Missing":     {reason: "A missing file is named in the error.", args: []string{"--kubeconfig", path + "x"}, want: want{Code: ExitUsage, Part: path + "x"}},
		"NoContext":   {reason: "A missing context is named in the error.", args: []string{"--kubeconfig", path, "--context", "three"}, want: want{Code: ExitUsage, Part: "three"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var c ClusterFlags
			f := pflag.NewFlagSet("test", pflag.ContinueOnError)
			c.AddFlags(f)
			if err := f.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			config, namespace, err := c.load()
			got := want{Code: CodeOf(err), Part: tc.want.Part}
			if err == nil {
				got.Host, got.Namespace, got.Token, got.Timeout = config.Host, namespace, config.BearerToken, config.Timeout
				got.As, got.Groups = config.Impersonate.UserName, config.Impersonate.Groups
			} else if !strings.Contains(err.Error(), tc.want.Part) {
				got.Part = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nload(): -want, +got:\n%s", tc.reason, diff)
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
