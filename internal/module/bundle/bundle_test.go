// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
)

// TestOpen checks the location of a module for each form of a reference.
func TestOpen(t *testing.T) {
	r := startRegistry(t)
	pushed := push(t, r, moduleOf("1.0.0+b5"))
	hashed := moduleOf("2.0.0")
	hashed.Mapping, hashed.OCM = ocm.SHA256Digest, true
	pushedHashed := push(t, r, hashed)
	dir, tar := layoutOf(t, "greeter", pushed), layoutOf(t, "greeter.tar", pushed)
	base := r.Host() + "/modules"
	digest := "@" + pushed.Digest
	urlPath := ocm.Location{BaseURL: base, Mapping: ocm.URLPath}
	type want struct {
		Tag, Version string
		Location     ocm.Location
	}
	cases := map[string]struct {
		reason    string
		reference string
		want      want
	}{
		"Tag":         {reason: "A tag is that of the version.", reference: pushed.Repository + ":1.0.0.build-b5", want: want{"1.0.0.build-b5", "1.0.0+b5", urlPath}},
		"Version":     {reason: "A version is taken for its tag.", reference: pushed.Repository + ":1.0.0+b5", want: want{"1.0.0.build-b5", "1.0.0+b5", urlPath}},
		"Digest":      {reason: "A digest needs no tag.", reference: pushed.Repository + digest, want: want{"", "1.0.0+b5", urlPath}},
		"Both":        {reason: "The digest is what counts.", reference: pushed.Repository + ":old" + digest, want: want{"old", "1.0.0+b5", urlPath}},
		"Scheme":      {reason: "The scheme oci:// has no effect.", reference: "oci://" + pushed.Repository + ":1.0.0.build-b5", want: want{"1.0.0.build-b5", "1.0.0+b5", urlPath}},
		"OCM":         {reason: "OCM separates base and name.", reference: base + "//" + greeter + ":1.0.0+b5", want: want{"1.0.0.build-b5", "1.0.0+b5", urlPath}},
		"OCMDigest":   {reason: "OCM's form has digests too.", reference: "oci://" + base + "//" + greeter + digest, want: want{"", "1.0.0+b5", urlPath}},
		"Hashed":      {reason: "A hashed name is known by the name.", reference: pushedHashed.Repository + ":2.0.0", want: want{"2.0.0", "2.0.0", ocm.Location{BaseURL: base, Mapping: ocm.SHA256Digest}}},
		"Dir":         {reason: "A layout has no location.", reference: dir, want: want{"1.0.0.build-b5", "1.0.0+b5", ocm.Location{}}},
		"Tar":         {reason: "A tar is a layout too.", reference: tar, want: want{"1.0.0.build-b5", "1.0.0+b5", ocm.Location{}}},
		"TagOfLayout": {reason: "A layout may hold several.", reference: dir + ":1.0.0+b5", want: want{"1.0.0.build-b5", "1.0.0+b5", ocm.Location{}}},
		"InLayout":    {reason: "A reference to a module in a layout can have a digest.", reference: tar + digest, want: want{"", "1.0.0+b5", ocm.Location{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := open(t, tc.reference)
			got := want{b.Tag, b.Descriptor().Version(), b.Location}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			data, err := b.Manifest(t.Context())
			if err != nil || !json.Valid(data) {
				t.Errorf("\n%s\nmanifest: %v", tc.reason, err)
			}
		})
	}
}

// TestOpenRefuses checks the errors for references that are not modules.
func TestOpenRefuses(t *testing.T) {
	r := startRegistry(t)
	pushed := push(t, r, moduleOf("1.0.0"))
	if _, err := r.PushChart(t.Context(), "charts", chart("web", false)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.PushModule(t.Context(), "image", chart("web", false)); err != nil {
		t.Fatal(err)
	}
	moved, err := remote.New(r.Host()+"/modules/component-descriptors/example.org/module/other", nil)
	if err != nil {
		t.Fatal(err)
	}
	from, err := remote.New(pushed.Repository, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Copy(t.Context(), from, "1.0.0", moved, store.CopyOptions{Tag: "1.0.0"}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Copy(t.Context(), from, "1.0.0", moved, store.CopyOptions{Tag: "9.0.0"}); err != nil {
		t.Fatal(err)
	}
	var notFound *store.NotFoundError
	var invalid *ocm.InvalidError
	empty := t.TempDir()
	cases := map[string]struct {
		reason    string
		reference string
		as        any
		want      string
	}{
		"NoVersion":    {reason: "The version is asked for.", reference: pushed.Repository, want: "append the version"},
		"NoOCMVersion": {reason: "The version is asked for.", reference: r.Host() + "/modules//" + greeter, want: "append it, such as " + greeter + ":1.0.0"},
		"NoTag":        {reason: "A missing tag is reported as not found.", reference: pushed.Repository + ":3.0.0", as: &notFound, want: "3.0.0"},
		"NoPath":       {reason: "A path that is not there is not found.", reference: "./no.tar", as: &notFound, want: "no.tar"},
		"NoWord":       {reason: "A single word is a path.", reference: "greeter", as: &notFound, want: "greeter"},
		"NoLayout":     {reason: "A directory that is not a layout is named.", reference: empty, as: &invalid, want: "kymactl module create"},
		"Chart":        {reason: "A Helm chart is recognized.", reference: r.Host() + "/charts/web:0.1.0", as: &invalid, want: "the artifact is a Helm chart"},
		"Other":        {reason: "Another name than that of the place is refused.", reference: r.Host() + "/modules/component-descriptors/example.org/module/other:1.0.0", as: &invalid, want: "contains component"},
		"OtherVersion": {reason: "OCM's form names a version.", reference: r.Host() + "/modules//example.org/module/other:9.0.0", as: &invalid, want: "a different version"},
		"Password":     {reason: "The error does not repeat a password.", reference: "me:hunter2@" + r.Host() + "/modules//" + greeter + ":1.0.0", want: "credentials"},
		"PasswordToo":  {reason: "The error does not repeat a password.", reference: "me:hunter2@" + pushed.Repository + ":1.0.0", want: "credentials"},
		"Empty":        {reason: "Nothing is not a reference.", want: "empty"},
		"HTTP":         {reason: "The error names an unsupported scheme.", reference: "http://" + r.Host() + "/modules//" + greeter + ":1.0.0", want: "scheme http:// is not supported"},
		"HTTPS":        {reason: "The error names an unsupported scheme.", reference: "https://" + pushed.Repository + ":1.0.0", want: "scheme https:// is not supported"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), tc.reference, nil)
			if err == nil {
				t.Fatalf("\n%s\nwant an error", tc.reason)
			}
			if !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), nowhere) {
				t.Errorf("\n%s\nwant %q in it, got %v", tc.reason, tc.want, err)
			}
			if tc.as != nil && !errors.As(err, tc.as) {
				t.Errorf("\n%s\nwant a %T, got %v", tc.reason, tc.as, err)
			}
		})
	}
}

// TestDirectoryAsHost checks that a directory with the name of a registry does not take precedence over the registry.
func TestDirectoryAsHost(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("registry", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, reference := range []string{"registry:5000/modules", "registry:5000/modules//" + greeter + ":1.0.0"} {
		if IsPath(reference) {
			t.Errorf("IsPath(%q): it is that of a registry", reference)
		}
	}
	if !IsPath("registry:1.0.0") {
		t.Error("a directory with a tag is a path")
	}
}

// TestKinds checks that artifacts of other kinds are recognized.
func TestKinds(t *testing.T) {
	cases := map[string]struct {
		reason   string
		manifest string
		want     string
	}{
		"Image":   {reason: "An image is told how to become a module.", manifest: `{"config":{"mediaType":"application/vnd.oci.image.config.v1+json"}}`, want: "--from"},
		"Docker":  {reason: "An image of Docker is reported as an image.", manifest: `{"config":{"mediaType":"application/vnd.docker.container.image.v1+json"}}`, want: "container image"},
		"Index":   {reason: "An index is not a manifest.", manifest: `{"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`, want: "index"},
		"Unnamed": {reason: "An index needs no media type.", manifest: `{"manifests":[{}]}`, want: "index"},
		"Module":  {reason: "A module is accepted.", manifest: `{"config":{"mediaType":"` + artifact.CNUDIEConfig + `"}}`},
		"Unknown": {reason: "All else is for others to refuse.", manifest: `{"config":{"mediaType":"text/plain"}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := isModule([]byte(tc.manifest))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nwant %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestDestination checks the location to which a component is pushed.
func TestDestination(t *testing.T) {
	d, err := ocm.Decode([]byte(`{"meta":{"schemaVersion":"v2"},"component":{"name":"` + greeter + `","version":"1.0.0+b5","provider":"internal",` +
		`"repositoryContexts":[],"sources":[],"componentReferences":[],"resources":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	const host = "reg.example.org:5000"
	path := host + "/a/component-descriptors/" + greeter
	hex := host + "/a/" + hexOf(greeter)
	cases := map[string]struct {
		reason  string
		to      string
		mapping ocm.Mapping
		want    string
		err     string
	}{
		"Base":         {reason: "A base gets the path of the component.", to: host + "/a", want: path},
		"Slash":        {reason: "A slash at the end means nothing.", to: "oci://" + host + "/a/", want: path},
		"Host":         {reason: "A port is not a tag.", to: host, want: host + "/component-descriptors/" + greeter},
		"Hashed":       {reason: "The mapping is for a base.", to: host + "/a", mapping: ocm.SHA256Digest, want: hex},
		"Whole":        {reason: "A whole reference is taken as it is.", to: path + ":1.0.0.build-b5", want: path},
		"Version":      {reason: "A repository with a version is accepted.", to: path + ":1.0.0+b5", want: path},
		"Untagged":     {reason: "The tag follows from the version.", to: path, want: path},
		"WholeHashed":  {reason: "A hash in the tag implies the mapping.", to: hex + ":1.0.0.build-b5", want: hex},
		"OCM":          {reason: "The reference format of OCM is accepted.", to: host + "/a//" + greeter + ":1.0.0+b5", want: path},
		"OtherTag":     {reason: "Another version is refused.", to: path + ":2.0.0", err: "tag"},
		"OtherName":    {reason: "Another component is refused.", to: host + "/a/component-descriptors/example.org/other:1.0.0+b5", err: "not a repository of component"},
		"OtherBase":    {reason: "A component is not a base.", to: host + "/a/component-descriptors/example.org/other", err: "not a repository of component"},
		"TaggedBase":   {reason: "A base has no tag.", to: host + "/a:1.0.0", err: "not a repository of component"},
		"OtherOCM":     {reason: "The component name in a reference of OCM's format must match.", to: host + "/a//example.org/other:1.0.0+b5", err: "is for component"},
		"OtherVersion": {reason: "The version in a reference of OCM's format must match.", to: host + "/a//" + greeter + ":2.0.0", err: "has version"},
		"Digest":       {reason: "A digest cannot be chosen.", to: path + "@sha256:00", err: "digest"},
		"Malformed":    {reason: "A path must be valid.", to: host + "/A B", err: "malformed"},
		"HTTP":         {reason: "A scheme is not dropped, because it selects the protocol.", to: "http://" + host + "/a", err: "scheme http://"},
		"HTTPS":        {reason: "Other schemes are not supported in OCM's format.", to: "https://" + host + "/a//" + greeter + ":1.0.0+b5", err: "scheme https://"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, repository, tag, err := Destination(tc.to, tc.mapping, d)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("\n%s\nwant %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\n%v", tc.reason, err)
			}
			repo, last, err := l.Repository(d.Name())
			if err != nil || repo+"/"+last != tc.want {
				t.Errorf("\n%s\nlocation: want %s, got %s/%s, %v", tc.reason, tc.want, repo, last, err)
			}
			if repository != tc.want || tag != "1.0.0.build-b5" {
				t.Errorf("\n%s\nwant %s, got %s:%s", tc.reason, tc.want, repository, tag)
			}
		})
	}
}
