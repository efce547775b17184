// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// IndexSecrets is the name of the index of configs by the Secrets they name, as namespace/name.
const IndexSecrets = "secrets"

// Index the configs by the Secrets they name.
func Index(ctx context.Context, i client.FieldIndexer) error {
	if err := i.IndexField(ctx, &v1alpha1.ProviderConfig{}, IndexSecrets, func(o client.Object) []string {
		pc, ok := o.(*v1alpha1.ProviderConfig)
		if !ok {
			return nil
		}
		return secretsOf(&pc.Spec, pc.Namespace)
	}); err != nil {
		return errors.Wrap(err, "cannot index ProviderConfigs")
	}
	err := i.IndexField(ctx, &v1alpha1.ClusterProviderConfig{}, IndexSecrets, func(o client.Object) []string {
		pc, ok := o.(*v1alpha1.ClusterProviderConfig)
		if !ok {
			return nil
		}
		return secretsOf(&pc.Spec, "")
	})
	return errors.Wrap(err, "cannot index ClusterProviderConfigs")
}

// secretsOf a config as namespace/name.
func secretsOf(s *v1alpha1.ProviderConfigSpec, namespace string) []string {
	var out []string
	add := func(ns, name string) {
		if ns == "" {
			ns = namespace
		}
		out = append(out, ns+"/"+name)
	}
	if ref := s.Credentials.SecretRef; ref != nil {
		add(ref.Namespace, ref.Name)
	}
	if s.Identity != nil && s.Identity.SecretRef != nil {
		add(s.Identity.SecretRef.Namespace, s.Identity.SecretRef.Name)
	}
	for i := range s.Registries {
		if ref := s.Registries[i].PullSecretRef; ref != nil {
			add(ref.Namespace, ref.Name)
		}
		if ref := s.Registries[i].CABundleSecretRef; ref != nil {
			add(ref.Namespace, ref.Name)
		}
	}
	if v := s.Verification; v != nil {
		for i := range v.Keys {
			add(v.Keys[i].PublicKeySecretRef.Namespace, v.Keys[i].PublicKeySecretRef.Name)
		}
	}
	return out
}
