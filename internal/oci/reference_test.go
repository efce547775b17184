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
		"Tag":        {reason: "The usual form.", in: "reg.example.org/team/x:1.0.0", want: Reference{Repository: "reg.example.org/team/x", Tag: "1.0.0"}},
		"Repository": {reason: "A tag is not needed.", in: "reg.example.org/x", want: Reference{Repository: "reg.example.org/x"}},
		"Port":       {reason: "A port is not a tag.", in: "reg.example.org:5000/x", want: Reference{Repository: "reg.example.org:5000/x"}},
		"PortTag":    {reason: "Both.", in: "reg:5000/x:1", want: Reference{Repository: "reg:5000/x", Tag: "1"}},
		"Localhost":  {reason: "It has no dot.", in: "localhost/x:1", want: Reference{Repository: "localhost/x", Tag: "1"}},
		"IPv6":       {reason: "An address in brackets.", in: "[::1]:5000/x:1", want: Reference{Repository: "[::1]:5000/x", Tag: "1"}},
		"IPv6NoPort": {reason: "Without a port.", in: "[2001:db8::1]/x", want: Reference{Repository: "[2001:db8::1]/x"}},
		"Uppercase":  {reason: "Hosts have no case.", in: "REG.Example.org/x:RC1", want: Reference{Repository: "reg.example.org/x", Tag: "RC1"}},
		"Digest":     {reason: "A digest.", in: "reg.example.org/x@" + digest, want: Reference{Repository: "reg.example.org/x", Digest: digest}},
		"Both":       {reason: "A tag and a digest.", in: "reg.example.org/x:1@" + digest, want: Reference{Repository: "reg.example.org/x", Tag: "1", Digest: digest}},
		"Scheme":     {reason: "Helm's scheme is tolerated.", in: "oci://reg.example.org/x:1", want: Reference{Repository: "reg.example.org/x", Tag: "1"}},
		"Hub":        {reason: "Docker Hub has to be said.", in: "docker.io/x/y", want: Reference{Repository: "docker.io/x/y"}},

		"Empty":         {reason: "Nothing.", in: "", err: `malformed reference "": the path of the repository is missing`},
		"HTTPS":         {reason: "A scheme would leak into what is stored.", in: "https://reg.example.org/x:1", err: "scheme https:// is not supported: omit the scheme, or use oci://"},
		"HTTP":          {reason: "So would this one.", in: "http://reg.example.org/x:1", err: "scheme http:// is not supported"},
		"Twice":         {reason: "One scheme is enough.", in: "oci://https://reg.example.org/x:1", err: "scheme https:// is not supported"},
		"NoHost":        {reason: "There is no default registry.", in: "team/x:1", err: `"team" is not a registry host: it has neither a dot nor a port`},
		"HostOnly":      {reason: "A host is not a repository.", in: "reg.example.org", err: "the path of the repository is missing"},
		"HostSlash":     {reason: "Not even with a slash.", in: "reg.example.org/", err: "the path of the repository is missing"},
		"BadPort":       {reason: "Ports are numbers.", in: "reg.example.org:x/y", err: `malformed host "reg.example.org:x"`},
		"UppercasePath": {reason: "Paths have a case.", in: "reg.example.org/X", err: `malformed path "X"`},
		"Climbing":      {reason: "Paths do not climb.", in: "reg.example.org/a/../b", err: "malformed path"},
		"DoubleSlash":   {reason: "Nor are they empty.", in: "reg.example.org/a//b:1", err: "malformed path"},
		"EmptyTag":      {reason: "A colon needs a tag.", in: "reg.example.org/x:", err: `malformed tag ""`},
		"LongTag":       {reason: "128 characters are the limit.", in: "reg.example.org/x:" + strings.Repeat("1", 129), err: "malformed tag"},
		"PlusTag":       {reason: "A version is not always a tag.", in: "reg.example.org/x:1.0+b", err: `malformed tag "1.0+b"`},
		"EmptyDigest":   {reason: "An at sign needs a digest.", in: "reg.example.org/x@", err: "the text after @ must be a digest"},
		"ShortDigest":   {reason: "Digests have 64 digits.", in: "reg.example.org/x@sha256:00", err: "the text after @ must be a digest"},
		"OtherDigest":   {reason: "Other digests are not known.", in: "reg.example.org/x@sha512:" + strings.Repeat("0", 128), err: "the text after @ must be a digest"},
		"Long":          {reason: "There is a limit.", in: strings.Repeat("x", 5000), err: "must be at most 4096 bytes"},
		"LongPath":      {reason: "Of paths, too.", in: "reg.example.org/" + strings.Repeat("x", 256), err: "malformed path"},
		"Control":       {reason: "Errors are one line.", in: "reg.example.org/x\n\x1b[0m", err: `malformed path "x [0m"`},
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
