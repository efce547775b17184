// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// User returns the user as which requests for a Manifest are sent, or an empty string for the user of the credentials. own is
// the impersonation that the Manifest specifies. A ClusterProviderConfig decides for all of its Manifests: if own specifies a
// different ServiceAccount, User returns the user of the ClusterProviderConfig and an error.
func (c *Config) User(namespace string, own *v1alpha1.Impersonation) (string, error) {
	user := userOf(namespace, c.Spec.Impersonate)
	switch {
	case own == nil:
		return user, nil
	case user != "" && c.Kind == v1alpha1.ClusterProviderConfigKind && userOf(namespace, own) != user:
		return user, errors.Errorf("spec.forProvider.impersonate: ClusterProviderConfig %s requires %s in spec.impersonate; remove the field", c.Name, user)
	}
	return userOf(namespace, own), nil
}

// userOf returns the user name of a ServiceAccount.
func userOf(namespace string, i *v1alpha1.Impersonation) string {
	if i == nil {
		return ""
	}
	return "system:serviceaccount:" + cmp.Or(i.ServiceAccount.Namespace, namespace) + ":" + i.ServiceAccount.Name
}

// Lookup returns which objects charts can look up in the cluster. With credentials of the provider, the default excludes
// Secrets, because the provider can read the Secrets of all tenants.
func (c *Config) Lookup() v1alpha1.LookupPolicy {
	if c.Spec.Lookup == "" && usesProvider(&c.Spec) {
		return v1alpha1.LookupNoSecrets
	}
	return cmp.Or(c.Spec.Lookup, v1alpha1.LookupAllowed)
}
