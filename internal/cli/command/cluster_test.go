// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestWarnings has an API server warn with each answer.
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
		"Once":      {reason: "What is said with each answer is shown once.", warnings: []string{`299 - "is deprecated"`}, want: "Warning: is deprecated\n"},
		"Quiet":     {reason: "A warning is shown to the quiet, too.", warnings: []string{`299 - "a"`}, quiet: true, want: "Warning: a\n"},
		"Several":   {reason: "Each is shown.", warnings: []string{`299 - "a"`, `299 - "b"`}, want: "Warning: a\nWarning: b\n"},
		"OtherCode": {reason: "Those of proxies are not for people.", warnings: []string{`110 - "stale"`}},
		"Terminal":  {reason: "A server has no say over a terminal.", warnings: []string{"299 - \"a \u202e b\""}, want: "Warning: a b\n"},
		"None":      {reason: "There need be none."},
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
