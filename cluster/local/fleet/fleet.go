// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	// Namespace is the namespace of the ProviderConfigs and the Kymas in the control plane.
	Namespace = "fleet"
	// Module is the name of the module that each cluster has, of its ModuleReleaseMeta, and of its ConfigMap.
	Module = "banner"
	// Channel is the release channel of the module.
	Channel = "regular"
	// Set is the name of the KymaSet.
	Set = "fleet"
	// Canary is the name of the cluster that gets each version first.
	Canary = "canary"

	labelRing = "ring"
	stable    = "stable"
	// kubeconfigKey is the key of the kubeconfig in its Secret.
	kubeconfigKey = "kubeconfig"
)

// names returns the names of the clusters.
func names() []string {
	return []string{Canary, "stable-1", "stable-2", "stable-3", "stable-4"}
}

// ringOf returns the ring of a cluster.
func ringOf(name string) string {
	if name == Canary {
		return Canary
	}
	return stable
}

// Options returns the options of the clusters, with their data in directories below dir that have the names of the clusters.
func Options(dir string) []controlplane.Options {
	var out []controlplane.Options
	for _, name := range names() {
		out = append(out, controlplane.Options{Name: name, Dir: filepath.Join(dir, name)})
	}
	return out
}

// A Fleet is the running clusters, and a client of their control plane.
type Fleet struct {
	Control  client.Client
	Clusters []*controlplane.Cluster
}

// Connect creates the namespace of the fleet in the control plane, with a ProviderConfig for each cluster. It has the name of the
// cluster and the label ring, and permits modules from a registry over plain HTTP.
func (f *Fleet) Connect(ctx context.Context, r *controlplane.Registry) error {
	objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}}
	for _, c := range f.Clusters {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: c.Name() + "-kubeconfig"},
			Data:       map[string][]byte{kubeconfigKey: c.Kubeconfig()},
		}
		pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: c.Name(), Labels: map[string]string{labelRing: ringOf(c.Name())},
		}}
		pc.Spec.Credentials.Source = v1alpha1.CredentialsSourceSecret
		pc.Spec.Credentials.SecretRef = &v1alpha1.SecretKeySelector{Name: secret.Name, Key: kubeconfigKey}
		pc.Spec.Registries = []v1alpha1.Registry{{Host: r.Host(), PlainHTTP: true}}
		objects = append(objects, secret, pc)
	}
	for _, o := range objects {
		if err := f.Control.Create(ctx, o); err != nil {
			return errors.Wrapf(err, "cannot create %T %q", o, o.GetName())
		}
	}
	return nil
}
