// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

func here() ocm.Location {
	return ocm.Location{BaseURL: "localhost:5000/modules", Mapping: ocm.URLPath}
}

func TestFetch(t *testing.T) {
	d := component(t, rootName, []ocm.Resource{resource("chart", []byte("x"))}, nil)
	cases := map[string]struct {
		reason   string
		location ocm.Location
		options  []Option
	}{
		"CNUDIE":     {reason: "component-spec writes this format.", location: here()},
		"CNUDIEJSON": {reason: "The descriptor of component-spec can be plain JSON.", location: here(), options: []Option{JSONDescriptor()}},
		"OCM":        {reason: "OCM writes this format.", location: here(), options: []Option{OCMMediaTypes()}},
		"OCMJSON":    {reason: "The descriptor of OCM can be plain JSON.", location: here(), options: []Option{OCMMediaTypes(), JSONDescriptor()}},
		"SHA256":     {reason: "With hashes for names.", location: ocm.Location{BaseURL: "https://localhost:5000", SubPath: "modules", Mapping: ocm.SHA256Digest}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRegistry()
			digest := r.push(t, tc.location, d, tc.options...)
			for _, reference := range []string{"1.0.0", digest} {
				got, gotDigest, err := Fetch(t.Context(), r, tc.location, rootName, reference)
				if err != nil {
					t.Fatalf("\n%s\nFetch(..., %q): %v", tc.reason, reference, err)
				}
				if diff := cmp.Diff(string(d.JSON()), string(got.JSON())); diff != "" || gotDigest != digest {
					t.Errorf("\n%s\nFetch(..., %q): digest %q, want %q, -want, +got:\n%s", tc.reason, reference, gotDigest, digest, diff)
				}
			}
		})
	}
}

// An artifact is content that a broken registry might contain.
type artifact struct {
	descriptorType string
	layer          []byte
	configType     string
	config         string // %s is the layer.
	limit          int64
}

func (a artifact) push(tb testing.TB, r *fakeRegistry) {
	tb.Helper()
	layer := blobOf(a.descriptorType, a.layer)
	layer.Size = max(layer.Size, a.limit)
	encoded, err := json.Marshal(layer)
	if err != nil {
		tb.Fatal(err)
	}
	config := []byte(strings.ReplaceAll(a.config, "%s", string(encoded)))
	m, err := json.Marshal(manifest{SchemaVersion: 2, Config: blobOf(a.configType, config), Layers: []blob{layer}})
	if err != nil {
		tb.Fatal(err)
	}
	r.pushRaw(tb, here(), rootName, "1.0.0", m, a.layer, config)
}

func tarOf(tb testing.TB, entries ...tar.Header) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range entries {
		content := []byte(h.Linkname)
		if h.Typeflag == tar.TypeReg {
			h.Linkname, h.Size = "", int64(len(content))
		} else {
			content = nil
		}
		if err := w.WriteHeader(&h); err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// file is a file of a tar. The content is in the field for links.
func file(name string, content []byte) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Linkname: string(content), Mode: 0o644}
}

func TestFetchArtifacts(t *testing.T) {
	descriptor := component(t, rootName, nil, nil).JSON()
	other := bytes.Replace(descriptor, []byte(rootName), []byte(leafName), 1)
	newer := bytes.Replace(descriptor, []byte("1.0.0"), []byte("2.0.0"), 1)
	packed := tarOf(t, file(descriptorFile, descriptor))
	const field = `{"componentDescriptorLayer":%s}`
	with := func(layer []byte) artifact { return artifact{CNUDIEDescriptor, layer, CNUDIEConfig, field, 0} }
	of := func(layer []byte) artifact { return artifact{CNUDIEJSON, layer, CNUDIEConfig, field, 0} }

	cases := map[string]struct {
		reason   string
		artifact artifact
		err      string
	}{
		"Legacy":        {reason: "The oldest media types are read.", artifact: artifact{legacyDescriptor, packed, legacyConfig, field, 0}},
		"Slash":         {reason: "component-spec wrote an absolute path for long.", artifact: with(tarOf(t, file("/"+descriptorFile, descriptor)))},
		"Dot":           {reason: "tar itself writes a dot.", artifact: with(tarOf(t, file("./"+descriptorFile, descriptor)))},
		"GlobalHeader":  {reason: "Comments do not count.", artifact: with(tarOf(t, tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "x"}}, file(descriptorFile, descriptor)))},
		"Dir":           {reason: "Nothing else is in the tar.", artifact: with(tarOf(t, tar.Header{Typeflag: tar.TypeDir, Name: "a/"}, file(descriptorFile, descriptor))), err: `unexpected entry "a/": the archive must contain only the file component-descriptor.yaml`},
		"OtherFile":     {reason: "Another file is none.", artifact: with(tarOf(t, file("blobs/"+descriptorFile, descriptor))), err: `unexpected entry "blobs/component-descriptor.yaml"`},
		"Climbing":      {reason: "No path leads up.", artifact: with(tarOf(t, file("../"+descriptorFile, descriptor))), err: `unexpected entry "../component-descriptor.yaml"`},
		"Link":          {reason: "A link is not a file.", artifact: with(tarOf(t, tar.Header{Typeflag: tar.TypeSymlink, Name: descriptorFile, Linkname: "/etc/passwd"})), err: "the archive must contain only the file"},
		"Twice":         {reason: "Readers might take either.", artifact: with(tarOf(t, file(descriptorFile, descriptor), file("/"+descriptorFile, other))), err: "twice"},
		"EmptyTar":      {reason: "A tar may be empty.", artifact: with(tarOf(t)), err: "the archive does not contain component-descriptor.yaml"},
		"CutOff":        {reason: "A tar may be cut off.", artifact: with(packed[:600]), err: "the archive is truncated"},
		"NoTar":         {reason: "The media type must be right.", artifact: with(descriptor), err: "not a tar archive, or the archive is damaged"},
		"Bomb":          {reason: "The file is bounded.", artifact: with(tarOf(t, file(descriptorFile, make([]byte, ocm.MaxDescriptor+1)))), err: "larger than the limit of 4194304 bytes"},
		"Large":         {reason: "The layer is bounded, before it is pulled.", artifact: artifact{CNUDIEJSON, descriptor, CNUDIEConfig, field, maxLayer + 1}, err: "cannot read the layer of the component descriptor: content is larger than the limit"},
		"LyingSize":     {reason: "The limit applies even if the declared size is wrong.", artifact: of(make([]byte, maxLayer+1)), err: "larger than the limit"},
		"Descriptor":    {reason: "The content of the layer is validated.", artifact: of([]byte("{}")), err: "cannot read component descriptor: meta.schemaVersion"},
		"Name":          {reason: "A registry must not swap components.", artifact: of(other), err: `contains a different component: "kyma-project.io/module/leaf"`},
		"Version":       {reason: "The version must match.", artifact: of(newer), err: `refers to a different version: "2.0.0"`},
		"LayerType":     {reason: "A layer has a known type.", artifact: artifact{"application/x", descriptor, CNUDIEConfig, field, 0}, err: `the layer of the descriptor has type "application/x"`},
		"ConfigType":    {reason: "An image is not a component.", artifact: artifact{CNUDIEJSON, descriptor, "application/vnd.oci.image.config.v1+json", field, 0}, err: `not a component: the config has type "application/vnd.oci.image.config.v1+json"`},
		"NoConfig":      {reason: "An index is not a component.", artifact: artifact{CNUDIEJSON, descriptor, "", field, 0}, err: "and no config"},
		"NoField":       {reason: "The config says which layer it is.", artifact: artifact{CNUDIEJSON, descriptor, CNUDIEConfig, "{}", 0}, err: "the config has no field componentDescriptorLayer.digest"},
		"NullField":     {reason: "Null has the same effect as a missing field.", artifact: artifact{CNUDIEJSON, descriptor, OCMConfig, `{"componentDescriptorLayer":null}`, 0}, err: "the config has no field componentDescriptorLayer.digest"},
		"NoJSON":        {reason: "The config is JSON.", artifact: artifact{CNUDIEJSON, descriptor, CNUDIEConfig, "x", 0}, err: "the config is not valid JSON"},
		"OtherLayer":    {reason: "The manifest has the layer.", artifact: artifact{CNUDIEJSON, descriptor, CNUDIEConfig, `{"componentDescriptorLayer":{"digest":"sha256:0"}}`, 0}, err: "which is not in the manifest"},
		"LargeConfig":   {reason: "The config is bounded.", artifact: artifact{CNUDIEJSON, descriptor, CNUDIEConfig, strings.Repeat(" ", maxConfig+1), 0}, err: "cannot read the config of the component: content is larger than the limit"},
		"AnotherFormat": {reason: "Bare YAML is read where JSON is expected.", artifact: of([]byte("meta: {schemaVersion: v2}\ncomponent: {name: " + rootName + ", version: 1.0.0, provider: us}\n"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRegistry()
			tc.artifact.push(t, r)
			_, _, err := Fetch(t.Context(), r, here(), rootName, "1.0.0")
			var invalid *ocm.InvalidError
			if (tc.err == "") != (err == nil) || !strings.Contains(text(err), tc.err) || err != nil && !errors.As(err, &invalid) || !isOneLine(err) {
				t.Errorf("\n%s\nFetch(...): error %q (%T), want an InvalidError of one line with %q", tc.reason, text(err), err, tc.err)
			}
		})
	}
}

// A liar returns content that does not match its digest.
type liar struct {
	*fakeRegistry

	manifest, blob bool
}

func (l liar) Manifest(ctx context.Context, repository, reference string) (data []byte, digest string, err error) {
	data, digest, err = l.fakeRegistry.Manifest(ctx, repository, reference)
	if l.manifest {
		data = append([]byte(" "), data...)
	}
	return data, digest, err
}

func (l liar) Blob(ctx context.Context, repository, digest string) ([]byte, error) {
	data, err := l.fakeRegistry.Blob(ctx, repository, digest)
	if l.blob {
		data = append([]byte(" "), data...)
	}
	return data, err
}

func TestFetchErrors(t *testing.T) {
	r := newRegistry()
	digest := r.push(t, here(), component(t, rootName, nil, nil))
	cases := map[string]struct {
		reason    string
		registry  Registry
		location  ocm.Location
		component string
		reference string
		invalid   bool
		err       string
	}{
		"Missing":      {reason: "Errors of the registry are its own.", registry: r, location: here(), component: rootName, reference: "2.0.0", err: `cannot fetch component "kyma-project.io/module/root" "2.0.0": no manifest "2.0.0" in "localhost:5000/modules/component-descriptors/kyma-project.io/module/root"`},
		"Location":     {reason: "A location is checked.", registry: r, component: rootName, reference: "1.0.0", invalid: true, err: "has no host"},
		"Tag":          {reason: "A version is checked.", registry: r, location: here(), component: rootName, reference: "sha512:00", invalid: true, err: "cannot be used as a tag"},
		"Manifest":     {reason: "Manifests are checked, whatever the registry checked.", registry: liar{r, true, false}, location: here(), component: rootName, reference: digest, invalid: true, err: "the manifest has digest"},
		"ManifestTag":  {reason: "The manifest of a tag is verified, too.", registry: liar{r, true, false}, location: here(), component: rootName, reference: "1.0.0", invalid: true, err: "the manifest has digest"},
		"Blob":         {reason: "Blobs are checked too.", registry: liar{r, false, true}, location: here(), component: rootName, reference: digest, invalid: true, err: "cannot read the config of the component: digest mismatch: blob sha256:"},
		"OtherDigest":  {reason: "Nothing is under another digest.", registry: r, location: here(), component: rootName, reference: digestOfBlob(nil), err: "no manifest"},
		"BadComponent": {reason: "A component is checked.", registry: r, location: here(), component: "a b", reference: "1.0.0", invalid: true, err: "is not a valid repository path"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := Fetch(t.Context(), tc.registry, tc.location, tc.component, tc.reference)
			var invalid *ocm.InvalidError
			if err == nil || !strings.Contains(text(err), tc.err) || errors.As(err, &invalid) != tc.invalid {
				t.Errorf("\n%s\nFetch(...): error %q (%T), want one with %q, an InvalidError: %t", tc.reason, text(err), err, tc.err, tc.invalid)
			}
		})
	}
}

// FuzzUnpackDescriptor checks that no tar causes harm, and that only a file with the right name is returned.
func FuzzUnpackDescriptor(f *testing.F) {
	good, err := packDescriptor([]byte("{}"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:700])
	f.Add(tarOf(f, file("../"+descriptorFile, []byte("x")), file(descriptorFile, []byte("y"))))
	f.Add(tarOf(f, tar.Header{Typeflag: tar.TypeSymlink, Name: descriptorFile, Linkname: "/etc/passwd"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data))()
		out, err := unpackDescriptor(data)
		if err == nil && (len(out) > ocm.MaxDescriptor || !bytes.Contains(data, []byte(descriptorFile))) {
			t.Errorf("unpackDescriptor(...): got %d bytes of %d", len(out), len(data))
		}
	})
}
