// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"embed"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// files contains the chart of a site. Without all:, files whose names begin with _ would not be embedded.
//
//go:embed all:chart
var files embed.FS

// chart returns the embedded chart. Call it once, because the chart cannot change while the operator runs.
func chart() (source.Layer, error) {
	sub, err := fs.Sub(files, "chart")
	if err != nil {
		return source.Layer{}, err
	}
	return source.FS(sub)
}

// bundleName returns the name of the bundle of a site. It depends only on the name of the site, so that the bundle can be
// removed even if the spec is invalid.
func bundleName(site *unstructured.Unstructured) string {
	return "site." + site.GetNamespace() + "." + site.GetName()
}

// bundleOf returns the bundle that installs the chart for a site.
func bundleOf(site *unstructured.Unstructured, chart source.Layer) (*manifest.Bundle, error) {
	values, _, err := unstructured.NestedMap(site.Object, "spec")
	if err != nil {
		return nil, err
	}
	owner := site.GetNamespace() + "." + site.GetName()
	return &manifest.Bundle{
		Name:  bundleName(site),
		Owner: "Site " + site.GetNamespace() + "/" + site.GetName(),
		Installs: []manifest.Install{{
			Layer:     chart,
			Name:      site.GetName(),
			Namespace: site.GetNamespace(),
			Values:    values,
		}},
		Transforms: []manifest.Transform{{
			Digest: "owner " + owner,
			Func: func(_ context.Context, u *unstructured.Unstructured) error {
				return unstructured.SetNestedField(u.Object, owner, "metadata", "labels", "example.org/site")
			},
		}},
		Readiness: []manifest.Rule{{
			For:  schema.GroupKind{Group: "apps", Kind: "Deployment"},
			Func: serves,
		}},
	}, nil
}

// serves returns Ready if a Deployment has at least one available replica, and Processing otherwise.
func serves(_ context.Context, u *unstructured.Unstructured) (manifest.State, string, error) {
	n, _, err := unstructured.NestedInt64(u.Object, "status", "availableReplicas")
	if err != nil || n > 0 {
		return manifest.Ready, "", err
	}
	return manifest.Processing, "no replica is available yet", nil
}
