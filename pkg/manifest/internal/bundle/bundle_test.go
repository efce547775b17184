// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// web returns a valid install.
func web() Install {
	return Install{Name: "web", Namespace: "apps", Layer: source.Layer{Digest: "d"}}
}

func resource(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"kind": "Widget", "metadata": map[string]any{"name": name}}}
}

// textOf returns the text of an error; empty for nil.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestID(t *testing.T) {
	cases := map[string]struct {
		reason          string
		name, namespace string
		want            string
	}{
		// sha256 of "team-a-web.kyma-system.Secret.", base64 for URLs without padding.
		"Spec": {reason: "KEP-3659 specifies how the ID is derived.", name: "team-a-web", namespace: "kyma-system", want: "applyset-avNIsNPAqJ-K-AGRbzQrd7Salf78lg0sMuS4mrJSUFc-v1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, (&Bundle{Name: tc.name}).ID(tc.namespace)); diff != "" {
				t.Errorf("\n%s\nID(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestParts(t *testing.T) {
	config := &source.Layer{Digest: "c"}
	crds := &source.Layer{Digest: "x"}
	other := web()
	other.Name = "other"
	type part struct {
		Name, Title                     string
		CRDs, Install, Config, Resource bool
	}
	cases := map[string]struct {
		reason string
		bundle Bundle
		want   []part
	}{
		"Empty": {reason: "A bundle may have no parts.", bundle: Bundle{}},
		"All": {
			reason: "CRDs come first, then the installs in their order, and the custom resource last. Only installs have the config.",
			bundle: Bundle{CRDs: crds, Config: config, Installs: []Install{web(), other}, Resource: resource("r")},
			want: []part{
				{Name: "crds:", Title: "crds", CRDs: true}, {Name: "web", Title: "web", Install: true, Config: true},
				{Name: "other", Title: "other", Install: true, Config: true}, {Name: "resource:", Title: "resource", Resource: true},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parts, err := tc.bundle.Parts()
			if err != nil {
				t.Fatal(err)
			}
			var got []part
			for i := range parts {
				p := &parts[i]
				got = append(got, part{
					Name: string(p.Name), Title: p.Name.String(), CRDs: p.CRDs != nil, Install: p.Install != nil, Config: p.Config != nil, Resource: p.Resource != nil,
				})
				if p.Digest == "" {
					t.Errorf("%s has no digest", p.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nParts(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDigests checks which changes of a bundle cause a part to be applied again.
func TestDigests(t *testing.T) {
	transform := func(digest string) Transform {
		return Transform{Digest: digest, Func: func(context.Context, *unstructured.Unstructured) error { return nil }}
	}
	base := func() *Bundle {
		return &Bundle{
			Name: "web", Owner: "me", Labels: map[string]string{"team": "a"}, CRDs: &source.Layer{Digest: "x"}, Config: &source.Layer{Digest: "c"},
			Installs: []Install{web()}, Resource: resource("r"), Transforms: []Transform{transform("t1"), transform("t2")},
		}
	}
	all := []string{"crds:", "web", "resource:"}
	cases := map[string]struct {
		reason string
		change func(b *Bundle)
		want   []string
	}{
		"Nothing":    {reason: "Equal inputs have equal digests.", change: func(*Bundle) {}},
		"Name":       {reason: "The name is not part of the objects.", change: func(b *Bundle) { b.Name, b.Owner = "other", "you" }},
		"Adopt":      {reason: "Adoption does not change objects.", change: func(b *Bundle) { b.Adopt = true }},
		"Readiness":  {reason: "Rules are evaluated without applying anything.", change: func(b *Bundle) { b.Readiness = []Rule{{CEL: "true"}} }},
		"Policies":   {reason: "Policies do not change objects.", change: func(b *Bundle) { b.Drift, b.Recreate = DriftReport, true }},
		"Path":       {reason: "A path at its default is left out.", change: func(b *Bundle) { b.Installs[0].Path = "." }},
		"Labels":     {reason: "Other labels are applied to all objects.", change: func(b *Bundle) { b.Labels["team"] = "b" }, want: all},
		"Transform":  {reason: "Another transform changes all objects.", change: func(b *Bundle) { b.Transforms[0].Digest = "t3" }, want: all},
		"Order":      {reason: "A different order of transforms changes all objects.", change: func(b *Bundle) { b.Transforms[0], b.Transforms[1] = b.Transforms[1], b.Transforms[0] }, want: all},
		"Transforms": {reason: "Removing the transforms changes all objects.", change: func(b *Bundle) { b.Transforms = nil }, want: all},
		"CRDs":       {reason: "Other CRDs are applied.", change: func(b *Bundle) { b.CRDs.Digest = "y" }, want: []string{"crds:"}},
		"Digest":     {reason: "Other content is applied.", change: func(b *Bundle) { b.Installs[0].Digest = "e" }, want: []string{"web"}},
		"Values":     {reason: "Other values are applied.", change: func(b *Bundle) { b.Installs[0].Values = map[string]any{"a": int64(1)} }, want: []string{"web"}},
		"Namespace":  {reason: "Another namespace is applied.", change: func(b *Bundle) { b.Installs[0].Namespace = "other" }, want: []string{"web"}},
		"Form":       {reason: "Another form is applied.", change: func(b *Bundle) { b.Installs[0].Form = FormKustomize }, want: []string{"web"}},
		"Config":     {reason: "A config belongs to installs only.", change: func(b *Bundle) { b.Config.Digest = "d" }, want: []string{"web"}},
		"Resource":   {reason: "Another custom resource is applied.", change: func(b *Bundle) { b.Resource = resource("s") }, want: []string{"resource:"}},
	}
	digests := func(b *Bundle) map[string]inventory.Inputs {
		out := map[string]inventory.Inputs{}
		for i := range b.Outline() {
			p := b.Outline()[i]
			d, err := p.digestsOf(b)
			if err != nil {
				t.Fatal(err)
			}
			out[string(p.Name)] = d
		}
		return out
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := base()
			tc.change(b)
			was, is := digests(base()), digests(b)
			var got []string
			for _, part := range all {
				if was[part].Digest != is[part].Digest {
					got = append(got, part)
				}
				if content := was[part].Content != is[part].Content; content != (was[part].Digest != is[part].Digest && name != "Labels") {
					t.Errorf("\n%s\n%s: another content: %t; labels are not content, and everything else is", tc.reason, part, content)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nparts with another digest: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
