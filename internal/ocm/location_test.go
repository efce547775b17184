// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"strings"
	"testing"
)

func TestRepository(t *testing.T) {
	cases := map[string]struct {
		reason    string
		location  Location
		component string
		repo      string
		name      string
		err       string
	}{
		"URLPath":     {reason: "The mapping urlPath is the usual one.", location: Location{BaseURL: "localhost:5000/unsigned", Mapping: URLPath}, component: "kyma-project.io/module/sample", repo: "localhost:5000/unsigned/component-descriptors", name: "kyma-project.io/module/sample"},
		"Default":     {reason: "An empty mapping means urlPath.", location: Location{BaseURL: "example.org"}, component: "a.io/b", repo: "example.org/component-descriptors", name: "a.io/b"},
		"SubPath":     {reason: "OCM splits host and path.", location: Location{BaseURL: "example.org", SubPath: "/a/b/", Mapping: URLPath}, component: "a.io/b", repo: "example.org/a/b/component-descriptors", name: "a.io/b"},
		"Scheme":      {reason: "A scheme means nothing.", location: Location{BaseURL: "https://example.org/a/", Mapping: URLPath}, component: "a.io/b", repo: "example.org/a/component-descriptors", name: "a.io/b"},
		"SHA256":      {reason: "The result equals the test vector of component-spec.", location: Location{BaseURL: "docker.io/kyma", Mapping: SHA256Digest}, component: "kyma-project.io/module/sample", repo: "docker.io/kyma", name: "af6166e5af542685c4d616edd6953fbe50949796e87e4dbf23245e9dbf769e30"},
		"SHA256Short": {reason: "The result equals the shortened test vector of component-spec.", location: Location{BaseURL: "example.org", SubPath: "a", Mapping: SHA256Digest}, component: "somecomp", repo: "example.org/a", name: "e9332cb3"},
		"Unknown":     {reason: "The mapping must be one of two.", location: Location{BaseURL: "example.org", Mapping: "other"}, component: "a.io/b", err: `unknown componentNameMapping "other"`},
		"NoHost":      {reason: "A location is a host.", location: Location{}, component: "a.io/b", err: `baseUrl "" has no host`},
		"Slash":       {reason: "Credentials are also rejected if they contain a slash.", location: Location{BaseURL: "https://ann:s3/cr3t@example.org"}, component: "a.io/b", err: "baseUrl contains credentials"},
		"Credentials": {reason: "The error does not show credentials in the base URL.", location: Location{BaseURL: "https://ann:s3cr3t@example.org"}, component: "a.io/b", err: "baseUrl contains credentials"},
		"Climbing":    {reason: "No path leads up.", location: Location{BaseURL: "example.org", SubPath: "../b"}, component: "a.io/b", err: `malformed path "../b"`},
		"BadName":     {reason: "The loose pattern of names allows more than a path.", location: Location{BaseURL: "example.org"}, component: "a.io/../b", err: "is not a valid repository path"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			repo, got, err := tc.location.Repository(tc.component)
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) || strings.Contains(text(err), "s3cr3t") {
				t.Errorf("\n%s\nRepository(%q): error %q does not contain %q", tc.reason, tc.component, text(err), tc.err)
			}
			if repo != tc.repo || !strings.HasPrefix(got, tc.name) || (got == "") != (tc.name == "") {
				t.Errorf("\n%s\nRepository(%q): got %q, %q, want %q, %q", tc.reason, tc.component, repo, got, tc.repo, tc.name)
			}
		})
	}
}

func TestLocation(t *testing.T) {
	cases := map[string]struct {
		reason   string
		contexts string
		want     Location
		ok       bool
	}{
		"None":  {reason: "A descriptor may know no registry.", contexts: ""},
		"Last":  {reason: "The last one is where it is now.", contexts: `{"type":"ociRegistry","baseUrl":"a"},{"type":"OCIRegistry/v1","baseUrl":"b","subPath":"c","componentNameMapping":"sha256-digest"}`, want: Location{BaseURL: "b", SubPath: "c", Mapping: SHA256Digest}, ok: true},
		"Other": {reason: "An archive on a disk is not a registry.", contexts: `{"type":"ociRegistry","baseUrl":"a"},{"type":"CommonTransportFormat","filePath":"x"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := decoded(t, []byte(with(`,"repositoryContexts":[`+tc.contexts+"]"))).Location()
			if got != tc.want || ok != tc.ok {
				t.Errorf("\n%s\nLocation(): got %+v, %t, want %+v, %t", tc.reason, got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestTag(t *testing.T) {
	cases := map[string]struct {
		reason  string
		version string
		want    string
		err     string
	}{
		"Plain":     {reason: "A version is a tag.", version: "v1.2.3-rc.1", want: "v1.2.3-rc.1"},
		"Plus":      {reason: "A plus cannot be in a tag.", version: "1.2.3-rc.1+b.5", want: "1.2.3-rc.1.build-b.5"},
		"Ambiguous": {reason: "Two versions must not share a tag.", version: "1.2.3-rc.1.build-b.5", err: "version \"1.2.3-rc.1.build-b.5\" must not contain .build-, which replaces + in tags"},
		"Long":      {reason: "The length of a tag is limited.", version: "1.2.3-" + strings.Repeat("a", 123), err: "cannot be used as a tag"},
		"Grown":     {reason: "The mark makes it longer.", version: "1.2.3+" + strings.Repeat("a", 122), err: "cannot be used as a tag"},
		"Empty":     {reason: "There is no latest.", version: "", err: "cannot be used as a tag"},
		"Slash":     {reason: "A tag is not a path.", version: "1/2", err: "cannot be used as a tag"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Tag(tc.version)
			if got != tc.want || (tc.err == "") != (err == nil) || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nTag(%q): got %q, error %q, want %q, error with %q", tc.reason, tc.version, got, text(err), tc.want, tc.err)
			}
		})
	}
}
