// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// team is the namespace, in the control plane, of a team and its Manifests.
	team = "team-a"
	// config is the name of the team's ProviderConfig.
	config = "target"
	// kubeconfigKey is the key of the target's kubeconfig in its Secret.
	kubeconfigKey = "kubeconfig"

	hello           = "hello"
	helloNamespace  = "hello-system"
	crossplane      = "crossplane"
	crossplaneLayer = "crossplane-layer"
	helloReplicas   = 2
)

// install pushes the modules, and has the provider install them.
func (e *environment) install(ctx context.Context) error {
	sayf("pushing modules to the registry at %s", e.registry.Host())
	manifests, err := e.push(ctx)
	if err != nil {
		return err
	}
	if err := e.create(ctx, manifests); err != nil {
		return err
	}
	sayf("waiting for the Manifests %q, %q and %q in namespace %q", hello, crossplane, crossplaneLayer, team)
	return e.awaitReady(ctx, hello, crossplane, crossplaneLayer)
}

// create creates the Manifests, and what they need, in the control plane.
func (e *environment) create(ctx context.Context, manifests []*v1alpha1.Manifest) error {
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: config + "-kubeconfig"},
			Data:       map[string][]byte{kubeconfigKey: e.target.Kubeconfig()},
		},
		e.providerConfig(),
	}
	for _, m := range manifests {
		objects = append(objects, m)
	}
	for _, o := range objects {
		if err := e.controlClient.Create(ctx, o); err != nil {
			return errors.Wrapf(err, "cannot create %T %q", o, o.GetName())
		}
	}
	return nil
}

// push pushes a small chart of ours, and Crossplane's own in both forms: as
// Helm's OCI chart, and as the layer of a module.
func (e *environment) push(ctx context.Context) ([]*v1alpha1.Manifest, error) {
	root, err := tools.Root()
	if err != nil {
		return nil, err
	}
	small, err := controlplane.ReadFolder(filepath.Join(root, "cluster", "local", "chart"))
	if err != nil {
		return nil, err
	}
	module, err := tools.ModuleDir(ctx, tools.Crossplane, "github.com/crossplane/crossplane/v2")
	if err != nil {
		return nil, err
	}
	large, err := controlplane.ReadFolder(filepath.Join(module, "cluster", "charts", "crossplane"))
	if err != nil {
		return nil, err
	}
	smallChart, err := e.registry.PushChart(ctx, "charts", small)
	if err != nil {
		return nil, err
	}
	largeChart, err := e.registry.PushChart(ctx, "charts", large)
	if err != nil {
		return nil, err
	}
	const component = "crossplane.io/crossplane"
	largeLayer, err := e.registry.PushModule(ctx, "component-descriptors/"+component, large)
	if err != nil {
		return nil, err
	}
	charts := "oci://" + e.registry.Host() + "/charts"
	return []*v1alpha1.Manifest{
		newManifest(hello, helloNamespace, map[string]any{"replicas": helloReplicas}, v1alpha1.Source{
			Type: v1alpha1.SourceTypeHelmChart, URL: charts, ChartName: "hello", Version: smallChart.Tag,
		}),
		newManifest(crossplane, "crossplane-system", nil, v1alpha1.Source{
			Type: v1alpha1.SourceTypeHelmChart, URL: charts, ChartName: "crossplane", Version: largeChart.Tag,
		}),
		// A second Crossplane must not share cluster-wide names with the first one.
		newManifest(crossplaneLayer, crossplaneLayer, map[string]any{
			"nameOverride": crossplaneLayer, "rbacManager": map[string]any{"deploy": false},
		}, v1alpha1.Source{
			Type: v1alpha1.SourceTypeOCIRef, Repo: e.registry.Host() + "/component-descriptors",
			Name: component, Ref: largeLayer.Layer,
		}),
	}, nil
}

func (e *environment) providerConfig() *v1alpha1.ProviderConfig {
	return &v1alpha1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: config},
		Spec: v1alpha1.ProviderConfigSpec{
			Credentials: v1alpha1.Credentials{
				Source: v1alpha1.CredentialsSourceSecret,
				CredentialSelectors: v1alpha1.CredentialSelectors{
					SecretRef: &v1alpha1.SecretKeySelector{Name: config + "-kubeconfig", Key: kubeconfigKey},
				},
			},
			Registries: []v1alpha1.Registry{{Host: e.registry.Host(), PlainHTTP: true}},
		},
	}
}

// newManifest is a Manifest with one install of the same name.
func newManifest(name, namespace string, values map[string]any, source v1alpha1.Source) *v1alpha1.Manifest {
	install := v1alpha1.Install{Name: name, Namespace: namespace, Source: source}
	if values != nil {
		raw, _ := json.Marshal(values) //nolint:errchkjson // Strings, numbers and booleans.
		install.Values = &runtime.RawExtension{Raw: raw}
	}
	m := &v1alpha1.Manifest{
		ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name},
		Spec: v1alpha1.ManifestSpec{
			ForProvider: v1alpha1.ManifestParameters{Installs: []v1alpha1.Install{install}},
		},
	}
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: config}
	return m
}
