// SPDX-License-Identifier: Apache-2.0

package build

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

var pin = strings.Repeat("0123456789abcdef", 4)

// buildOf builds a definition without changes.
func buildOf(t *testing.T, d *definition.Definition, fsys fs.FS) (*Module, *Artifact) {
	t.Helper()
	m, err := Build(t.Context(), d, fsys)
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Artifact(m.Descriptor)
	if err != nil {
		t.Fatal(err)
	}
	return m, a
}

func TestImageResource(t *testing.T) {
	pinned := ocm.Digest{HashAlgorithm: ocm.HashSHA256, NormalisationAlgorithm: ocm.NormalisationArtifact, Value: pin}
	cases := map[string]struct {
		reason, image, name, version string
		digest                       ocm.Digest
	}{
		"Tag":      {"The tag is the version, and no signature covers it.", "example.org:5000/team/web:1.2.3", "image-web", "1.2.3", ocm.Excluded()},
		"Digest":   {"A signature covers the digest.", "example.org/web@sha256:" + pin, "image-web", "", pinned},
		"Both":     {"A tag and a digest are both kept.", "example.org/web:v1.2@sha256:" + pin, "image-web", "v1.2", pinned},
		"Short":    {"An image may have neither a tag nor a digest.", "nginx", "image-nginx", "", ocm.Excluded()},
		"Latest":   {"A tag that is not a version is omitted.", "nginx:latest", "image-nginx", "", ocm.Excluded()},
		"Name":     {"A resource has a simpler name than an image.", "a/my_web.app:1.0.0", "image-my-web-app", "1.0.0", ocm.Excluded()},
		"Nonsense": {"If nothing remains of the name, a default name is used.", "/:", "image", "", ocm.Excluded()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := ocm.Resource{
				Name: tc.name, Version: tc.version, Type: "ociImage", Relation: "external",
				Access: ocm.Access{Type: ocm.AccessOCIArtifact, Reference: tc.image}, Digest: &tc.digest,
			}
			if diff := cmp.Diff(want, imageResource(tc.image)); diff != "" {
				t.Errorf("\n%s\nimageResource(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWithImages(t *testing.T) {
	resource := func(name, kind, reference string) part {
		return part{resource: ocm.Resource{Name: name, Type: kind, Access: ocm.Access{Reference: reference}}}
	}
	cases := map[string]struct {
		reason string
		parts  []part
		images []string
		want   []string
	}{
		"None":     {reason: "Without images, nothing is added.", parts: []part{resource("web", typeChart, "")}, want: []string{"web "}},
		"SameName": {reason: "Resources for images have unique names.", images: []string{"a/web:1", "b/web:1", "b/web:2"}, want: []string{"image-web a/web:1", "image-web-2 b/web:1", "image-web-3 b/web:2"}},
		"Install": {
			reason: "The name of an install is kept.", parts: []part{resource("image-web", typeChart, "")}, images: []string{"web:1"},
			want: []string{"image-web ", "image-web-2 web:1"},
		},
		"Replaced": {
			reason: "The list of images of a base is replaced.", parts: []part{resource("image-web", typeImage, "web:1"), resource("image", typeImage, "base:1")},
			images: []string{"web:2"}, want: []string{"image-web web:2", "image base:1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range withImages(tc.parts, tc.images) {
				got = append(got, p.resource.Name+" "+p.resource.Access.Reference)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nwithImages(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestListImages checks that a descriptor lists the images of charts, their hooks, and manifests, but only if listImages is
// set.
func TestListImages(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: NAME\n  annotations: {HOOK}\nspec:\n  containers: [{name: a, image: \"IMAGE\"}]\n"
	object := func(name, hook, image string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.NewReplacer("NAME", name, "HOOK", hook, "IMAGE", image).Replace(pod))}
	}
	fsys := fstest.MapFS{
		"c/Chart.yaml":          {Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")},
		"c/values.yaml":         {Data: []byte("tag: 1.2.3\n")},
		"c/templates/a.yaml":    object("a", "", "example.org/web:{{ .Values.tag }}"),
		"c/templates/hook.yaml": object("b", "helm.sh/hook: pre-install", "example.org/migrate@sha256:"+pin),
		"more.yaml":             object("c", "", "example.org/web:1.2.3"),
	}
	d := definition.Definition{
		Name: "example.org/module/web", Version: "1.0.0", Charts: []definition.Chart{{Path: "c"}}, Manifests: []definition.Manifest{{Path: "more.yaml"}},
	}
	list := func(m *Module) []string {
		var out []string
		for _, r := range m.Descriptor.Resources() {
			if r.Type == typeImage {
				out = append(out, r.Name+" "+r.Version+" "+r.Access.Reference)
			}
		}
		return out
	}
	m, plain := buildOf(t, &d, fsys)
	if got := list(m); len(got) > 0 {
		t.Errorf("without listImages: got %v", got)
	}
	d.ListImages = true
	m, listed := buildOf(t, &d, fsys)
	want := []string{"image-migrate 1.0.0 example.org/migrate@sha256:" + pin, "image-web 1.2.3 example.org/web:1.2.3"}
	if diff := cmp.Diff(want, list(m)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if plain.Digest == listed.Digest {
		t.Error("the digest is the same")
	}
	if _, again := buildOf(t, &d, fsys); again.Digest != listed.Digest {
		t.Errorf("built again: %s, want %s", again.Digest, listed.Digest)
	}
}
