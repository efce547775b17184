// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// These are the names of indexes.
const (
	// IndexSecrets indexes configs by the Secrets that they name, as namespace/name, except for those of indexCredentials.
	IndexSecrets = "secrets"
	// indexCredentials indexes configs by the Secrets with their kubeconfigs, as namespace/name. Rotations watches these Secrets.
	indexCredentials = "credentials"
	// indexConfig indexes Manifests by their config; see UsersOf.
	indexConfig = "config"
	// indexUsages indexes ProviderConfigUsages by the name of their config.
	indexUsages = "config"
)

// Index adds the indexes of configs by the Secrets that they name, and of Manifests by their config.
func Index(ctx context.Context, i client.FieldIndexer) error {
	for name, secretsOf := range map[string]func(*v1alpha1.ProviderConfigSpec, string) []string{
		IndexSecrets: secretsOf, indexCredentials: credentialsOf,
	} {
		of := func(o client.Object) []string {
			switch pc := o.(type) {
			case *v1alpha1.ProviderConfig:
				return secretsOf(&pc.Spec, pc.Namespace)
			case *v1alpha1.ClusterProviderConfig:
				return secretsOf(&pc.Spec.ProviderConfigSpec, "")
			}
			return nil
		}
		if err := i.IndexField(ctx, &v1alpha1.ProviderConfig{}, name, of); err != nil {
			return errors.Wrap(err, "cannot index ProviderConfigs")
		}
		if err := i.IndexField(ctx, &v1alpha1.ClusterProviderConfig{}, name, of); err != nil {
			return errors.Wrap(err, "cannot index ClusterProviderConfigs")
		}
	}
	return errors.Wrap(i.IndexField(ctx, &v1alpha1.Manifest{}, indexConfig, configOf), "cannot index Manifests")
}

// nameOfConfig returns the name of the config of a ProviderConfigUsage.
func nameOfConfig(usage client.Object) []string {
	if name := usage.GetLabels()[xpv2.LabelKeyProviderName]; name != "" {
		return []string{name}
	}
	return nil
}

// configOf returns the key of the config of a Manifest.
func configOf(o client.Object) []string {
	mr, ok := o.(*v1alpha1.Manifest)
	if !ok || mr.Spec.ProviderConfigReference == nil {
		return nil
	}
	ref := mr.Spec.ProviderConfigReference
	if ref.Kind == v1alpha1.ClusterProviderConfigKind {
		return []string{keyOf(ref.Kind, "", ref.Name)}
	}
	return []string{keyOf(ref.Kind, mr.Namespace, ref.Name)}
}

// UsersOf returns the fields that select the Manifests that use a config.
func UsersOf(config client.Object) client.MatchingFields {
	kind := v1alpha1.ProviderConfigKind
	if config.GetNamespace() == "" {
		kind = v1alpha1.ClusterProviderConfigKind
	}
	return client.MatchingFields{indexConfig: keyOf(kind, config.GetNamespace(), config.GetName())}
}

// keyOf returns the key of a config in the index of Manifests, kind/namespace/name.
func keyOf(kind, namespace, name string) string { return kind + "/" + namespace + "/" + name }

// credentialsOf returns the Secret with the kubeconfig of a config, as namespace/name, or nothing if the kubeconfig is elsewhere.
func credentialsOf(s *v1alpha1.ProviderConfigSpec, namespace string) []string {
	ref := s.Credentials.SecretRef
	if ref == nil {
		return nil
	}
	return []string{secretName(namespace, ref.Namespace, ref.Name)}
}

// secretsOf returns the Secrets that the spec of a config names in addition to its kubeconfig, each as namespace/name.
func secretsOf(s *v1alpha1.ProviderConfigSpec, namespace string) []string {
	var out []string
	add := func(ns, name string) { out = append(out, secretName(namespace, ns, name)) }
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

// secretName returns the name of a Secret, as namespace/name, which a config in a namespace of its own refers to.
func secretName(own, namespace, name string) string {
	if namespace == "" {
		namespace = own
	}
	return namespace + "/" + name
}
