// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// A host is the environment of the parts of Crossplane: a control plane with a client, and a directory for logs,
// certificates and caches.
type host struct {
	cluster *controlplane.Cluster
	client  client.Client
	dir     string
}

func newHost(cluster *controlplane.Cluster, dir string) (host, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return host{}, errors.Wrap(err, "cannot determine the directory")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return host{}, errors.Wrap(err, "cannot create the directory")
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, pkgv1.SchemeBuilder.AddToScheme, pkgv1beta1.SchemeBuilder.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return host{}, errors.Wrap(err, "cannot register the kinds of Crossplane")
		}
	}
	c, err := client.New(cluster.Config(), client.Options{Scheme: scheme})
	return host{cluster: cluster, client: c, dir: dir}, errors.Wrap(err, "cannot create a client")
}

// Dir returns the directory with the logs.
func (s host) Dir() string { return s.dir }

func (s host) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

// secret returns the data of a Secret in Crossplane's namespace.
func (s host) secret(ctx context.Context, name string) (map[string][]byte, error) {
	out := &corev1.Secret{}
	err := s.client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: name}, out)
	return out.Data, errors.Wrapf(err, "cannot get Secret %q", name)
}

// writeSecret writes each key of a Secret in Crossplane's namespace to a file.
func (s host) writeSecret(ctx context.Context, name, dir string) error {
	data, err := s.secret(ctx, name)
	if err != nil {
		return err
	}
	return errors.Wrapf(writeFiles(dir, data), "cannot write Secret %q", name)
}

// writeFiles writes files into a directory, which it creates if necessary.
func writeFiles(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err //nolint:wrapcheck // It names the directory.
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err //nolint:wrapcheck // It names the file.
		}
	}
	return nil
}
