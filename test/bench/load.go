// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// namespace is the namespace of the Manifests, and config is the name of their ProviderConfig.
	namespace  = "bench"
	config     = "target"
	repository = "component-descriptors"
	component  = "example.org/module/bench"
)

func name(i int) string { return fmt.Sprintf("bench-%d", i) }

// prepare creates what is not measured: the namespaces and the ProviderConfig.
func prepare(ctx context.Context, e *environment, n int) error {
	err := objects.Parallel(ctx, n, func(ctx context.Context, i int) error {
		return e.targetClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name(i)}})
	})
	if err != nil {
		return errors.Wrap(err, "cannot create a namespace in the target")
	}
	return controlplane.Connect(ctx, e.controlClient, namespace, config, e.target, e.registry)
}

// createManifests creates n Manifests with a source.
func createManifests(ctx context.Context, control client.Client, source v1alpha1.Source, n int) error {
	err := objects.Parallel(ctx, n, func(ctx context.Context, i int) error {
		m := &v1alpha1.Manifest{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name(i)},
			Spec: v1alpha1.ManifestSpec{ForProvider: v1alpha1.ManifestParameters{Installs: []v1alpha1.Install{{
				Name: name(i), Namespace: name(i), Source: source,
			}}}},
		}
		m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: config}
		return control.Create(ctx, m)
	})
	return errors.Wrap(err, "cannot create a Manifest")
}
