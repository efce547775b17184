// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// Secrets reads Secrets.
type Secrets interface {
	// Get returns the data of a Secret. If the Secret does not exist, the error is a *MissingError.
	Get(ctx context.Context, namespace, name string) (map[string][]byte, error)
	// GetTyped returns the type of a Secret, and its data like Get.
	GetTyped(ctx context.Context, namespace, name string) (corev1.SecretType, map[string][]byte, error)
}

// Access contains the permissions for registries that flags of the provider grant.
type Access struct {
	// Get returns the provider's identity at a cloud, for the registry at a host. If Get is nil, there are no identities.
	Get func(provider, host string) (oci.Identity, error)
	// AllowTenants lets a ProviderConfig use these identities and the provider's docker configuration. A ProviderConfig
	// belongs to a namespace, which would then use credentials of the provider.
	AllowTenants bool
	// PlainHTTP lists the hosts, host[:port], to which a ProviderConfig can connect without TLS. A host without a port matches
	// all ports.
	PlainHTTP []string
}

// port matches the port of a host.
var port = regexp.MustCompile(`:[0-9]+$`)

// allowsPlainHTTP reports whether a ProviderConfig can connect to a host without TLS. Without this check, tenants could send
// requests to any HTTP server that the provider can reach.
func (a Access) allowsPlainHTTP(host string) bool {
	host = strings.ToLower(host)
	name := strings.Trim(port.ReplaceAllString(host, ""), "[]")
	return slices.ContainsFunc(a.PlainHTTP, func(allowed string) bool {
		allowed = strings.ToLower(allowed)
		return allowed == host || strings.Trim(allowed, "[]") == name
	})
}

// A Config is a ProviderConfig or a ClusterProviderConfig.
type Config struct {
	// Kind and Name identify the config in messages.
	Kind, Name string
	// Namespace is the namespace that Secrets are read from. It is empty for a ClusterProviderConfig, which names the
	// namespace of each Secret.
	Namespace string
	// Generation is the generation of the spec.
	Generation int64
	Spec       v1alpha1.ProviderConfigSpec
	// AllowedNamespaces selects the namespaces that can use a ClusterProviderConfig; see Allow.
	AllowedNamespaces *v1alpha1.AllowedNamespaces
}

// Load returns the config that an object in a namespace refers to. It does not check whether the namespace is allowed to use
// the config. Use Allow to check this.
func Load(ctx context.Context, c client.Reader, namespace string, ref *xpv2.ProviderConfigReference) (*Config, error) {
	if ref == nil {
		return nil, errors.New("spec.providerConfigRef is missing")
	}
	out := &Config{Kind: ref.Kind, Name: ref.Name}
	switch ref.Kind {
	case v1alpha1.ProviderConfigKind:
		pc := &v1alpha1.ProviderConfig{}
		if err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: ref.Name}, pc); err != nil {
			return nil, explain(err, ref.Kind, namespace+"/"+ref.Name)
		}
		out.Spec, out.Namespace, out.Generation = pc.Spec, pc.Namespace, pc.Generation
	case v1alpha1.ClusterProviderConfigKind:
		pc := &v1alpha1.ClusterProviderConfig{}
		if err := c.Get(ctx, types.NamespacedName{Name: ref.Name}, pc); err != nil {
			return nil, explain(err, ref.Kind, ref.Name)
		}
		out.Spec, out.AllowedNamespaces, out.Generation = pc.Spec.ProviderConfigSpec, pc.Spec.AllowedNamespaces, pc.Generation
	default:
		return nil, errors.Errorf("spec.providerConfigRef.kind: invalid value %q: must be ProviderConfig or ClusterProviderConfig", ref.Kind)
	}
	return out, nil
}

// A MissingError reports that a config, or a Secret that it names, does not exist.
type MissingError struct {
	// Object is the kind, namespace and name of the missing object.
	Object string
}

// Error returns the message in one line.
func (e *MissingError) Error() string { return e.Object + " does not exist" }

func explain(err error, kind, name string) error {
	if notfound.Is(err) {
		return &MissingError{Object: kind + " " + name}
	}
	return errors.Wrapf(notfound.Explain(err), "cannot get %s %s", kind, name)
}

// Registries returns the registries of the config with their credentials.
func (c *Config) Registries(ctx context.Context, s Secrets, clouds Access) (oci.Registries, error) {
	tenant := c.Namespace != ""
	if len(c.Spec.Registries) == 0 && tenant {
		// An empty list would allow all registries with the Docker configuration of the provider, which is only meant for the
		// platform.
		return oci.Registries{{Host: "*", Tenant: true, Ambient: clouds.AllowTenants}}, nil
	}
	out := make(oci.Registries, 0, len(c.Spec.Registries))
	for i := range c.Spec.Registries {
		r := &c.Spec.Registries[i]
		if strings.Contains(r.Host, "*") {
			// The schema refuses this host too. In oci.Registries, * matches all hosts, which a user of the cluster must not allow.
			return nil, errors.Errorf("spec.registries[%q].host must be a single host name", r.Host)
		}
		if tenant && r.PlainHTTP && !clouds.allowsPlainHTTP(r.Host) {
			return nil, errors.Errorf("spec.registries[%q].plainHTTP is not allowed in a ProviderConfig; "+
				"use HTTPS, a ClusterProviderConfig, or start the provider with --allow-plain-http-host", r.Host)
		}
		o := oci.Registry{Host: r.Host, PlainHTTP: r.PlainHTTP, TokenHosts: r.TokenHosts, Tenant: tenant}
		if err := c.pullSecret(ctx, s, r.PullSecretRef, &o); err != nil {
			return nil, errors.Wrapf(err, "spec.registries[%q].pullSecretRef", r.Host)
		}
		if err := c.cloudIdentity(clouds, r, &o); err != nil {
			return nil, errors.Wrapf(err, "spec.registries[%q].provider", r.Host)
		}
		if ref := r.CABundleSecretRef; ref != nil {
			b, err := c.key(ctx, s, ref)
			if err != nil {
				return nil, errors.Wrapf(err, "spec.registries[%q].caBundleSecretRef", r.Host)
			}
			o.CABundle = b
		}
		out = append(out, o)
	}
	return out, nil
}

// Keys returns the keys that verify signatures of modules, in the order of the spec. It returns none without verification.
// Errors name the entry, its Secret and the key, never the content of the Secret.
func (c *Config) Keys(ctx context.Context, s Secrets) ([]ocm.Key, error) {
	if c.Spec.Verification == nil {
		return nil, nil
	}
	entries := c.Spec.Verification.Keys
	out := make([]ocm.Key, 0, len(entries))
	for i := range entries {
		k := &entries[i]
		pem, err := c.key(ctx, s, &k.PublicKeySecretRef)
		if err != nil {
			return nil, errors.Wrapf(err, "spec.verification.keys[%q].publicKeySecretRef", k.SignatureName)
		}
		parsed, err := ocm.ParseKey(k.SignatureName, pem)
		if err != nil {
			return nil, errors.Wrapf(err, "spec.verification.keys[%q].publicKeySecretRef: key %q of Secret %q",
				k.SignatureName, k.PublicKeySecretRef.Key, k.PublicKeySecretRef.Name)
		}
		out = append(out, parsed)
	}
	return out, nil
}

func (c *Config) pullSecret(ctx context.Context, s Secrets, ref *v1alpha1.SecretReference, o *oci.Registry) error {
	if ref == nil {
		return nil
	}
	ns, err := c.namespaceOf(ref.Namespace)
	if err != nil {
		return err
	}
	kind, data, err := s.GetTyped(ctx, ns, ref.Name)
	if err != nil {
		return err
	}
	switch kind {
	case corev1.SecretTypeDockerConfigJson:
		o.DockerConfig = data[corev1.DockerConfigJsonKey]
	case corev1.SecretTypeBasicAuth:
		o.Username, o.Password = string(data[corev1.BasicAuthUsernameKey]), string(data[corev1.BasicAuthPasswordKey])
	default:
		return errors.Errorf("Secret %s/%s has type %q, but must have type %s or %s",
			ns, ref.Name, kind, corev1.SecretTypeDockerConfigJson, corev1.SecretTypeBasicAuth)
	}
	return nil
}

// cloudIdentity sets the provider's identity at the cloud of a registry.
func (c *Config) cloudIdentity(clouds Access, r *v1alpha1.Registry, o *oci.Registry) (err error) {
	switch {
	case r.Provider == "":
		return nil
	case c.Namespace != "" && !clouds.AllowTenants:
		return errors.Errorf("%s would give namespace %q access to the identity of the provider; use pullSecretRef or a "+
			"ClusterProviderConfig, or start the provider with --allow-tenant-identity", r.Provider, c.Namespace)
	case r.PullSecretRef != nil || r.PlainHTTP:
		return errors.New("must not be combined with pullSecretRef or plainHTTP")
	case clouds.Get == nil:
		return errors.New("cloud identities are not available in this provider")
	}
	o.Identity, err = clouds.Get(string(r.Provider), r.Host)
	return err
}

// key returns the value of a key in a Secret.
func (c *Config) key(ctx context.Context, s Secrets, ref *v1alpha1.SecretKeySelector) ([]byte, error) {
	ns, err := c.namespaceOf(ref.Namespace)
	if err != nil {
		return nil, err
	}
	data, err := s.Get(ctx, ns, ref.Name)
	if err != nil {
		return nil, err
	}
	b, ok := data[ref.Key]
	if !ok {
		return nil, errors.Errorf("Secret %s/%s has no key %q", ns, ref.Name, ref.Key)
	}
	return b, nil
}

// namespaceOf returns the namespace of a Secret that the config names. A ProviderConfig belongs to a tenant, who must not
// read the Secrets of others with the permissions of the provider.
func (c *Config) namespaceOf(namespace string) (string, error) {
	switch {
	case c.Namespace == "" && namespace == "":
		return "", errors.New("namespace is required in a ClusterProviderConfig")
	case c.Namespace == "" || namespace == c.Namespace:
		return namespace, nil
	case namespace == "":
		return c.Namespace, nil
	}
	return "", errors.Errorf("namespace: invalid value %q: a ProviderConfig can only refer to Secrets in its own namespace", namespace)
}
