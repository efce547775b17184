// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// kubeconfigKey is the key of the kubeconfig in its Secret.
const kubeconfigKey = "kubeconfig"

// Connect creates a namespace in a control plane, with a ProviderConfig for a target that permits modules from a registry
// over plain HTTP. The kubeconfig is in the Secret <config>-kubeconfig.
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
