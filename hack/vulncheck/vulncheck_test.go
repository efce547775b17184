// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// newModule returns a module that calls url.Parse, and nothing else that an advisory in this test names.
func newModule(t *testing.T) string {
	t.Helper()
	return write(t, map[string]string{
		"go.mod":  "module example.org/caller\n\ngo " + strings.TrimPrefix(strings.Fields(runtime.Version())[0], "go") + "\n",
		"main.go": "package main\n\nimport \"net/url\"\n\nfunc main() { _, _ = url.Parse(\"\") }\n",
	})
}

// newDatabase returns a database with one advisory, about a function of net/url in all versions of Go.
func newDatabase(t *testing.T, symbol string) string {
	t.Helper()
	return write(t, map[string]string{
		"index/db.json":      `{"modified":"2020-01-01T00:00:00Z"}`,
		"index/modules.json": `[{"path":"stdlib","vulns":[{"id":"GO-0000-0001","modified":"2020-01-01T00:00:00Z"}]}]`,
		"ID/GO-0000-0001.json": `{"schema_version":"1.3.1","id":"GO-0000-0001","modified":"2020-01-01T00:00:00Z","published":"2020-01-01T00:00:00Z",
			"summary":"Made up for a test","details":"Made up for a test.",
			"affected":[{"package":{"name":"stdlib","ecosystem":"Go"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
			"ecosystem_specific":{"imports":[{"path":"net/url","symbols":["` + symbol + `"]}]}}],
			"references":[],"database_specific":{"url":"https://example.org/GO-0000-0001","review_status":"REVIEWED"}}`,
	})
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, data := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// refusing returns the URL of a port of a loopback address that refuses connections.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// forbidding returns the URL of a server that refuses all requests, as a proxy does.
func forbidding(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(s.Close)
	return s.URL
}

func TestRun(t *testing.T) {
	const notChecked = "vulncheck: NOT CHECKED: the database of vulnerabilities cannot be reached: "
	dir := newModule(t)
	cases := map[string]struct {
		reason string
		args   []string
		want   int
		stdout string
		stderr string
	}{
		"None":       {reason: "A vulnerable function that is not called is not a failure.", args: []string{"-C", dir, "-db", "file://" + newDatabase(t, "URL.JoinPath"), "./..."}, want: 0, stdout: "No vulnerabilities found."},
		"Found":      {reason: "A vulnerable function that is called is reported, with the call.", args: []string{"-C", dir, "-db", "file://" + newDatabase(t, "Parse"), "./..."}, want: 3, stdout: "caller.main calls url.Parse"},
		"Refused":    {reason: "If the database does not answer, this is reported as the only problem.", args: []string{"-C", dir, "-db", refusing(t), "./..."}, want: 75, stderr: notChecked},
		"Forbidden":  {reason: "A proxy that refuses is reported with its status.", args: []string{"-C", dir, "-db", forbidding(t), "./..."}, want: 75, stderr: "403 Forbidden"},
		"NoSuchFile": {reason: "A local database that does not exist is reported in the same way.", args: []string{"-C", dir, "-db", "file://" + filepath.Join(dir, "none"), "./..."}, want: 75, stderr: notChecked},
		"NoModule":   {reason: "If the packages cannot be analyzed, this differs from a vulnerability.", args: []string{"-C", t.TempDir(), "-db", "file://" + newDatabase(t, "Parse"), "./..."}, want: 1, stderr: "vulncheck: error: "},
		"NoPackages": {reason: "The packages must be named.", args: []string{"-C", dir}, want: 2, stderr: "name the packages to check"},
		"NoFlag":     {reason: "Unknown flags are refused.", args: []string{"-x"}, want: 2, stderr: "flag provided but not defined"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			got := run(t.Context(), tc.args, &stdout, &stderr)
			if got != tc.want || !strings.Contains(stdout.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
				t.Errorf("%s\nrun(...): want %d with %q and %q, got %d\nstdout: %s\nstderr: %s", tc.reason, tc.want, tc.stdout, tc.stderr, got, &stdout, &stderr)
			}
			if tc.want == exitUnreachable && (strings.Count(stderr.String(), "\n") != 1 || stdout.Len() > 0) {
				t.Errorf("%s\nrun(...): want one line, got\nstdout: %s\nstderr: %s", tc.reason, &stdout, &stderr)
			}
		})
	}
}
