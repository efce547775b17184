// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestConfinement checks that a bundle with a forbidden object is refused before anything is applied.
func TestConfinement(t *testing.T) {
	confinement := &bundle.Confinement{
		Digest: "apps-only",
		Namespace: func(name string) error {
			if name != "apps" {
				return errors.New("not allowed")
			}
			return nil
		},
		Object: func(u *unstructured.Unstructured) error {
			switch u.GetName() {
			case "bad":
				return errors.New("is bad")
			case "kyma-system":
				return errors.New("is not allowed")
			case "panics":
				panic("oh")
			}
			return nil
		},
	}
	const hook = "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: kube-system, annotations: {helm.sh/hook: pre-delete}}}"
	elsewhere := chartOf("web", configMap("a"))
	elsewhere.Namespace = "kube-system"
	cases := map[string]struct {
		reason string
		bundle bundle.Bundle
		part   object.PartID
		want   string
	}{
		"Allowed":   {reason: "What is allowed is composed.", bundle: bundle.Bundle{Installs: []bundle.Install{chartOf("web", configMap("a"))}}, part: "web"},
		"Object":    {reason: "The error names the object.", bundle: bundle.Bundle{Installs: []bundle.Install{chartOf("web", configMap("bad"))}}, part: "web", want: "ConfigMap apps/bad: is bad"},
		"Plain":     {reason: "The check applies to plain objects.", bundle: bundle.Bundle{Installs: []bundle.Install{plainOf("web", configMap("bad"))}}, part: "web", want: "ConfigMap apps/bad: is bad"},
		"Resource":  {reason: "The check applies to the custom resource.", bundle: bundle.Bundle{Resource: unmarshal(t, configMap("r"))}, part: object.PartResource, want: "ConfigMap default/r: metadata.namespace: not allowed"},
		"Namespace": {reason: "An object may name its namespace.", bundle: bundle.Bundle{Installs: []bundle.Install{plainOf("web", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: kube-system}}")}}, part: "web", want: "ConfigMap kube-system/a: metadata.namespace: not allowed"},
		"Inventories": {
			reason: "The namespace of the inventories is not labeled if the module must not contain it.",
			bundle: bundle.Bundle{Installs: []bundle.Install{plainOf("web", "{apiVersion: v1, kind: Namespace, metadata: {name: kyma-system, labels: {a: b}}}")}},
			part:   "web", want: "Namespace kyma-system: is not allowed",
		},
		"Release": {reason: "The release record is in a namespace too.", bundle: bundle.Bundle{Installs: []bundle.Install{elsewhere}}, part: "web", want: "namespace of the release: not allowed"},
		"Config": {
			reason: "The config layer of the module can name it.",
			bundle: bundle.Bundle{Installs: []bundle.Install{chartOf("web", configMap("a"))}, Config: configLayer("configs: [{name: web, clientConfig: 'Namespace=kube-system'}]")},
			part:   "web", want: "namespace of the release: not allowed",
		},
		"Hook":  {reason: "A hook is refused before it is its turn, also one that runs when the release is deleted.", bundle: bundle.Bundle{Installs: []bundle.Install{chartOf("web", configMap("a"), hook)}}, part: "web", want: "hook j: Job kube-system/j: metadata.namespace: not allowed"},
		"Panic": {reason: "A function that panics refuses.", bundle: bundle.Bundle{Installs: []bundle.Install{plainOf("web", configMap("panics"))}}, part: "web", want: "ConfigMap apps/panics: panic: oh"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.bundle.Confinement = confinement
			_, err := composerOf(&tc.bundle).Compose(t.Context(), partOf(t, &tc.bundle, tc.part), inventory.Part{})
			if diff := cmp.Diff(tc.want, textOf(err)); diff != "" {
				t.Errorf("\n%s\nCompose(...): -want error, +got:\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("RecordedHook", func(t *testing.T) {
		c := composerOf(&bundle.Bundle{Confinement: confinement})
		_, err := c.BuildHook(t.Context(), &Installation{Namespace: "apps"}, "web", &record.Hook{Manifest: hook}, "run")
		if diff := cmp.Diff("Job kube-system/j: metadata.namespace: not allowed", textOf(err)); diff != "" {
			t.Errorf("a hook from a record in the cluster: -want error, +got:\n%s", diff)
		}
	})
}
