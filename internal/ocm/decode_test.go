// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// minimal is the smallest valid descriptor. %s is a placeholder in the component.
const minimal = `{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/module/a","version":"1.2.3","provider":"us"%s}}`

func with(fields string) string { return fmt.Sprintf(minimal, fields) }

func withResource(old, replacement string) string {
	const r = `{"name":"config","version":"1","type":"yaml","relation":"local","access":{"type":"None"}}`
	return with(`,"resources":[` + strings.Replace(r, old, replacement, 1) + "]")
}

func TestDecodeErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		data   string
		err    string
	}{
		"Minimal":        {reason: "Lists may be left out.", data: with("")},
		"YAML":           {reason: "A descriptor can be YAML.", data: "meta: {schemaVersion: v2}\ncomponent: {name: example.org/a, version: v1, provider: us}\n"},
		"Flow":           {reason: "YAML may look like JSON.", data: "{meta: {schemaVersion: v2}, component: {name: example.org/a, version: v1, provider: us}}"},
		"Tabs":           {reason: "JSON may be indented by tabs, which YAML refuses.", data: "{\n\t" + with("")[1:]},
		"None":           {reason: "A resource may have no content.", data: withResource("", "")},
		"Unknown":        {reason: "Unknown fields are kept, unknown access types read.", data: withResource("None", `x/v9","y":{"z":1},"a":"b`)},
		"SameName":       {reason: "Another version is another resource.", data: with(`,"resources":[{"name":"ab","version":"1","type":"t","relation":"local","access":{"type":"None"}},{"name":"ab","version":"2","type":"t","relation":"local","access":{"type":"None"}}]`)},
		"Empty":          {reason: "Nothing is not a descriptor.", data: "", err: "content is empty"},
		"Text":           {reason: "A single word is not a descriptor.", data: "hello", err: "must be an object, got string"},
		"List":           {reason: "A list is not a descriptor.", data: "[]", err: "must be an object, got array"},
		"NotYAML":        {reason: "The parser says where.", data: "a: [", err: "yaml: line 1"},
		"NotUTF8":        {reason: "Others would read it differently.", data: "a: \xff", err: "must be UTF-8"},
		"DuplicateJSON":  {reason: "Others might take the other value.", data: with(`,"name":"example.org/b"`), err: "duplicate field \"component.name\""},
		"DuplicateYAML":  {reason: "Duplicate keys are also rejected in YAML.", data: "meta: {}\nmeta: {}\n", err: "already set"},
		"Case":           {reason: "Upper case is another field.", data: `{"Meta":{"schemaVersion":"v2"}}`, err: `meta.schemaVersion: invalid value "": must be "v2"`},
		"Schema":         {reason: "Version 3 of OCM is another format.", data: strings.Replace(with(""), `"v2"`, `"v3alpha1"`, 1), err: `meta.schemaVersion: invalid value "v3alpha1": must be "v2"`},
		"Name":           {reason: "A name has a domain.", data: strings.Replace(with(""), "example.org/", "", 1), err: `component.name: invalid value "module/a"`},
		"LongName":       {reason: "The length of a name is limited.", data: strings.Replace(with(""), "module", strings.Repeat("m", 250), 1), err: "must be a name such as example.org/module/name with at most 255 characters"},
		"Version":        {reason: "A version is semantic.", data: strings.Replace(with(""), "1.2.3", "latest", 1), err: `component.version: invalid value "latest"`},
		"Number":         {reason: "YAML makes a number of it.", data: "meta: {schemaVersion: v2}\ncomponent: {name: example.org/a, version: 1.10, provider: us}\n", err: "version: must be of type string, got number"},
		"Provider":       {reason: "There is always a provider.", data: strings.Replace(with(""), `"us"`, `""`, 1), err: "component.provider is missing"},
		"ProviderObject": {reason: "In version 2 it is a string.", data: strings.Replace(with(""), `"us"`, `{"name":"us"}`, 1), err: "component.provider: must be of type string, got object"},
		"Context":        {reason: "A context has a type.", data: with(`,"repositoryContexts":[{}]`), err: "component.repositoryContexts[0]: type is missing"},
		"NullContext":    {reason: "Null is not a context.", data: with(`,"repositoryContexts":[null]`), err: "component.repositoryContexts[0]: is missing"},
		"TwoTypes":       {reason: "Upper case is another field.", data: withResource(`"None"`, `"None","TYPE":"ociBlob"`)},
		"OtherType":      {reason: "The library would take this one.", data: withResource(`"type":"None"`, `"Type":"None"`), err: "component.resources[0].access: type is missing"},
		"NoAccess":       {reason: "Null is not an access.", data: withResource(`{"type":"None"}`, "null"), err: "component.resources[0].access: is missing"},
		"ResourceName":   {reason: "The name of a resource must be lowercase.", data: withResource("config", "Config"), err: "component.resources[0].name: invalid value"},
		"ShortName":      {reason: "The name of a resource has a minimum length.", data: withResource("config", "c"), err: "component.resources[0].name: invalid value"},
		"NoVersion":      {reason: "The library would make one up.", data: withResource(`"1"`, `""`), err: "component.resources[0].version is missing"},
		"NoType":         {reason: "A resource has a type.", data: withResource("yaml", ""), err: "component.resources[0].type is missing"},
		"Relation":       {reason: "There are two relations.", data: withResource("local", "remote"), err: `component.resources[0].relation: invalid value "remote": must be local or external`},
		"Identity":       {reason: "The name is not an extra identity.", data: withResource(`"type":"yaml"`, `"type":"yaml","extraIdentity":{"name":"b"}`), err: `component.resources[0].extraIdentity: invalid key "name"`},
		"Duplicate":      {reason: "A resource is there once.", data: with(`,"resources":[{"name":"ab","version":"1","type":"t","relation":"local","access":{"type":"None"}},{"name":"ab","version":"1","type":"u","relation":"local","access":{"type":"None"}}]`), err: "component.resources[1] has the same identity as component.resources[0]"},
		"Reference":      {reason: "References name components.", data: with(`,"componentReferences":[{"name":"ab","componentName":"b","version":"1"}]`), err: "component.componentReferences[0].componentName: invalid value"},
		"RefVersion":     {reason: "References have a version.", data: with(`,"componentReferences":[{"name":"ab","componentName":"b.org/b"}]`), err: "component.componentReferences[0].version: invalid value"},
		"Signature":      {reason: "A signature must have a name.", data: strings.Replace(with(""), `{"meta"`, `{"signatures":[{}],"meta"`, 1), err: "signatures[0].name is missing"},
		"Large":          {reason: "The size of a descriptor is limited.", data: strings.Repeat(" ", MaxDescriptor+1), err: "larger than the limit of 4194304 bytes"},
		"Values":         {reason: "Values take hundreds of times their length.", data: `{"x":[` + strings.Repeat("0,", maxValues) + "0]}", err: "YAML contains too many values: more than 250000"},
		"Resources":      {reason: "The number of resources is limited.", data: with(`,"resources":[` + strings.Repeat("{},", maxValues) + "{}]"), err: "YAML contains too many values: more than 250000"},
		"Bomb":           {reason: "Aliases must not multiply.", data: bomb(), err: "YAML contains more than 500000 values when its aliases are expanded"},
		"LongBomb":       {reason: "Aliases of long strings are limited, which the library does not do.", data: "a: &a " + strings.Repeat("x", 10000) + "\nb: [" + strings.Repeat("*a, ", 1000) + "*a]", err: "YAML is larger than 4194304 bytes when its aliases are expanded"},
		"LongResource":   {reason: "Names are part of messages.", data: withResource(`"name":"config"`, `"name":"`+strings.Repeat("a", 256)+`"`), err: "component.resources[0].name has 256 characters: must have at most 255"},
		"LongVersion":    {reason: "The length of a version is limited.", data: with(`,"componentReferences":[{"name":"ab","componentName":"b.org/b","version":"1.0.0-` + strings.Repeat("a", 250) + `"}]`), err: "component.componentReferences[0].version has 256 characters"},
		"LongType":       {reason: "The length of a type is limited.", data: withResource(`"type":"yaml"`, `"type":"`+strings.Repeat("a", 256)+`"`), err: "component.resources[0].type has 256 characters"},
		"LongResVersion": {reason: "A resource has a version of its own.", data: withResource(`"version":"1"`, `"version":"`+strings.Repeat("1", 256)+`"`), err: "component.resources[0].version has 256 characters"},
		"LongAccess":     {reason: "The type of an access is one too.", data: withResource(`"type":"None"`, `"type":"`+strings.Repeat("a", 256)+`"`), err: "component.resources[0].access: type has 256 characters"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, err := Decode([]byte(tc.data))
			if tc.err == "" {
				if err != nil {
					t.Errorf("\n%s\nDecode(...): %v", tc.reason, err)
				}
				return
			}
			var invalid *InvalidError
			if !strings.Contains(text(err), tc.err) || !errors.As(err, &invalid) || !isOneLine(err) || d != nil {
				t.Errorf("\n%s\nDecode(...): got %v, error %q (%T), want an InvalidError of one line with %q", tc.reason, d, text(err), err, tc.err)
			}
		})
	}
}

// bomb returns a small YAML document that would expand to gigabytes.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [", i, i)
		b.WriteString(strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", ") + "]\n")
	}
	return b.String()
}

// TestDecodeTemplates reads the descriptors of real module templates.
func TestDecodeTemplates(t *testing.T) {
	type content struct {
		Name, Version, Provider string
		Location                Location
		Resources               []Resource
	}
	local := func(name, typ, version, access, digest, mediaType, algorithm string) Resource {
		return Resource{
			Name: name, Type: typ, Version: version, Relation: "local",
			Digest: &Digest{HashAlgorithm: algorithm, NormalisationAlgorithm: NormalisationBlob, Value: digest},
			Access: Access{Type: access, Digest: "sha256:" + digest, MediaType: mediaType},
		}
	}
	blobs := func(version, chart, crds string) []Resource {
		return []Resource{
			local("config", "yaml", version, AccessLocalOCIBlob, "9d37fb366e4371b44c94496f3db276bd6f3a1019c9d44077b689c68ec6486c1e", "", "sha256"),
			local("crds", "crds", version, AccessLocalOCIBlob, crds, "", "sha256"),
			local("kyma-load-test", "helm-chart", version, AccessLocalOCIBlob, chart, "", "sha256"),
		}
	}
	signedAt := Location{BaseURL: "ghcr.io/ruanxin/signed", Mapping: URLPath}
	skr := content{
		Name: "kyma-project.io/module/manifest1", Version: "v0.0.53", Provider: "internal", Location: signedAt,
		Resources: blobs("v0.0.53", "8a179da0bb4d5b77896f6ef3d4ce853496f45551e44287daa1df3c3e69886bea", "269dddc89f744812789673975a78e419177e5147dd2a55eeeb9154e6c827d830"),
	}

	cases := map[string]content{
		"v1alpha1-example.yaml": {Name: "kyma-project.io/module/example-module-name", Version: "v0.0.37", Provider: "internal", Resources: []Resource{}},
		"v1alpha1-kcp-module.yaml": {
			Name: "kyma-project.io/module/manifest1", Version: "v0.0.48", Provider: "internal", Location: signedAt,
			Resources: blobs("v0.0.48", "2b23d1f79c4fa47488154f1579ccfb9c9d8ecd6c8f16369fd8117a9ede39f2b7", "44499fc31e86bc504cfce0f6cb06d926cf5d3d9d1a000b71a9b2622c0e726042"),
		},
		"v1alpha1-skr-module.yaml":  skr,
		"v1alpha1-skr-module2.yaml": skr,
		"v1beta2-template-operator-current.yaml": {
			Name: "kyma-project.io/module/template-operator", Version: "1.1.1-e2e-test", Provider: "kyma-project.io",
			Location: Location{BaseURL: "europe-west3-docker.pkg.dev/sap-kyma-jellyfish-dev/template-operator", Mapping: URLPath},
			Resources: []Resource{{
				Name: "raw-manifest", Type: "yaml", Version: "1.1.1-e2e-test", Relation: "local",
				Access: Access{Type: AccessLocalBlob, MediaType: "application/octet-stream", Digest: "sha256:1ea2baf45791beafabfee533031b715af8f7a4ffdfbbf30d318f52f7652c36ca"},
			}},
		},
		"v1beta2-template-operator-new.yaml": {
			Name: "kyma-project.io/module/template-operator", Version: "1.0.0-new-ocm-format", Provider: "kyma-project.io",
			Location: Location{BaseURL: "europe-west3-docker.pkg.dev", SubPath: "sap-kyma-jellyfish-dev/template-operator", Mapping: URLPath},
			Resources: []Resource{
				{
					Name: "module-image", Type: "ociArtifact", Version: "1.0.0", Relation: "external",
					Digest: &Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: NormalisationArtifact, Value: "03a194e1dca2421755cec5ec1e946de744407e6e1ca3b671f715fee939e8d1fb"},
					Access: Access{Type: AccessOCIArtifact, Reference: "europe-docker.pkg.dev/kyma-project/prod/template-operator:1.0.0"},
				},
				local("raw-manifest", "directory", "1.0.0", AccessLocalBlob, "d2cc278224a71384b04963a83e784da311a268a2b3fa8732bc31e70ca0c5bc52", "application/x-tar", "SHA-256"),
				local("default-cr", "directory", "1.0.0", AccessLocalBlob, "9230471fa6a62ff7b1549e8d0e9ccb545896fabadf82d2ec4503fc798d2bcd8a", "application/x-tar", "SHA-256"),
				local("associated-resources", "plainText", "1.0.0", AccessLocalBlob, "b46281580f6377bf10672b5a8f156d183d47c0ec3bcda8b807bd8c5d520884bd", "application/octet-stream", "SHA-256"),
			},
		},
	}
	for file, want := range cases {
		t.Run(file, func(t *testing.T) {
			d := decoded(t, read(t, file))
			l, ok := d.Location()
			if ok != (want.Location != Location{}) {
				t.Errorf("Location(): got %t", ok)
			}
			got := content{Name: d.Name(), Version: d.Version(), Provider: d.Provider(), Location: l, Resources: d.Resources()}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Decode(...): -want, +got:\n%s", diff)
			}
			again := decoded(t, d.JSON())
			if diff := cmp.Diff(string(d.JSON()), string(again.JSON())); diff != "" {
				t.Errorf("Decode(JSON()).JSON(): -want, +got:\n%s", diff)
			}
		})
	}
}

// TestAccess reads each type of access, also in the spelling of OCM.
func TestAccess(t *testing.T) {
	cases := map[string]struct {
		reason string
		access string
		want   Access
	}{
		"LocalOCIBlob": {reason: "component-spec writes this access type.", access: `"type":"localOciBlob","digest":"d","localReference":"x"`, want: Access{Type: AccessLocalOCIBlob, Digest: "d"}},
		"LocalBlob":    {reason: "OCM writes this access type with a version.", access: `"type":"localBlob/v1","localReference":"d","mediaType":"m","digest":"x"`, want: Access{Type: AccessLocalBlob, Digest: "d", MediaType: "m"}},
		"OCIBlob":      {reason: "A blob can be in another repository.", access: `"type":"ociBlob","ref":"r","digest":"d","mediaType":"m"`, want: Access{Type: AccessOCIBlob, Reference: "r", Digest: "d", MediaType: "m"}},
		"OCIRegistry":  {reason: "An image is specified by its reference.", access: `"type":"ociRegistry","imageReference":"r"`, want: Access{Type: AccessOCIRegistry, Reference: "r"}},
		"OCIImage":     {reason: "An image as OCM names it today.", access: `"type":"OCIImage/v1","imageReference":"r"`, want: Access{Type: AccessOCIArtifact, Reference: "r"}},
		"Relative":     {reason: "A reference can be relative to the repository.", access: `"type":"relativeOciReference","reference":"r"`, want: Access{Type: AccessRelativeOCI, Reference: "r"}},
		"Helm":         {reason: "A chart can be in a chart repository.", access: `"type":"helmChartRepository","helmChartRepoUrl":"u","helmChartName":"n","helmChartVersion":"v"`, want: Access{Type: AccessHelmChart, ChartURL: "u", ChartName: "n", ChartVersion: "v"}},
		"None":         {reason: "A resource can have no content.", access: `"type":"None"`, want: Access{Type: AccessNone}},
		"Unknown":      {reason: "An unknown access type is kept for the error.", access: `"type":"s3","bucketName":"b","digest":"x"`, want: Access{Type: "s3"}},
		"NoText":       {reason: "A field of another type is as if missing.", access: `"type":"localOciBlob","digest":1`, want: Access{Type: AccessLocalOCIBlob}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := decoded(t, []byte(withResource(`"type":"None"`, tc.access))).Resources()[0].Access
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nAccess: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUnchanged checks that callers cannot change a descriptor through its return values.
func TestUnchanged(t *testing.T) {
	d := decoded(t, []byte(withResource(`"type":"yaml"`, `"type":"yaml","extraIdentity":{"os":"linux"},"digest":{"hashAlgorithm":"a","normalisationAlgorithm":"b","value":"c"}`)))
	want := string(d.JSON())
	d.JSON()[0] = 'x'
	r := d.Resources()[0]
	r.ExtraIdentity["os"] = "other"
	r.Digest.Value = "other"
	if diff := cmp.Diff(want, string(d.JSON())); diff != "" {
		t.Errorf("JSON(): -want, +got:\n%s", diff)
	}
	if got := d.Resources()[0]; got.ExtraIdentity["os"] != "linux" || got.Digest.Value != "c" {
		t.Errorf("Resources(): changed to %+v", got)
	}
}
