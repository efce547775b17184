// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"bytes"
	"crypto"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/gardener/component-spec/bindings-go/apis/v2/validation"
	"github.com/gardener/component-spec/bindings-go/codec"
	"github.com/google/go-cmp/cmp"

	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

const trialBlob = "2dd783cc8dab86a84a7f3be1a05859d7bb265e94ec3fd72558fa0d4fbd1ce375"

// blobResource returns a local blob in the form of module create.
func blobResource(name, resourceType string) Resource {
	return Resource{
		Name: name, Type: resourceType,
		Digest: &Digest{HashAlgorithm: HashSHA256, NormalisationAlgorithm: NormalisationBlob, Value: trialBlob},
		Access: Access{Type: AccessLocalOCIBlob, Digest: "sha256:" + trialBlob, MediaType: "application/gzip"},
	}
}

func trial() Component {
	return Component{Name: "kyma-project.io/module/sample", Version: "0.0.1", Resources: []Resource{blobResource("sample-operator", "helm-chart")}}
}

// full returns a component with all fields.
func full() Component {
	c := trial()
	c.Version, c.Provider = "v1.2.3-rc.1+b5", "us & them"
	c.Labels = []Label{{Name: "one", Value: map[string]any{"b": int64(9007199254740993), "a": []any{"<x>", true, nil}}}, {Name: "two", Value: "text"}}
	c.Sources = []SourceRef{
		{Name: "main", Repository: "https://github.com/example/sample", Ref: "refs/heads/main", Commit: strings.Repeat("a", 40)},
		{Name: "other", Repository: "https://git.example.org/sample.git", Commit: strings.Repeat("b", 40)},
		{Name: "ssh", Repository: "git@git.example.org:sample.git"},
	}
	c.Resources = append(
		c.Resources,
		Resource{
			Name: "image", Version: "1.0.0", Type: "ociImage", Relation: "external", ExtraIdentity: map[string]string{"os-arch": "linux-arm64"},
			Access: Access{Type: AccessOCIArtifact, Reference: "registry.example.org/image:1@sha256:" + trialBlob},
		},
		Resource{Name: "image", Type: "ociImage", Relation: "external", Access: Access{Type: AccessOCIRegistry, Reference: "registry.example.org/image:2"}},
		Resource{Name: "chart", Type: "helm-chart", Relation: "external", Access: Access{Type: AccessHelmChart, ChartURL: "https://charts.example.org", ChartName: "x", ChartVersion: "1"}},
		Resource{Name: "nothing", Type: "yaml", Access: Access{Type: AccessNone}},
		Resource{Name: "foreign", Type: "blob", Relation: "external", Access: Access{Type: "s3", Fields: `{"bucketName":"b","objectKey":"k","size":12345678901,"type":"s3/v1"}`}},
	)
	c.References = []Reference{
		{Name: "child", Component: childName, Version: "1.0.0", Digest: &Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: NormalisationJSON, Value: trialBlob}},
		{Name: "child", Component: childName, Version: "2.0.0", ExtraIdentity: map[string]string{"which": "two"}},
	}
	return c
}

func made(tb testing.TB, c Component) *Descriptor {
	tb.Helper()
	d, err := New(c)
	if err != nil {
		tb.Fatalf("New(...): %v", err)
	}
	return d
}

// TestNewGolden checks the bytes of a descriptor. If they change, every rebuilt module has a different digest.
func TestNewGolden(t *testing.T) {
	const want = `{"component":{"componentReferences":[],"name":"kyma-project.io/module/sample","provider":"internal","repositoryContexts":[],` +
		`"resources":[{"access":{"digest":"sha256:` + trialBlob + `","mediaType":"application/gzip","type":"localOciBlob"},` +
		`"digest":{"hashAlgorithm":"sha256","normalisationAlgorithm":"genericBlobDigest/v1","value":"` + trialBlob + `"},` +
		`"name":"sample-operator","relation":"local","type":"helm-chart","version":"0.0.1"}],"sources":[],"version":"0.0.1"},` +
		`"meta":{"schemaVersion":"v2"}}`
	d := made(t, trial())
	if diff := cmp.Diff(want, string(d.JSON())); diff != "" {
		t.Errorf("JSON(): -want, +got:\n%s", diff)
	}
	normalised, err := d.Normalised()
	if diff := cmp.Diff(trialNormalised, string(normalised)); diff != "" || err != nil {
		t.Errorf("Normalised(): %v, -want, +got:\n%s", err, diff)
	}
	if got, want := sum(crypto.SHA256, made(t, full()).JSON()), "54ec3585b9c62fce0f937c6ee8a248daef26207f44a9235a2261130be53959c9"; got != want {
		t.Errorf("all fields: got the SHA-256 %s, want %s, of %s", got, want, made(t, full()).JSON())
	}
}

// TestNewLibrary checks that component-spec accepts the descriptor, including its schema.
func TestNewLibrary(t *testing.T) {
	for name, c := range map[string]Component{"Trial": trial(), "Full": full()} {
		t.Run(name, func(t *testing.T) {
			spec := &v2.ComponentDescriptor{}
			if err := codec.Decode(made(t, c).JSON(), spec); err != nil {
				t.Fatalf("codec.Decode(...): %v", err)
			}
			if err := validation.Validate(spec); err != nil {
				t.Errorf("validation.Validate(...): %v", err)
			}
		})
	}
}

func TestNew(t *testing.T) {
	with := func(change func(c *Component)) Component {
		c := trial()
		change(&c)
		return c
	}
	resource := func(change func(r *Resource)) Component {
		return with(func(c *Component) { change(&c.Resources[0]) })
	}
	cases := map[string]struct {
		reason string
		c      Component
		err    string
	}{
		"Trial":            {"A module is a component.", trial(), ""},
		"Full":             {"All fields can be written.", full(), ""},
		"Empty":            {"A component may consist of nothing.", Component{Name: "a.io/b", Version: "1"}, ""},
		"NoName":           {"A component has a name.", with(func(c *Component) { c.Name = "" }), `component.name: invalid value ""`},
		"ShortName":        {"The example of the original command was wrong.", with(func(c *Component) { c.Name = "my-domain/mod" }), "component.name"},
		"UpperCase":        {"Repositories are in lower case.", with(func(c *Component) { c.Name = "a.io/Mod" }), "component.name"},
		"NoPath":           {"A domain is not a name.", with(func(c *Component) { c.Name = "a.io/" }), "component.name"},
		"DigitFirst":       {"OCM refuses what the schema allows.", with(func(c *Component) { c.Name = "a.io/1b" }), "component.name"},
		"NoRepository":     {"The name must be fit for a repository.", with(func(c *Component) { c.Name = "a.io/mod-" }), "component.name"},
		"LongName":         {"Names are bounded.", with(func(c *Component) { c.Name = "a.io/" + strings.Repeat("a", 256) }), "component.name"},
		"NameNewline":      {"A line break at the end is not part of a name.", with(func(c *Component) { c.Name = "a.io/b\n" }), "component.name"},
		"Latest":           {"A version is semantic.", with(func(c *Component) { c.Version = "latest" }), "component.version"},
		"FourNumbers":      {"A version has at most three numbers.", with(func(c *Component) { c.Version = "1.2.3.4" }), "component.version"},
		"LeadingZero":      {"Numbers have no leading zeroes.", with(func(c *Component) { c.Version = "01.2.3" }), "component.version"},
		"BuildMark":        {"Two versions would have one tag.", with(func(c *Component) { c.Version = "1.2.3-a.build-b" }), ".build-"},
		"LongVersion":      {"A version must be fit for a tag.", with(func(c *Component) { c.Version = "1.2.3-" + strings.Repeat("a", 128) }), "component.version"},
		"Provider":         {"A provider is a line.", with(func(c *Component) { c.Provider = "a\nb" }), "component.provider"},
		"TwoLabels":        {"Labels have different names.", with(func(c *Component) { c.Labels = []Label{{"a", 1}, {"a", 2}} }), "component.labels[1].name"},
		"LabelWithoutName": {"Labels have names.", with(func(c *Component) { c.Labels = []Label{{"", 1}} }), "component.labels[0].name is missing"},
		"LabelFunction":    {"Labels are JSON.", with(func(c *Component) { c.Labels = []Label{{"a", func() {}}} }), "unsupported type"},
		"SameName":         {"A name is used once.", with(func(c *Component) { c.Resources = append(c.Resources, c.Resources[0]) }), "component.resources[1] has the same name and identity as component.resources[0]"},
		"ShortResource":    {"Names of resources have two characters.", resource(func(r *Resource) { r.Name = "x" }), "component.resources[0].name"},
		"ResourceName":     {"Names of resources are in lower case.", resource(func(r *Resource) { r.Name = "Operator" }), "component.resources[0].name"},
		"LocalVersion":     {"Local resources have the version of the component.", resource(func(r *Resource) { r.Version = "2.0.0" }), "must be the version of the component, 0.0.1, because the resource is local"},
		"ExternalVersion":  {"Versions of resources are semantic.", resource(func(r *Resource) { r.Version, r.Relation = "latest", "external" }), `version: invalid value "latest"`},
		"Relation":         {"There are two relations.", resource(func(r *Resource) { r.Relation = "else" }), "component.resources[0].relation"},
		"NoType":           {"Resources have a type.", resource(func(r *Resource) { r.Type = "" }), "type is missing"},
		"NoDigest":         {"What is not signed can be swapped.", resource(func(r *Resource) { r.Digest = nil }), "digest is missing"},
		"OtherDigest":      {"The blob is the signed one.", resource(func(r *Resource) { r.Access.Digest = "sha256:" + strings.Repeat("0", 64) }), "access refers to blob"},
		"MalformedDigest":  {"Digests are in lower case.", resource(func(r *Resource) { r.Digest.Value = strings.ToUpper(trialBlob) }), "lowercase hexadecimal"},
		"UnknownHash":      {"There are two hash functions.", resource(func(r *Resource) { r.Digest.HashAlgorithm = "md5" }), `unknown hash algorithm "md5"`},
		"NoneWithDigest":   {"What is not there has no digest.", resource(func(r *Resource) { r.Access = Access{Type: AccessNone} }), "digest must not be set"},
		"UnknownAccess":    {"Fields are not lost in silence.", resource(func(r *Resource) { r.Access = Access{Type: "web"} }), `access: unsupported type "web"`},
		"NoAccess":         {"Resources have an access.", resource(func(r *Resource) { r.Access = Access{} }), "access: type is missing"},
		"NoImage":          {"An image has a reference.", resource(func(r *Resource) { r.Access = Access{Type: AccessOCIArtifact} }), "access: imageReference is missing"},
		"Identity":         {"The name is not part of the rest.", resource(func(r *Resource) { r.ExtraIdentity = map[string]string{"name": "x"} }), "extraIdentity"},
		"ReferenceDigest": {"References lead to descriptors.", with(func(c *Component) {
			c.References = []Reference{{Name: "ab", Component: childName, Version: "1", Digest: &Digest{HashSHA256, NormalisationBlob, trialBlob}}}
		}), "component.componentReferences[0]: unknown normalisation"},
		"ReferenceTwice": {"References have different names.", with(func(c *Component) {
			c.References = []Reference{{Name: "ab", Component: childName, Version: "1"}, {Name: "ab", Component: leafName, Version: "1"}}
		}), "component.componentReferences[1]"},
		"Credentials": {"Credentials are neither kept nor printed.", with(func(c *Component) {
			c.Sources = []SourceRef{{Name: "main", Repository: "https://me:s3cret@example.org/x"}}
		}), "must not contain credentials"},
		"Token": {"A user name may be a token.", with(func(c *Component) {
			c.Sources = []SourceRef{{Name: "main", Repository: "https://s3cret@example.org/x"}}
		}), "must not contain credentials"},
		"SourceName": {"Sources have names as resources have.", with(func(c *Component) { c.Sources = []SourceRef{{Name: "M", Repository: "https://example.org/x"}} }), "component.sources[0].name"},
		"SourceTwice": {"Sources have different names.", with(func(c *Component) {
			c.Sources = []SourceRef{{Name: "main", Repository: "https://example.org/x"}, {Name: "main", Repository: "https://example.org/y"}}
		}), "component.sources[1]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, err := New(tc.c)
			if (tc.err == "") != (err == nil) || !strings.Contains(text(err), tc.err) {
				t.Fatalf("\n%s\nNew(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			var invalid *InvalidError
			if err != nil && (!errors.As(err, &invalid) || !isOneLine(err) || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("\n%s\nNew(...): want an InvalidError of one line without secrets, got %T: %v", tc.reason, err, err)
			}
			if err == nil && (strings.Contains(string(d.JSON()), "creationTime") || len(d.spec.RepositoryContexts) > 0) {
				t.Errorf("\n%s\nNew(...): got %s", tc.reason, d.JSON())
			}
		})
	}
}

// TestComponent checks that no field of a component is lost.
func TestComponent(t *testing.T) {
	for name, c := range map[string]Component{"Trial": trial(), "Full": full(), "Empty": {Name: "a.io/b", Version: "1"}} {
		t.Run(name, func(t *testing.T) {
			d := made(t, c)
			again := made(t, d.Component())
			if diff := cmp.Diff(string(d.JSON()), string(again.JSON())); diff != "" {
				t.Errorf("New(Component()): -want, +got:\n%s", diff)
			}
		})
	}
}

// TestComponentOf checks how descriptors of other tools are converted.
func TestComponentOf(t *testing.T) {
	d := signed(t, decoded(t, read(t, "trial.json")), signedBy, ours())
	c := d.Component()
	c.Version = "0.0.2"
	got := made(t, c)
	if got.Resources()[0].Version != "0.0.2" || len(got.Signatures()) > 0 {
		t.Errorf("New(...): got %s", got.JSON())
	}
	if _, ok := got.Location(); ok {
		t.Errorf("New(...): the location is that of the old one: %s", got.JSON())
	}
}

func TestWithLocation(t *testing.T) {
	d := signed(t, made(t, trial()), signedBy, ours())
	cases := map[string]struct {
		reason string
		l      Location
		want   Location
		err    string
	}{
		"Default": {"The mapping is always written.", Location{BaseURL: "localhost:5000/unsigned"}, Location{BaseURL: "localhost:5000/unsigned", Mapping: URLPath}, ""},
		"Scheme":  {"Schemes made others dial the host https.", Location{BaseURL: "https://example.org/a/", SubPath: "/b/", Mapping: SHA256Digest}, Location{BaseURL: "example.org/a/b", Mapping: SHA256Digest}, ""},
		"Host":    {"A base is a host at least.", Location{BaseURL: ""}, Location{}, "has no host"},
		"Secret":  {"Credentials are not written.", Location{BaseURL: "me:s3cret@example.org"}, Location{}, "contains credentials"},
		"Mapping": {"There are two mappings.", Location{BaseURL: "example.org", Mapping: "else"}, Location{}, "componentNameMapping"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := d.WithLocation(tc.l)
			if (tc.err == "") != (err == nil) || !strings.Contains(text(err), tc.err) {
				t.Fatalf("\n%s\nWithLocation(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if err != nil {
				return
			}
			if l, ok := got.Location(); !ok || l != tc.want {
				t.Errorf("\n%s\nLocation(): got %+v, want %+v", tc.reason, l, tc.want)
			}
			if _, err := Verify([]*Descriptor{got}, []Key{keyOf(t, signedBy, ours())}); err != nil {
				t.Errorf("\n%s\nVerify(...): %v", tc.reason, err)
			}
			again, err := got.WithLocation(tc.l)
			if err != nil || !bytes.Equal(again.JSON(), got.JSON()) {
				t.Errorf("\n%s\nWithLocation(...), again: %v, got %s, want %s", tc.reason, err, again.JSON(), got.JSON())
			}
			moved, err := got.WithLocation(Location{BaseURL: "other.example.org"})
			if err != nil || len(moved.spec.RepositoryContexts) != 2 {
				t.Errorf("\n%s\nWithLocation(...), of another: %v, got %s", tc.reason, err, moved.JSON())
			}
		})
	}
	if _, ok := d.Location(); ok {
		t.Error("WithLocation changes its descriptor")
	}
}

// FuzzNew checks that New returns an equivalent descriptor, and that errors are a single line.
func FuzzNew(f *testing.F) {
	f.Add("a.io/b", "1.2.3", "us", "name", "type", "localOciBlob", trialBlob, "os", "https://example.org/x")
	f.Add("a.io/b", "1.2.3+b", "", "name", "type", "ociArtifact", "", "", "git@example.org:x")
	f.Add("a.io/b\xff", "v1", "\xff", "a\xff", "\x00", "web", "\n", "name", "http://a:b@c")
	f.Fuzz(func(t *testing.T, name, version, provider, resource, kind, access, digest, identity, source string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(name)+len(version)+len(provider)+len(resource)+len(kind)+len(access)+len(digest)+len(identity)+len(source))()
		c := Component{Name: name, Version: version, Provider: provider, Labels: []Label{{Name: kind, Value: digest}}}
		r := Resource{Name: resource, Type: kind, Access: Access{Type: access, Digest: "sha256:" + digest, Reference: kind, ChartURL: kind, ChartName: kind}}
		if digest != "" {
			r.Digest = &Digest{HashAlgorithm: HashSHA256, NormalisationAlgorithm: NormalisationBlob, Value: digest}
		}
		if identity != "" {
			r.ExtraIdentity = map[string]string{identity: kind}
		}
		c.Resources = []Resource{r}
		if source != "" {
			c.Sources = []SourceRef{{Name: resource, Repository: source, Ref: kind}}
		}
		d, err := New(c)
		if err != nil {
			if !isOneLine(err) {
				t.Errorf("New(...): error of several lines: %q", err)
			}
			return
		}
		if d.Name() != name || d.Version() != version || d.Resources()[0].Type != kind {
			t.Errorf("New(...): got %s", d.JSON())
		}
		if err := codec.Decode(d.JSON(), &v2.ComponentDescriptor{}); err != nil {
			t.Errorf("component-spec refuses %s: %v", d.JSON(), err)
		}
		again, err := New(d.Component())
		if err != nil || !bytes.Equal(again.JSON(), d.JSON()) {
			t.Errorf("New(Component()): %v, got %s, want %s", err, again.JSON(), d.JSON())
		}
	})
}
