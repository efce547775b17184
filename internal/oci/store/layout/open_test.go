// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	theirlayout "github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
)

// TestLayoutForeign checks that layouts of other tools can be read.
func TestLayoutForeign(t *testing.T) {
	base := newLayout(t, t.TempDir())
	one := storetest.Artifact(t, base, "x", "one", 1, nil)
	two := storetest.Artifact(t, base, "y", "two", 1, nil)
	index := storetest.Multi(t, base, "z")
	single := storetest.PutManifest(t, base, map[string]any{"schemaVersion": 2, "mediaType": v1.MediaTypeImageIndex, "manifests": []any{
		map[string]any{"mediaType": one.MediaType, "digest": one.Digest, "size": one.Size},
		map[string]any{"mediaType": two.MediaType, "digest": two.Digest, "size": two.Size, "annotations": map[string]any{"vnd.docker.reference.type": "attestation-manifest"}},
	}}, "w")
	mustClose(t, base)
	named := func(d v1.Descriptor, pairs ...string) v1.Descriptor {
		d.Annotations = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			d.Annotations[pairs[i]] = pairs[i+1]
		}
		return d
	}
	cases := map[string]struct {
		reason  string
		entries []v1.Descriptor
		tag     string
		tags    []string
		digest  string
		err     string
	}{
		"Crane":      {reason: "Crane writes no tag.", entries: []v1.Descriptor{one}, tags: []string{}, digest: string(one.Digest)},
		"Skopeo":     {reason: "Skopeo writes a tag.", entries: []v1.Descriptor{named(one, v1.AnnotationRefName, "1.0")}, tag: "1.0", tags: []string{"1.0"}, digest: string(one.Digest)},
		"Full":       {reason: "Some tools write a whole reference.", entries: []v1.Descriptor{named(one, v1.AnnotationRefName, "reg.example.org/a/b:1.0")}, tag: "1.0", tags: []string{"1.0"}, digest: string(one.Digest)},
		"Containerd": {reason: "Containerd writes both.", entries: []v1.Descriptor{named(one, v1.AnnotationRefName, "1.0", containerdName, "reg.example.org/a/b:1.0")}, tag: "1.0", tags: []string{"1.0"}, digest: string(one.Digest)},
		"Docker":     {reason: "Docker writes only the reference.", entries: []v1.Descriptor{named(one, containerdName, "docker.io/a/b:1.0")}, tag: "1.0", tags: []string{"1.0"}, digest: string(one.Digest)},
		"Nested":     {reason: "An index of a single manifest stands for the manifest.", entries: []v1.Descriptor{named(single, v1.AnnotationRefName, "1.0")}, tag: "1.0", tags: []string{"1.0"}, digest: string(one.Digest)},
		"Multi":      {reason: "An index of several stays one.", entries: []v1.Descriptor{index}, tags: []string{}, digest: string(index.Digest)},
		"Parts":      {reason: "Parts of an index are not the root.", entries: append([]v1.Descriptor{one}, single), tags: []string{}, digest: string(one.Digest)},
		"Odd":        {reason: "A name that is not a tag.", entries: []v1.Descriptor{named(one, v1.AnnotationRefName, "a b/c")}, tags: []string{}, digest: string(one.Digest)},
		"Empty":      {reason: "A layout without entries is an error.", tags: []string{}, err: "has no manifest"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(base.path)); err != nil {
				t.Fatal(err)
			}
			i := newIndex()
			i.Manifests = tc.entries
			data, err := i.encode()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, indexFile), data, 0o644); err != nil {
				t.Fatal(err)
			}
			l := openLayout(t, dir)
			tag, digest, err := l.Root(t.Context())
			if tag != tc.tag || digest != tc.digest || !strings.Contains(text(err), tc.err) || tc.err == "" && err != nil {
				t.Errorf("\n%s\nRoot(): %q, %q, %v; want %q, %q, %q", tc.reason, tag, digest, err, tc.tag, tc.digest, tc.err)
			}
			tags, err := l.Tags(t.Context())
			if diff := cmp.Diff(tc.tags, tags); diff != "" || err != nil {
				t.Errorf("\n%s\nTags(): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestLayoutInterop checks that the library of crane can read our layouts, and vice versa.
func TestLayoutInterop(t *testing.T) {
	image, err := random.Image(2000, 3)
	if err != nil {
		t.Fatal(err)
	}
	theirs := filepath.Join(t.TempDir(), "theirs")
	p, err := theirlayout.Write(theirs, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.AppendImage(image, theirlayout.WithAnnotations(map[string]string{v1.AnnotationRefName: "1.0"})); err != nil {
		t.Fatal(err)
	}
	want, _ := image.Digest()
	ours := filepath.Join(t.TempDir(), "ours")
	l := newLayout(t, ours)
	got, err := store.Copy(t.Context(), openLayout(t, theirs), "1.0", l, store.CopyOptions{Tag: "1.0"})
	if err != nil || got.Digest != want.String() {
		t.Fatalf("Copy(...): %+v, %v", got, err)
	}
	// Add to a layout that the library has written.
	l = newLayout(t, theirs)
	storetest.Artifact(t, l, "2.0", "two", 1, nil)
	for _, dir := range []string{ours, theirs} {
		index, err := theirlayout.ImageIndexFromPath(dir)
		if err != nil {
			t.Fatal(err)
		}
		image, err := index.Image(want)
		if err != nil {
			t.Fatal(err)
		}
		layers, err := image.Layers()
		if err != nil || len(layers) != 3 {
			t.Fatalf("%d layers, %v", len(layers), err)
		}
		for _, layer := range layers {
			r, err := layer.Uncompressed()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Error(err)
			}
		}
	}
	// The output of older versions of docker save is not a layout.
	old := filepath.Join(t.TempDir(), "old.tar")
	if err := tarball.WriteToFile(old, nil, image); err != nil || Exists(old) {
		t.Errorf("Exists(%s): want false", old)
	}
}

func tarOf(t testing.TB, headers ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		content := h.Linkname
		if h.Typeflag == tar.TypeReg {
			h.Linkname, h.Size = "", int64(len(content))
		} else {
			content = ""
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.tar")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenLayout(t *testing.T) {
	file := func(name, content string) tar.Header {
		return tar.Header{Name: name, Linkname: content, Typeflag: tar.TypeReg}
	}
	link := func(name, to string) tar.Header {
		return tar.Header{Name: name, Linkname: to, Typeflag: tar.TypeSymlink}
	}
	blob := "blobs/sha256/" + strings.TrimPrefix(oci.DigestOf([]byte("x")), "sha256:")
	cut := tarOf(t, file(layoutFile, layoutContent), file(indexFile, strings.Repeat(" ", 5000)))
	if err := os.Truncate(cut, 3000); err != nil {
		t.Fatal(err)
	}
	evil := t.TempDir()
	for name, to := range map[string]string{layoutFile: "/etc/passwd", indexFile: "/etc/passwd"} {
		if err := os.Symlink(to, filepath.Join(evil, name)); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason string
		path   string
		err    string
	}{
		"Good":      {reason: "Names may begin with ./", path: tarOf(t, file("./oci-layout", layoutContent), file("./index.json", `{"schemaVersion":2}`), file(blob, "x"))},
		"Nothing":   {reason: "A missing directory is an error.", path: filepath.Join(t.TempDir(), "no"), err: "has no image layout"},
		"Dir":       {reason: "A directory without a layout is refused.", path: t.TempDir(), err: "file oci-layout is missing"},
		"Other":     {reason: "A tar archive without a layout is refused.", path: tarOf(t, file("x", "y")), err: "file oci-layout is missing"},
		"Version":   {reason: "A version that is not yet.", path: tarOf(t, file(layoutFile, `{"imageLayoutVersion":"2.0.0"}`)), err: "version"},
		"JSON":      {reason: "The layout file must be valid JSON.", path: tarOf(t, file(layoutFile, `{`)), err: "not valid JSON"},
		"Large":     {reason: "The size of the layout file is limited.", path: tarOf(t, file(layoutFile, strings.Repeat(" ", 5000))), err: "larger than the limit"},
		"Link":      {reason: "Links are refused.", path: tarOf(t, file(layoutFile, layoutContent), link(blob, "/etc/passwd")), err: "is not a regular file"},
		"OtherLink": {reason: "Links that the layout does not use are ignored.", path: tarOf(t, file(layoutFile, layoutContent), file(indexFile, `{"schemaVersion":2}`), link("a/layer.tar", "../b"))},
		"Twice":     {reason: "A file must not occur twice.", path: tarOf(t, file(layoutFile, layoutContent), file(indexFile, "{}"), file("./index.json", "{}")), err: "twice"},
		"Cut":       {reason: "A tar that is cut off.", path: cut, err: "the archive is truncated in entry"},
		"Climbing":  {reason: "Links of a directory do not leave it.", path: evil, err: "path escapes"},
		"Index":     {reason: "The index must be valid.", path: tarOf(t, file(layoutFile, layoutContent), file(indexFile, `{"schemaVersion":2,"manifests":[{"digest":"sha256:../../x"}]}`)), err: "malformed digest"},
		"NoIndex":   {reason: "The index must exist.", path: tarOf(t, file(layoutFile, layoutContent)), err: "has no index.json"},
		"Lie":       {reason: "A blob that is another one.", path: tarOf(t, file(layoutFile, layoutContent), file(blob, "y"), file(indexFile, `{"schemaVersion":2,"manifests":[{"digest":"`+oci.DigestOf([]byte("x"))+`","size":1}]}`)), err: "digest mismatch"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, err := Open(tc.path)
			if err == nil {
				_, _, err = l.Root(t.Context())
				mustClose(t, l)
			}
			var missing *store.NotFoundError
			if tc.err == "" && errors.As(err, &missing) {
				err = nil
			}
			if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nOpenLayout(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
		})
	}
}

func FuzzParseIndex(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"manifests":[{"mediaType":"x","digest":"sha256:` + strings.Repeat("0", 64) + `","size":1,"annotations":{"org.opencontainers.image.ref.name":"a/b:c"}}]}`))
	f.Add([]byte(`{"schemaVersion":2,"manifests":[{},{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(data))()
		i, err := parseIndex(data)
		if err != nil {
			return
		}
		for _, tag := range i.tags() {
			if _, err := i.find(tag); err != nil && !strings.Contains(err.Error(), "several") {
				t.Error(err)
			}
		}
		one, err := i.encode()
		if err != nil {
			t.Skip()
		}
		again, err := parseIndex(one)
		if err != nil {
			t.Fatal(err)
		}
		two, err := again.encode()
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("encode(): %s, then %s, %v", one, two, err)
		}
	})
}

func FuzzOpenLayout(f *testing.F) {
	dir := f.TempDir()
	for _, name := range []string{"a.tar", "a.tgz"} {
		l, err := Create(f.Context(), filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		storetest.Artifact(f, l, "1", "x", 1, nil)
		mustClose(f, l)
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data))()
		path := filepath.Join(dir, "fuzz")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path)
		if err != nil {
			return
		}
		defer l.Close()
		_, digest, err := l.Root(t.Context())
		if err != nil {
			return
		}
		m, got, err := l.Manifest(t.Context(), digest)
		if err == nil && (got != digest || oci.DigestOf(m) != digest) {
			t.Errorf("Manifest(%s): %s", digest, got)
		}
	})
}
