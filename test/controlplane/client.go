// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// kubeconfigKey is the key of a kubeconfig in its Secret.
const kubeconfigKey = "kubeconfig"

// Client returns a client of an administrator, which knows the kinds of
// Kubernetes and those of this repository. It reads from the API server, not from
// a cache.
func (a *access) Client() (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, errors.Wrap(err, "cannot register the kinds of Kubernetes")
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, errors.Wrap(err, "cannot register our kinds")
	}
	made, err := client.NewWithWatch(a.admin, client.Options{Scheme: scheme})
	return made, errors.Wrapf(err, "cannot make a client of cluster %q", a.name)
}

// Connect makes, in a control plane, a namespace with a ProviderConfig for a
// target, whose modules may come from a registry over plain http. The kubeconfig
// is in the Secret <config>-kubeconfig.
func Connect(ctx context.Context, control client.Client, namespace, config string, target *Cluster, r *Registry) error {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: config + "-kubeconfig"},
		Data:       map[string][]byte{kubeconfigKey: target.Kubeconfig()},
	}
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: config}}
	pc.Spec.Credentials.Source = v1alpha1.CredentialsSourceSecret
	pc.Spec.Credentials.SecretRef = &v1alpha1.SecretKeySelector{Name: secret.Name, Key: kubeconfigKey}
	pc.Spec.Registries = []v1alpha1.Registry{{Host: r.Host(), PlainHTTP: true}}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, secret, pc,
	} {
		if err := control.Create(ctx, o); err != nil {
			return errors.Wrapf(err, "cannot create %T %q", o, o.GetName())
		}
	}
	return nil
}
