// SPDX-License-Identifier: Apache-2.0

package sbom

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var identifier = regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`)

func origin() Origin {
	return Origin{URL: "https://example.org/repository", Version: "v1.2.3", Commit: "0123456789abcdef", Time: time.Unix(1_000_000_000, 0)}
}

func info() *debug.BuildInfo {
	return &debug.BuildInfo{GoVersion: "go1.26.7", Deps: []*debug.Module{
		{Path: "example.org/b", Version: "v2.0.0+incompatible", Sum: "h1:b="},
		{Path: "example.org/a", Version: "v1.0.0", Sum: "h1:a="},
		{Path: "example.org/replaced", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v1.0.1", Sum: "h1:fork="}},
	}}
}

func decode(t *testing.T, data []byte) document {
	t.Helper()
	var out document
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDocument(t *testing.T) {
	other := debug.Module{Path: "example.org/roots", Version: "v1.0.0+x", Sum: "h1:sum="}
	cases := map[string]struct {
		reason  string
		subject Subject
		// want are relationships without those to the modules of the binary.
		want []relationship
		// from is the component that depends on the modules, if any.
		from string
	}{
		"Binary": {
			reason:  "A binary depends on its modules.",
			subject: Subject{Name: "tool-linux-amd64", SHA256: "aa", Purpose: Application, Info: info()},
			want:    []relationship{{From: documentID, Type: describes, To: "SPDXRef-tool-linux-amd64-v1.2.3"}},
			from:    "SPDXRef-tool-linux-amd64-v1.2.3",
		},
		"Image": {
			reason:  "An image contains a program, which depends on its modules, and files of others.",
			subject: Subject{Name: "image", SHA256: "aa", Purpose: Container, Program: "provider", Info: info(), Others: []debug.Module{other}},
			want: []relationship{
				{From: documentID, Type: describes, To: "SPDXRef-image-v1.2.3"},
				{From: "SPDXRef-image-v1.2.3", Type: contains, To: "SPDXRef-provider-v1.2.3"},
				{From: "SPDXRef-image-v1.2.3", Type: contains, To: "SPDXRef-example.org-roots-v1.0.0-x"},
			},
			from: "SPDXRef-provider-v1.2.3",
		},
		"Archive": {
			reason:  "A package without a program has no modules.",
			subject: Subject{Name: "configuration", SHA256: "aa", Purpose: Archive},
			want:    []relationship{{From: documentID, Type: describes, To: "SPDXRef-configuration-v1.2.3"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := Document(origin(), tc.subject)
			if err != nil {
				t.Fatal(err)
			}
			got := decode(t, data)
			var rest []relationship
			modules := 0
			for _, r := range got.Relationships {
				if r.Type == dependsOn && r.From == tc.from {
					modules++
					continue
				}
				rest = append(rest, r)
			}
			if diff := cmp.Diff(tc.want, rest); diff != "" || (modules > 0) != (tc.from != "") {
				t.Errorf("\n%s\n%d modules; relationships: -want, +got:\n%s", tc.reason, modules, diff)
			}
			again, err := Document(origin(), tc.subject)
			if err != nil || !bytes.Equal(data, again) {
				t.Errorf("\n%s\nthe same subject makes another document: %v", tc.reason, err)
			}
		})
	}
}

// TestModules checks that a document names each module with its version and sum, and the toolchain.
func TestModules(t *testing.T) {
	data, err := Document(origin(), Subject{Name: "tool", SHA256: "aa", Purpose: Application, Info: info()})
	if err != nil {
		t.Fatal(err)
	}
	type named struct{ Name, Version, Sum, PURL string }
	var got []named
	for _, c := range decode(t, data).Packages[1:] {
		got = append(got, named{Name: c.Name, Version: c.VersionInfo, Sum: c.SourceInfo, PURL: c.ExternalRefs[0].Locator})
	}
	want := []named{
		{Name: "stdlib", Version: "1.26.7", PURL: "pkg:golang/stdlib@1.26.7"},
		{Name: "example.org/a", Version: "v1.0.0", Sum: "go.sum: h1:a=", PURL: "pkg:golang/example.org/a@v1.0.0"},
		{Name: "example.org/b", Version: "v2.0.0+incompatible", Sum: "go.sum: h1:b=", PURL: "pkg:golang/example.org/b@v2.0.0%2Bincompatible"},
		{Name: "example.org/fork", Version: "v1.0.1", Sum: "go.sum: h1:fork=", PURL: "pkg:golang/example.org/fork@v1.0.1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestRequiredFields checks what SPDX 2.3 requires of each document.
func TestRequiredFields(t *testing.T) {
	data, err := Document(origin(), Subject{Name: "tool", SHA256: "aa", Purpose: Application, Info: info()})
	if err != nil {
		t.Fatal(err)
	}
	got := decode(t, data)
	want := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "tool",
		DocumentNamespace: "https://example.org/repository/spdx/v1.2.3/tool-aa",
		CreationInfo:      creationInfo{Created: "2001-09-09T01:46:40Z", Creators: []string{"Tool: provider-kyma-release-v1.2.3"}},
		Packages:          got.Packages, Relationships: got.Relationships,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	ids := map[string]bool{documentID: true}
	for _, c := range got.Packages {
		if ids[c.ID] || !identifier.MatchString(c.ID) || c.Name == "" || c.DownloadLocation == "" || c.LicenseDeclared == "" {
			t.Errorf("the component is incomplete, or its ID is not unique: %+v", c)
		}
		ids[c.ID] = true
	}
	for _, r := range got.Relationships {
		if !ids[r.From] || !ids[r.To] {
			t.Errorf("the relationship refers to a component that does not exist: %+v", r)
		}
	}
}

func TestRead(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(binary)
	if err != nil || got.GoVersion != runtime.Version() {
		t.Errorf("Read(...) of this test: want %s, got %v, %v", runtime.Version(), got, err)
	}
	if got, err := Read([]byte("a script")); err == nil {
		t.Errorf("Read(...) of a script: want an error, got %v", got)
	}
}
