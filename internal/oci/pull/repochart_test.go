// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/chartrepo"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

// files serves files like a plain web server, with an ETag if etag is true.
func files(content map[string][]byte, etag bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := content[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if etag {
			w.Header().Set("ETag", `"`+oci.DigestOf(data)+`"`)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	})
}

const indexHead = "apiVersion: v1\nentries:\n  sample:\n"

// entry returns one entry of an index.
func entry(version, url, digest string) string {
	return fmt.Sprintf("  - {version: %q, urls: [%q], digest: %q}\n", version, url, digest)
}

func TestRepoChart(t *testing.T) {
	one, two := ocitest.Chart(t, "one"), ocitest.Chart(t, "two")
	content := map[string][]byte{"/stable/one.tgz": one, "/stable/two.tgz": two, "/elsewhere/two.tgz": two}
	s := ocitest.NewServer(t, files(content, true), false)
	reg := ocitest.NewRegistry(t)
	reg.PushManifest(t, "charts/sample", "4.0.0", layers.HelmConfig, layers.HelmContent, one)
	content["/stable/index.yaml"] = []byte(indexHead +
		entry("1.0.0", "one.tgz", oci.DigestOf(one)) +
		entry("1.1.0", s.URL+"/elsewhere/two.tgz", strings.TrimPrefix(oci.DigestOf(two), "sha256:")) +
		entry("2.0.0-rc.1", "one.tgz", "") +
		entry("3.0.0+meta", "one.tgz", oci.DigestOf(two)) +
		entry("4.0.0", "oci://"+reg.Host()+"/charts/sample:4.0.0", oci.DigestOf(one)) +
		entry("5.0.0", "file:///etc/passwd", "") +
		entry("6.0.0", "gone.tgz", "") +
		entry("7.0.0", "one.tgz", "md5:1") +
		"  - {version: 8.0.0}\n  -\n  other:\n")
	content["/broken/index.yaml"] = []byte("entries: [")
	content["/huge/index.yaml"] = bytes.Repeat([]byte(" "), chartrepo.MaxIndex+1)
	content["/dense/index.yaml"] = []byte("entries: {sample: [" + strings.Repeat("1,", 2_000_000) + "]}")
	content["/empty/index.yaml"] = []byte("apiVersion: v1\n")
	both := append(s.Plain(user, password), reg.Plain("", "")...)
	s.Demand(user, password)

	cases := map[string]struct {
		reason  string
		regs    oci.Registries
		url     string
		chart   string
		version string
		want    Artifact
		err     string
	}{
		"Exact":     {reason: "A version is found, relative to the index.", version: "1.0.0", want: Artifact{Data: one, Digest: oci.DigestOf(one), Version: "1.0.0"}},
		"Slash":     {reason: "The URL may end with a slash.", url: s.URL + "/stable/", version: "1.0.0", want: Artifact{Data: one, Digest: oci.DigestOf(one), Version: "1.0.0"}},
		"Range":     {reason: "The newest of a range; digests may lack their prefix; URLs may be absolute.", version: "^1", want: Artifact{Data: two, Digest: oci.DigestOf(two), Version: "1.1.0"}},
		"LessThan":  {reason: "Pre-releases are in no range that names none.", version: "<2", want: Artifact{Data: two, Digest: oci.DigestOf(two), Version: "1.1.0"}},
		"NoDigest":  {reason: "A digest in the index is optional.", version: "2.0.0-rc.1", want: Artifact{Data: one, Digest: oci.DigestOf(one), Version: "2.0.0-rc.1"}},
		"OCI":       {reason: "An index may refer to a registry.", regs: both, version: "4.0.0", want: Artifact{Data: one, Digest: oci.DigestOf(one), Version: "4.0.0"}},
		"OCIList":   {reason: "The registry has to be listed as well.", version: "4.0.0", err: "add it to spec.registries"},
		"Mismatch":  {reason: "The digest of the index is verified.", version: "3.0.0+meta", err: "does not match the digest in the index: digest mismatch"},
		"File":      {reason: "The URL of a chart must use HTTP or HTTPS.", version: "5.0.0", err: `unsupported scheme "file"`},
		"Gone":      {reason: "The archive of a chart must exist.", version: "6.0.0", err: "404 Not Found"},
		"BadDigest": {reason: "The digest of an entry must be well-formed.", version: "7.0.0", err: `malformed digest "md5:1"`},
		"NoURL":     {reason: "An entry must have a URL.", version: "8.0.0", err: "no URL for version"},
		"NoVersion": {reason: "The repository must have the version.", version: "9.0.0", err: `the repository has no version of chart "sample" that matches "9.0.0"`},
		"BadRange":  {reason: "The version must be a valid version or range.", version: "latest", err: "the version is not a valid range"},
		"NoChart":   {reason: "The repository must have the chart.", chart: "nope", version: "1.0.0", err: `the repository has no chart "nope"`},
		"Broken":    {reason: "The index must be YAML.", url: s.URL + "/broken", version: "1.0.0", err: "malformed index.yaml"},
		"Empty":     {reason: "The index must have entries.", url: s.URL + "/empty", version: "1.0.0", err: "entries is missing"},
		"Huge":      {reason: "An index is bounded.", url: s.URL + "/huge", version: "1.0.0", err: "index.yaml is larger than the limit"},
		"Dense":     {reason: "The cost of parsing an index is limited.", url: s.URL + "/dense", version: "1.0.0", err: "malformed index.yaml: YAML contains too many values"},
		"NoIndex":   {reason: "The URL must have an index.", url: s.URL + "/nothing", version: "1.0.0", err: "does not have the requested content"},
		"Denied":    {reason: "The repository requires credentials.", regs: s.Plain("", ""), version: "1.0.0", err: "(401 Unauthorized): check pullSecretRef"},
		"NotListed": {reason: "Lists hold for repositories too.", regs: oci.Registries{{Host: "example.org"}}, version: "1.0.0", err: "add it to spec.registries"},
		"Plain":     {reason: "Plain HTTP has to be said.", regs: oci.Registries{{Host: s.Host()}}, version: "1.0.0", err: "plain HTTP to host"},
		"PlainAny":  {reason: "Without a list, it is for loopback only.", regs: oci.Registries{}, url: "http://example.org", version: "1.0.0", err: "plain HTTP to host"},
		"Secrets":   {reason: "Credentials in the URL are refused and not shown.", url: "http://ann:secret@example.org", version: "1.0.0", err: "the URL contains credentials"},
		"Scheme":    {reason: "The URL of a repository must use HTTP or HTTPS.", url: "oci://example.org", version: "1.0.0", err: `unsupported scheme "oci"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			regs, url, chart := s.Plain(user, password), s.URL+"/stable", "sample"
			if tc.regs != nil {
				regs = tc.regs
			}
			if tc.url != "" {
				url = tc.url
			}
			if tc.chart != "" {
				chart = tc.chart
			}
			got, err := newClient(t).RepoChart(t.Context(), regs, url, chart, tc.version)
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nRepoChart(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if strings.Contains(text(err), "secret@") || strings.Contains(text(err), password) || strings.Contains(text(err), "\n") {
				t.Errorf("RepoChart(...): error tells secrets or has several lines: %q", err)
			}
			if tc.err != "" {
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRepoChart(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRepoChartRequests checks the number of requests of a second pull.
func TestRepoChartRequests(t *testing.T) {
	data := ocitest.Chart(t, "requests")
	cases := map[string]struct {
		reason string
		etag   bool
		digest string
		chart  int
		sent   bool // Whether the archive is sent again.
	}{
		"Digest":       {reason: "With a digest the archive is not asked for again.", etag: true, digest: oci.DigestOf(data)},
		"ETag":         {reason: "Without, it is not sent again.", etag: true, chart: 1},
		"Neither":      {reason: "Without either, there is no other way.", chart: 1, sent: true},
		"DigestNoETag": {reason: "The digest is enough.", digest: oci.DigestOf(data)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int64
			inner := files(map[string][]byte{"/index.yaml": []byte(indexHead + entry("1.0.0", "a.tgz", tc.digest)), "/a.tgz": data}, tc.etag)
			s := ocitest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				inner.ServeHTTP(&countingWriter{ResponseWriter: w, sent: &sent}, r)
			}), false)
			p := newClient(t)
			for i := range 3 {
				s.Forget()
				before := sent.Load()
				a, err := p.RepoChart(t.Context(), nil, s.URL, "sample", "")
				if err != nil || !cmp.Equal(data, a.Data) {
					t.Fatalf("RepoChart(...): %d bytes, error %v", len(a.Data), err)
				}
				if i == 0 {
					continue
				}
				if n := s.Count("", "/a.tgz"); n != tc.chart || s.Count("", "/index.yaml") != 1 {
					t.Errorf("\n%s\nRepoChart(...) again: want %d requests of the archive and 1 of the index, got %v", tc.reason, tc.chart, s.Requests())
				}
				if again := sent.Load()-before >= int64(len(data)); tc.etag && again || tc.sent && !again {
					t.Errorf("\n%s\nRepoChart(...) again: %d bytes were sent", tc.reason, sent.Load()-before)
				}
			}
		})
	}
}

type countingWriter struct {
	http.ResponseWriter

	sent *atomic.Int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.sent.Add(int64(len(p)))
	return w.ResponseWriter.Write(p)
}

// TestRepoChartChanged checks that a new index is detected.
func TestRepoChartChanged(t *testing.T) {
	one, two := ocitest.Chart(t, "one"), ocitest.Chart(t, "two")
	content := map[string][]byte{"/index.yaml": []byte(indexHead + entry("1.0.0", "a.tgz", "")), "/a.tgz": one}
	s := ocitest.NewServer(t, files(content, true), false)
	p := newClient(t)
	if _, err := p.RepoChart(t.Context(), nil, s.URL, "sample", ""); err != nil {
		t.Fatal(err)
	}
	content["/index.yaml"] = []byte(indexHead + entry("1.0.1", "a.tgz", ""))
	content["/a.tgz"] = two
	a, err := p.RepoChart(t.Context(), nil, s.URL, "sample", "")
	want := Artifact{Data: two, Digest: oci.DigestOf(two), Version: "1.0.1"}
	if diff := cmp.Diff(want, a); diff != "" || err != nil {
		t.Errorf("RepoChart(...): error %v, -want, +got:\n%s", err, diff)
	}
}

// TestRepoChartCredentials checks that credentials are only sent to their host.
func TestRepoChartCredentials(t *testing.T) {
	data := ocitest.Chart(t, "credentials")
	elsewhere := ocitest.NewServer(t, files(map[string][]byte{"/a.tgz": data}, false), false)
	content := map[string][]byte{}
	s := ocitest.NewServer(t, files(content, false), false)
	s.Demand(user, password)
	s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/redirect.tgz" {
			return false
		}
		http.Redirect(w, r, elsewhere.URL+"/a.tgz", http.StatusFound)
		return true
	})
	content["/index.yaml"] = []byte(indexHead + entry("1.0.0", "redirect.tgz", "") + entry("2.0.0", elsewhere.URL+"/a.tgz", ""))

	for name, tc := range map[string]struct {
		reason  string
		regs    oci.Registries
		version string
		refused bool
	}{
		"Redirect":  {reason: "A redirect is followed without them.", regs: s.Plain(user, password), version: "1.0.0"},
		"Absolute":  {reason: "Another host gets its own, here none.", regs: append(s.Plain(user, password), elsewhere.Plain("", "")...), version: "2.0.0"},
		"NotListed": {reason: "Another host has to be listed.", regs: s.Plain(user, password), version: "2.0.0", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			elsewhere.Forget()
			a, err := newClient(t).RepoChart(t.Context(), tc.regs, s.URL, "sample", tc.version)
			var e *oci.RegistryNotAllowedError
			if errors.As(err, &e) != tc.refused || !tc.refused && !cmp.Equal(data, a.Data) {
				t.Errorf("\n%s\nRepoChart(...): %d bytes, error %v", tc.reason, len(a.Data), err)
			}
			if elsewhere.SawCredentials() || tc.refused != (elsewhere.Count("", "") == 0) {
				t.Errorf("\n%s\nRepoChart(...): requests elsewhere %v, with credentials: %t", tc.reason, elsewhere.Requests(), elsewhere.SawCredentials())
			}
		})
	}
}

// TestRepoChartIsolation checks that someone who can write an index cannot get the archives of others by listing their digests.
func TestRepoChartIsolation(t *testing.T) {
	data := ocitest.Chart(t, "private")
	s := ocitest.NewServer(t, files(map[string][]byte{
		"/private/index.yaml": []byte(indexHead + entry("1.0.0", "a.tgz", oci.DigestOf(data))),
		"/private/a.tgz":      data,
		"/liar/index.yaml":    []byte(indexHead + entry("1.0.0", "a.tgz", oci.DigestOf(data))),
		"/liar/a.tgz":         []byte("something else"),
	}, false), false)
	p := newClient(t)
	if _, err := p.RepoChart(t.Context(), nil, s.URL+"/private", "sample", ""); err != nil {
		t.Fatal(err)
	}
	a, err := p.RepoChart(t.Context(), nil, s.URL+"/liar", "sample", "")
	if a.Data != nil || !strings.Contains(text(err), "digest mismatch") {
		t.Errorf("RepoChart(...): %d bytes, error %v", len(a.Data), err)
	}
}

func TestRepoChartTLS(t *testing.T) {
	data := ocitest.Chart(t, "tls")
	s := ocitest.NewServer(t, files(map[string][]byte{"/index.yaml": []byte(indexHead + entry("1.0.0", "a.tgz", "")), "/a.tgz": data}, false), true)
	a, err := newClient(t).RepoChart(t.Context(), oci.Registries{{Host: s.Host(), CABundle: s.CA()}}, s.URL, "sample", "")
	if err != nil || !cmp.Equal(data, a.Data) {
		t.Errorf("RepoChart(...) with the CA: %d bytes, error %v", len(a.Data), err)
	}
	_, err = newClient(t).RepoChart(t.Context(), nil, s.URL, "sample", "")
	if !strings.Contains(text(err), "unknown authority: set caBundleSecretRef") {
		t.Errorf("RepoChart(...) without the CA: error %q", text(err))
	}
}
