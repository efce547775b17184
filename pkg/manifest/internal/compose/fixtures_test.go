// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// layerOf returns a layer of files, given as pairs of a name and a text.
func layerOf(pairs ...string) source.Layer {
	var files []source.File
	for i := 0; i+1 < len(pairs); i += 2 {
		files = append(files, source.File{Name: pairs[i], Data: []byte(pairs[i+1])})
	}
	digest := strings.Join(pairs, "\x00")
	return source.Layer{Digest: digest, Fetch: func(context.Context) (source.Content, error) {
		return source.Content{Digest: digest, Files: func() ([]source.File, error) { return files, nil }}, nil
	}}
}

// chartOf returns an install of a chart with templates.
func chartOf(name string, templates ...string) bundle.Install {
	files := []string{"Chart.yaml", "{apiVersion: v2, name: " + name + ", version: 1.0.0}"}
	for i, text := range templates {
		files = append(files, fmt.Sprintf("templates/%d.yaml", i), text)
	}
	return bundle.Install{Name: name, Namespace: "apps", Layer: layerOf(files...)}
}

// plainOf returns an install of plain objects.
func plainOf(name string, texts ...string) bundle.Install {
	var files []string
	for i, text := range texts {
		files = append(files, fmt.Sprintf("%d.yaml", i), text)
	}
	return bundle.Install{Name: name, Namespace: "apps", Form: bundle.FormPlain, Layer: layerOf(files...)}
}

func configMap(name string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}}"
}

// textOf returns the text of an error; empty for nil.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A target knows a few kinds, and those that it learns.
type target struct {
	kinds map[schema.GroupVersionKind]cluster.Mapping
	asked []string
}

func (c *target) Mapping(_ context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error) {
	if m, ok := c.kinds[gvk]; ok {
		return m, nil
	}
	switch gvk.Kind {
	case "ConfigMap", "Job", "Secret", "Deployment":
		return cluster.Mapping{Resource: strings.ToLower(gvk.Kind) + "s", Namespaced: true}, nil
	case "Namespace", "CustomResourceDefinition":
		return cluster.Mapping{Resource: strings.ToLower(gvk.Kind) + "s"}, nil
	}
	return cluster.Mapping{}, &cluster.NoKindError{GVK: gvk}
}

func (c *target) AddMapping(gvk schema.GroupVersionKind, m cluster.Mapping) {
	if c.kinds == nil {
		c.kinds = map[schema.GroupVersionKind]cluster.Mapping{}
	}
	c.kinds[gvk] = m
}

func (c *target) Version(context.Context) (string, error) {
	c.asked = append(c.asked, "version")
	return "v1.36.0", nil
}

func (c *target) APIVersions(context.Context) ([]string, error) {
	c.asked = append(c.asked, "API versions")
	return []string{"example.org/v1"}, nil
}

// history has the same revision at each number, in the given state, and rolls back to backTo.
type history struct {
	state    release.RevisionState
	recorded *record.Info
	backTo   int
	err      error
}

func (h *history) Next(_ context.Context, _ *release.Wanted, rec inventory.Part) (release.Next, inventory.Part, error) {
	return release.Next{State: h.state, Number: rec.Revision + 1, Before: rec.Revision}, rec, h.err
}

func (h *history) FindRollback(_ context.Context, _ inventory.Release, _ inventory.Inputs, pure bool) (int, string, error) {
	if h.backTo == 0 || pure {
		return h.backTo, "", nil
	}
	return h.backTo, h.recorded.Manifest, nil
}

func (h *history) Get(context.Context, inventory.Release, int) (*record.Info, error) {
	return h.recorded, nil
}

// composerOf returns a Composer for a bundle and an empty cluster.
func composerOf(b *bundle.Bundle) *Composer {
	return &Composer{
		Bundle: b, Config: NewConfig(b), Environment: &target{}, Releases: &history{}, Renderer: InProcess{}, Caches: NewCaches(),
		Inventory: cluster.ObjectRef{Kind: "Secret", Namespace: "kyma-system", Name: b.Name},
		Labels:    map[string]string{object.LabelPartOf: "me"},
	}
}

// refs returns the references of objects in their order.
func refs(objects []object.Desired) []string {
	var out []string
	for i := range objects {
		out = append(out, objects[i].Ref.String())
	}
	return out
}

func unmarshal(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	objects, err := yamldoc.Objects([]byte(text))
	if err != nil || len(objects) != 1 {
		t.Fatalf("not one object: %v, %s", err, text)
	}
	return objects[0]
}

// sortedKeys returns the keys of a map.
func sortedKeys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// partOf returns a part of a bundle by its ID. The digest of its inputs is "equal".
func partOf(t *testing.T, b *bundle.Bundle, id object.PartID) *bundle.Part {
	t.Helper()
	parts := b.Outline()
	for i := range parts {
		if parts[i].Name == id {
			parts[i].Digest = "equal"
			return &parts[i]
		}
	}
	t.Fatalf("the bundle has no part %s", id)
	return nil
}

// labelsOf returns the labels of an object as it is sent.
func labelsOf(t *testing.T, o *object.Desired) map[string]string {
	t.Helper()
	labels, _, err := unstructured.NestedStringMap(o.Content(), "metadata", "labels")
	if err != nil {
		t.Fatal(err)
	}
	return labels
}
