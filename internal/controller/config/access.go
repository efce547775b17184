// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// Namespaces reads namespaces of the control plane.
type Namespaces interface {
	// Labels returns the labels of a namespace, which the caller must not change.
	Labels(ctx context.Context, name string) (map[string]string, error)
}

// A RefusedError reports that a namespace is not allowed to use a ClusterProviderConfig.
type RefusedError struct{ message string }

// Error returns the message, which is a single line.
func (e *RefusedError) Error() string { return e.message }

// Allow returns a *RefusedError if objects in a namespace are not allowed to use the config, and a different error if this
// cannot be determined. A ProviderConfig can always be used, because only objects in its own namespace can refer to it.
func (c *Config) Allow(ctx context.Context, n Namespaces, namespace string) error {
	allowed := c.AllowedNamespaces
	switch {
	case c.Kind != v1alpha1.ClusterProviderConfigKind:
		return nil
	case allowed == nil && !usesProvider(&c.Spec):
		return nil
	case allowed == nil:
		return c.refuse(namespace, "it uses the credentials of the provider and spec.allowedNamespaces is not set")
	case slices.Contains(allowed.Names, namespace):
		return nil
	case allowed.Selector == nil:
		return c.refuse(namespace, "the namespace is not listed in spec.allowedNamespaces.names")
	}
	selector, err := metav1.LabelSelectorAsSelector(allowed.Selector)
	if err != nil {
		return errors.Wrapf(err, "%s %s: spec.allowedNamespaces.selector", c.Kind, c.Name)
	}
	if selector.Empty() {
		return nil
	}
	of, err := n.Labels(ctx, namespace)
	if err != nil {
		return errors.Wrapf(err, "%s %s: spec.allowedNamespaces.selector", c.Kind, c.Name)
	}
	if !selector.Matches(labels.Set(of)) {
		return c.refuse(namespace, "the namespace is not selected by spec.allowedNamespaces")
	}
	return nil
}

func (c *Config) refuse(namespace, why string) error {
	return &RefusedError{message: fmt.Sprintf("%s %s cannot be used in namespace %q, because %s; ask the administrator "+
		"of the config to allow the namespace, or use a ProviderConfig", c.Kind, c.Name, namespace, why)}
}

// usesProvider reports whether a config uses the identity of the provider, or credentials from its files or its environment.
func usesProvider(s *v1alpha1.ProviderConfigSpec) bool {
	if isProviders(s.Credentials.Source) {
		return true
	}
	// The token of a workload identity always belongs to the provider's pod, regardless of the source of the JSON.
	return s.Identity != nil && (isProviders(s.Identity.Source) || s.Identity.Type == v1alpha1.IdentityTypeAzureWorkloadIdentityCredentials)
}

func isProviders(s v1alpha1.CredentialsSource) bool {
	return s == v1alpha1.CredentialsSourceInjectedIdentity || s == v1alpha1.CredentialsSourceFilesystem || s == v1alpha1.CredentialsSourceEnvironment
}
