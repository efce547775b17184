// SPDX-License-Identifier: Apache-2.0

package target

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/kubeconfig"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// A Policy defines what provider configs may do. The zero value is the strictest policy.
type Policy struct {
	// AllowExec permits exec and auth-provider in kubeconfigs, which run code of the provider's image.
	AllowExec bool
	// AllowFiles permits kubeconfigs and identities to name files of the provider.
	AllowFiles bool
	// AllowTenantIdentity permits namespaced provider configs to use the provider's own identity, files and environment.
	AllowTenantIdentity bool
}

// A SecretReader reads the data of Secrets of the control plane. If a Secret does not exist, the error is that of
// k8s.io/apimachinery/pkg/api/errors.
type SecretReader interface {
	Get(ctx context.Context, namespace, name string) (map[string][]byte, error)
}

// A Resolver resolves the credentials of provider configs.
type Resolver struct {
	secrets SecretReader
	policy  Policy
	getenv  func(string) string
}

// NewResolver returns a Resolver with a policy.
func NewResolver(s SecretReader, p Policy) *Resolver {
	return &Resolver{secrets: s, policy: p, getenv: os.Getenv}
}

// Credentials are the resolved credentials of a target cluster. They print as their digest.
type Credentials struct {
	// Digest is equal for equal credentials, and reveals nothing about them.
	Digest string

	// injected is true for the credentials of the provider. Then kubeconfig is nil.
	injected   bool
	kubeconfig []byte
	identity   *identity
	policy     Policy
	// platform is true if an administrator wrote the provider config, and false if a tenant did. namespace is that of the tenant.
	platform  bool
	namespace string
	// stored is true if the kubeconfig is in a Secret, which users of the control plane might be able to change.
	stored bool
	// origin is the namespace, the name and the key of that Secret, or empty for other sources.
	origin string
}

// trust returns who chose the API server.
func (c Credentials) trust() netguard.Trust {
	switch {
	case c.injected:
		return netguard.Own
	case c.platform:
		return netguard.Platform
	}
	return netguard.Tenant
}

// tenantOf returns what bounds the data of the cluster of credentials, if a tenant chose it, and a function to call when it is gone.
func (p *Pool) tenantOf(c Credentials) (t *transport.Tenant, leave func()) {
	if c.trust() != netguard.Tenant {
		return nil, func() {}
	}
	return p.tenants.Join(c.namespace)
}

// logSlowed logs that the clusters of a tenant have sent too much.
func (p *Pool) logSlowed(namespace string) {
	p.log.Info("The clusters of a namespace send more data than the provider can share; their data is read more slowly",
		"namespace", namespace, "clusters", p.tenants.Clusters(namespace))
}

// waited counts the time that reads from clusters wait.
func (p *Pool) waited(d time.Duration) { p.metrics.TargetWaitSeconds.Add(d.Seconds()) }

// String returns the digest, which reveals nothing about the credentials.
func (c Credentials) String() string { return "credentials " + c.Digest }

// GoString returns the same as String, so that %#v does not print the credentials.
func (c Credentials) GoString() string { return c.String() }

// Resolve resolves the credentials of a provider config. The namespace is that of the provider config, or empty for a
// cluster-scoped one. Errors contain names of fields, Secrets and keys, but never values.
func (r *Resolver) Resolve(ctx context.Context, namespace string, spec v1alpha1.ProviderConfigSpec) (Credentials, error) {
	c := Credentials{
		policy: r.policy, platform: namespace == "", namespace: namespace, stored: spec.Credentials.Source == v1alpha1.CredentialsSourceSecret,
	}
	id, err := r.identity(ctx, namespace, spec.Identity)
	if err != nil {
		return Credentials{}, err
	}
	c.identity = id
	if spec.Credentials.Source == v1alpha1.CredentialsSourceNone {
		return Credentials{}, errors.New("spec.credentials: source None does not specify a cluster; use Secret with a " +
			"kubeconfig, or InjectedIdentity for the cluster of the provider")
	}
	c.kubeconfig, c.injected, err = r.read(ctx, namespace, spec.Credentials)
	if err != nil {
		return Credentials{}, errors.Wrap(err, "spec.credentials")
	}
	if ref := spec.Credentials.SecretRef; c.stored && ref != nil {
		// The Secret was read, so its namespace is valid.
		in, _ := secretNamespace(namespace, ref.Namespace)
		c.origin = strings.Join([]string{in, ref.Name, ref.Key}, "/")
	}
	c.Digest = digest(c)
	return c, nil
}

func (r *Resolver) identity(ctx context.Context, namespace string, spec *v1alpha1.Identity) (*identity, error) {
	if spec == nil {
		return nil, nil //nolint:nilnil // No identity is the usual case, and no error.
	}
	if spec.Source == v1alpha1.CredentialsSourceNone {
		return nil, errors.New("spec.identity: source None provides no credentials; use another source")
	}
	data, injected, err := r.read(ctx, namespace, spec.Credentials)
	if err != nil {
		return nil, errors.Wrap(err, "spec.identity")
	}
	id := &identity{kind: spec.Type, injected: injected, data: data, server: spec.Server}
	// The token of a workload identity is in a file of the provider.
	id.lent = spec.Source != v1alpha1.CredentialsSourceSecret || spec.Type == v1alpha1.IdentityTypeAzureWorkloadIdentityCredentials
	return id, errors.Wrap(id.check(namespace != "", r.policy), "spec.identity")
}

// allowed returns an error if a provider config must not use the provider's own identity, files and environment.
func (r *Resolver) allowed(namespace string, source v1alpha1.CredentialsSource) error {
	if namespace == "" || r.policy.AllowTenantIdentity {
		return nil
	}
	return errors.Errorf("source %s would give namespace %q the permissions of the provider; use source Secret or a "+
		"ClusterProviderConfig, or start the provider with --allow-tenant-identity", source, namespace)
}

// read returns the data of a source other than None. Injected credentials come from the environment of the provider; then
// data is nil.
func (r *Resolver) read(ctx context.Context, namespace string, c v1alpha1.Credentials) (data []byte, injected bool, err error) {
	if c.Source == v1alpha1.CredentialsSourceSecret {
		data, err = r.secret(ctx, namespace, c.SecretRef)
		return data, false, err
	}
	if err = r.allowed(namespace, c.Source); err != nil {
		return nil, false, err
	}
	switch {
	case c.Source == v1alpha1.CredentialsSourceInjectedIdentity:
		return nil, true, nil
	case c.Source == v1alpha1.CredentialsSourceEnvironment && c.Env != nil:
		if v := r.getenv(c.Env.Name); v != "" {
			return []byte(v), false, nil
		}
		return nil, false, errors.Errorf("environment variable %q of the provider is empty", c.Env.Name)
	case c.Source == v1alpha1.CredentialsSourceFilesystem && c.Fs != nil:
		data, err = readFile(c.Fs.Path)
		return data, false, err
	}
	return nil, false, errors.Errorf("unknown source %q, or env or fs is not set", c.Source)
}

func (r *Resolver) secret(ctx context.Context, namespace string, ref *v1alpha1.SecretKeySelector) ([]byte, error) {
	if ref == nil {
		return nil, errors.New("secretRef is required when source is Secret")
	}
	in, err := secretNamespace(namespace, ref.Namespace)
	if err != nil {
		return nil, err
	}
	data, err := r.secrets.Get(ctx, in, ref.Name)
	if notfound.Is(err) {
		return nil, &MissingSecretError{Namespace: in, Name: ref.Name}
	}
	if err != nil {
		err = errors.Wrapf(err, "cannot read secret %q in namespace %q", ref.Name, in)
		if !kerrors.IsForbidden(err) {
			err = &ReadError{err}
		}
		return nil, err
	}
	value, ok := data[ref.Key]
	if !ok {
		return nil, errors.Errorf("secret %q in namespace %q has no key %q", ref.Name, in, ref.Key)
	}
	if len(value) == 0 {
		return nil, errors.Errorf("key %q of secret %q in namespace %q is empty", ref.Key, ref.Name, in)
	}
	return value, nil
}

// A MissingSecretError reports that a Secret that a provider config refers to does not exist.
type MissingSecretError struct{ Namespace, Name string }

// Error returns a message that names the Secret.
func (e *MissingSecretError) Error() string {
	return fmt.Sprintf("Secret %q does not exist in namespace %q", e.Name, e.Namespace)
}

// A ReadError reports that a request for a Secret failed and can be retried. It does not mean that the credentials are
// invalid.
type ReadError struct{ error }

// Unwrap returns the error of the control plane.
func (e *ReadError) Unwrap() error { return e.error }

// secretNamespace returns the namespace of a Secret that a provider config refers to. A namespaced provider config can
// refer only to its own namespace.
func secretNamespace(own, ref string) (string, error) {
	if own == "" && ref == "" {
		return "", errors.New("secretRef.namespace is required in a ClusterProviderConfig")
	}
	if own == "" {
		return ref, nil
	}
	if ref != "" && ref != own {
		return "", errors.Errorf("secretRef.namespace: invalid value %q: a ProviderConfig can only refer to Secrets in its own namespace %q", ref, own)
	}
	return own, nil
}

// readFile reads a file up to the maximum size of a kubeconfig, because the path may be that of a device.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // The administrator named it.
	if err != nil {
		return nil, errors.Wrap(err, "cannot read a file of the provider")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, kubeconfig.MaxBytes+1))
	if err != nil {
		return nil, errors.Wrap(err, "cannot read a file of the provider")
	}
	if len(data) > kubeconfig.MaxBytes {
		return nil, errors.Errorf("file %q of the provider is larger than %d bytes", path, kubeconfig.MaxBytes)
	}
	return data, nil
}

// digest returns a hash of credentials. The length of each part precedes it, so that no two different credentials have
// the same input.
func digest(c Credentials) string {
	h := sha256.New()
	part := func(b []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	source := func(injected bool, data []byte) {
		if injected {
			part([]byte("injected"))
			return
		}
		part([]byte("data"))
		part(data)
	}
	source(c.injected, c.kubeconfig)
	// Tenants and administrators do not share connections, because different addresses are refused for them.
	if c.platform && !c.injected {
		part([]byte("platform"))
	}
	if c.identity != nil {
		part([]byte(c.identity.kind))
		source(c.identity.injected, c.identity.data)
		if c.identity.lent && c.stored {
			part([]byte("server"))
			part([]byte(c.identity.server))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// restConfig returns how to connect with credentials.
func (p *Pool) restConfig(c Credentials) (*kubeconfig.Result, error) {
	if !c.injected {
		k, err := kubeconfig.Parse(c.kubeconfig, kubeconfig.Options{
			AllowExec:  c.policy.AllowExec,
			AllowFiles: c.policy.AllowFiles,
			Identity:   c.identity != nil,
		})
		if err == nil && c.identity != nil && c.identity.lent && c.stored {
			err = errors.Wrap(c.identity.checkServer(k.Config), "spec.identity")
		}
		if err != nil {
			return nil, err
		}
		return k, nil
	}
	if p.local == nil {
		return nil, errors.New("source InjectedIdentity is not available in this process")
	}
	return &kubeconfig.Result{Config: rest.CopyConfig(p.local)}, nil
}
