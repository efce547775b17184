// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"encoding/base64"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
)

const (
	// kubeconfigKey is the key of the kubeconfig in its Secret.
	kubeconfigKey = "kubeconfig"
	// kubeconfigSuffix is the suffix of the name of the Secret. It follows the name of the ProviderConfig.
	kubeconfigSuffix = "-kubeconfig"

	// inClusterConfig is the name of the ClusterProviderConfig that the provider uses by default for modules in the control plane.
	inClusterConfig = "control-plane"

	// providerName is the name of the Provider, and of the ManagedResourceActivationPolicy for its kinds.
	providerName = "provider-kyma"
)

func providerKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: apply.GroupPackages, Version: "v1", Kind: "Provider"}
}

func policyKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: apply.GroupExtensions, Version: "v1alpha1", Kind: "ManagedResourceActivationPolicy"}
}

// kindsOf returns the kinds whose objects are deleted together with the CRDs. The kinds of the configs are last, because the other
// objects use them. It omits ProviderConfigUsage: the provider creates these objects, and deletes them with the objects that they
// belong to.
func kindsOf() ([]schema.GroupVersionKind, error) {
	all, err := apply.ReadCRDs()
	if err != nil {
		return nil, err
	}
	var out, configs []schema.GroupVersionKind
	for _, d := range all {
		switch kind := apply.KindOf(d); kind.Kind {
		case v1alpha1.ProviderConfigUsageKind:
		case v1alpha1.ProviderConfigKind, v1alpha1.ClusterProviderConfigKind:
			configs = append(configs, kind)
		default:
			out = append(out, kind)
		}
	}
	return append(out, configs...), nil
}

// encode returns data in base64, the encoding of Secrets.
func encode(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
