// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

func TestParseReference(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	cases := map[string]struct {
		reason string
		in     string
		want   Reference
		err    string
	}{
		"Tag":        {reason: "A reference usually has a tag.", in: "reg.example.org/team/x:1.0.0", want: Reference{Repository: "reg.example.org/team/x", Tag: "1.0.0"}},
		"Repository": {reason: "A tag is optional.", in: "reg.example.org/x", want: Reference{Repository: "reg.example.org/x"}},
		"Port":       {reason: "A port is not a tag.", in: "reg.example.org:5000/x", want: Reference{Repository: "reg.example.org:5000/x"}},
		"PortTag":    {reason: "A reference can have a port and a tag.", in: "reg:5000/x:1", want: Reference{Repository: "reg:5000/x", Tag: "1"}},
		"Localhost":  {reason: "The host localhost does not need a dot.", in: "localhost/x:1", want: Reference{Repository: "localhost/x", Tag: "1"}},
		"IPv6":       {reason: "A host can be an IPv6 address in brackets.", in: "[::1]:5000/x:1", want: Reference{Repository: "[::1]:5000/x", Tag: "1"}},
		"IPv6NoPort": {reason: "An IPv6 address does not need a port.", in: "[2001:db8::1]/x", want: Reference{Repository: "[2001:db8::1]/x"}},
		"Uppercase":  {reason: "Host names are case-insensitive.", in: "REG.Example.org/x:RC1", want: Reference{Repository: "reg.example.org/x", Tag: "RC1"}},
		"Digest":     {reason: "A reference can have a digest.", in: "reg.example.org/x@" + digest, want: Reference{Repository: "reg.example.org/x", Digest: digest}},
		"Both":       {reason: "A reference can have a tag and a digest.", in: "reg.example.org/x:1@" + digest, want: Reference{Repository: "reg.example.org/x", Tag: "1", Digest: digest}},
		"Scheme":     {reason: "The scheme of Helm is accepted.", in: "oci://reg.example.org/x:1", want: Reference{Repository: "reg.example.org/x", Tag: "1"}},
		"Hub":        {reason: "Docker Hub must be specified explicitly.", in: "docker.io/x/y", want: Reference{Repository: "docker.io/x/y"}},

		"Empty":         {reason: "An empty reference is malformed.", in: "", err: `malformed reference "": the path of the repository is missing`},
		"HTTPS":         {reason: "A scheme is rejected, because it would be stored with the reference.", in: "https://reg.example.org/x:1", err: "scheme https:// is not supported: omit the scheme, or use oci://"},
		"HTTP":          {reason: "The scheme http:// is rejected.", in: "http://reg.example.org/x:1", err: "scheme http:// is not supported"},
		"Twice":         {reason: "A reference can have only one scheme.", in: "oci://https://reg.example.org/x:1", err: "scheme https:// is not supported"},
		"NoHost":        {reason: "There is no default registry.", in: "team/x:1", err: `"team" is not a registry host: it has neither a dot nor a port`},
		"HostOnly":      {reason: "A host is not a repository.", in: "reg.example.org", err: "the path of the repository is missing"},
		"HostSlash":     {reason: "A host with a slash is not a repository.", in: "reg.example.org/", err: "the path of the repository is missing"},
		"BadPort":       {reason: "A port must be a number.", in: "reg.example.org:x/y", err: `malformed host "reg.example.org:x"`},
		"UppercasePath": {reason: "Paths must be lowercase.", in: "reg.example.org/X", err: `malformed path "X"`},
		"Climbing":      {reason: "A path must not contain \"..\".", in: "reg.example.org/a/../b", err: "malformed path"},
		"DoubleSlash":   {reason: "The segments of a path must not be empty.", in: "reg.example.org/a//b:1", err: "malformed path"},
		"EmptyTag":      {reason: "A tag must follow a colon.", in: "reg.example.org/x:", err: `malformed tag ""`},
		"LongTag":       {reason: "A tag can have up to 128 characters.", in: "reg.example.org/x:" + strings.Repeat("1", 129), err: "malformed tag"},
		"PlusTag":       {reason: "A version is not always a tag.", in: "reg.example.org/x:1.0+b", err: `malformed tag "1.0+b"`},
		"EmptyDigest":   {reason: "A digest must follow an at sign.", in: "reg.example.org/x@", err: "the text after @ must be a digest"},
		"ShortDigest":   {reason: "A digest must have 64 hexadecimal digits.", in: "reg.example.org/x@sha256:00", err: "the text after @ must be a digest"},
		"OtherDigest":   {reason: "Other digest algorithms are not supported.", in: "reg.example.org/x@sha512:" + strings.Repeat("0", 128), err: "the text after @ must be a digest"},
		"Long":          {reason: "The length of a reference is limited.", in: strings.Repeat("x", 5000), err: "must be at most 4096 bytes"},
		"LongPath":      {reason: "The length of a path is limited.", in: "reg.example.org/" + strings.Repeat("x", 256), err: "malformed path"},
		"Control":       {reason: "An error message is a single line.", in: "reg.example.org/x\n\x1b[0m", err: `malformed path "x [0m"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseReference(tc.in)
			if tc.err != "" && !strings.Contains(text(err), tc.err) || tc.err == "" && err != nil {
				t.Errorf("\n%s\nParseReference(%q): error %q does not contain %q", tc.reason, tc.in, text(err), tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nParseReference(%q): -want, +got:\n%s", tc.reason, tc.in, diff)
			}
		})
	}
}

func TestParseReferenceSecrets(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for _, in := range []string{
		"ann:s3cr3t@reg.example.org/x:1",
		"ann:s3cr3t@reg.example.org",
		"ann:s3/cr3t@reg.example.org/x",
		"https://ann:s3cr3t@reg.example.org/x:1",
		"oci://ann:s3cr3t@reg.example.org/x:1@" + digest,
		"ann:s3cr3t://@reg.example.org/x",
		"ann:p@s3cr3t@reg.example.org/x",
		"ann:p://s3cr3t@reg.example.org/x",
	} {
		_, err := ParseReference(in)
		if err == nil || strings.Contains(err.Error(), "3cr3t") || strings.Contains(err.Error(), "s3") {
			t.Errorf("ParseReference(%q): error %q", in, text(err))
		}
	}
}

func FuzzParseReference(f *testing.F) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for _, s := range []string{"reg.example.org:5000/a/b:1@" + digest, "[::1]:1/x", "oci://LOCALHOST/x", "https://a:b@c/d", "a.b/c:", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(s))()
		r, err := ParseReference(s)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Errorf("ParseReference(%q): error %q", s, err)
			}
			return
		}
		again, err := ParseReference(r.String())
		if err != nil || again != r {
			t.Errorf("ParseReference(%q): %+v, then %+v, %v", s, r, again, err)
		}
		if _, err := Registries(nil).Repository(r.Repository); err != nil && !strings.Contains(err.Error(), "malformed host") {
			t.Errorf("ParseReference(%q): the repository is refused: %v", s, err)
		}
	})
}
