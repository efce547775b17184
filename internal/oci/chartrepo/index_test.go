// SPDX-License-Identifier: Apache-2.0

package chartrepo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

func TestIndexFind(t *testing.T) {
	i, err := parseIndex([]byte(`
entries:
  sample:
  - version: 1.2.0
    urls: [b]
  - version: v1.10.0
    urls: [c]
  - version: 2.0.0-rc.1
    urls: [d]
  - version: not-semantic
    urls: [e]
  - null
  - version: 1.0
    urls: [f]
  nothing: []
`))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason  string
		name    string
		version string
		want    string
		err     string
	}{
		"Newest":     {reason: "No version means the newest release, compared by number.", name: "sample", want: "v1.10.0"},
		"Exact":      {reason: "A version with exactly the requested spelling takes precedence.", name: "sample", version: "1.2.0", want: "1.2.0"},
		"Equal":      {reason: "Equal versions with different spellings match.", name: "sample", version: "1.10.0", want: "v1.10.0"},
		"Range":      {reason: "A version can be a range.", name: "sample", version: "~1.2", want: "1.2.0"},
		"PreRelease": {reason: "A pre-release has to be asked for.", name: "sample", version: ">=2.0.0-0", want: "2.0.0-rc.1"},
		"NoSemantic": {reason: "Other versions are found to the letter.", name: "sample", version: "not-semantic", want: "not-semantic"},
		"Number":     {reason: "A version that YAML takes for a number does not spoil the rest.", name: "sample", version: "<1.1", want: "1"},
		"Nothing":    {reason: "A chart without versions.", name: "nothing", err: "no version of chart"},
		"Unknown":    {reason: "A chart that is not there.", name: "unknown", err: "no chart \"unknown\""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			e, err := i.find(tc.name, tc.version)
			if err == nil {
				got = e.Version
			}
			if tc.err == "" && err != nil || !strings.Contains(ocitest.Text(err), tc.err) {
				t.Errorf("\n%s\nfind(...): error %q does not contain %q", tc.reason, ocitest.Text(err), tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nfind(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIndexBomb checks that a small index does not expand to gigabytes.
func TestIndexBomb(t *testing.T) {
	_, err := parseIndex([]byte("a: &a " + strings.Repeat("x", 100000) + "\nentries: {sample: [{urls: [" + strings.Repeat("*a, ", 1000) + "*a]}]}"))
	if want := "malformed index.yaml: YAML is larger than 33554432 bytes when its aliases are expanded"; ocitest.Text(err) != want {
		t.Errorf("parseIndex(...): got error %q, want %q", ocitest.Text(err), want)
	}
}

// TestIndexDense checks that the cost of parsing an index is limited too.
func TestIndexDense(t *testing.T) {
	_, err := parseIndex([]byte("entries: {sample: [" + strings.Repeat("1,", maxSeparators+1) + "]}"))
	if want := "malformed index.yaml: YAML contains too many values: more than 1500000 commas, colons and line breaks"; ocitest.Text(err) != want {
		t.Errorf("parseIndex(...): got error %q, want %q", ocitest.Text(err), want)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("entries:\n  sample:\n  - {version: 1.0.0, urls: [a.tgz], digest: "+oci.DigestOf(nil)+"}\n"), "^1")
	f.Add([]byte("entries: {sample: [null, {version: 1.0, urls: [null]}]}"), "")
	f.Add([]byte("a: &a [x]\nentries: {sample: *a}"), "1")
	f.Add([]byte("{\"entries\":{\"sample\":null}}"), "*")
	f.Fuzz(func(t *testing.T, data []byte, version string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data)+len(version))()
		i, err := parseIndex(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("parseIndex(...): error has several lines: %q", err)
			}
			return
		}
		e, err := i.find("sample", version)
		if err != nil {
			return
		}
		if len(e.URLs) == 0 || e.Digest != "" && !oci.ValidDigest(e.Digest) {
			t.Fatalf("find(...): %+v", e)
		}
	})
}
