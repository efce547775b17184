// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
)

// kubeconfigKey is the key of the kubeconfig in the Secret of a cluster.
const kubeconfigKey = "kubeconfig"

// AddClusters adds all clusters, with a ProviderConfig each.
func (w *World) AddClusters(ctx context.Context) error {
	err := objects.Parallel(ctx, w.Clusters, func(ctx context.Context, i int) error {
		kubeconfig, err := w.Simulator.Add(Cluster(i))
		if err != nil {
			return err
		}
		if err := w.Client.Create(ctx, secretOf(i, kubeconfig)); err != nil {
			return err
		}
		pc := &v1alpha1.ProviderConfig{ObjectMeta: meta(i)}
		pc.Spec.Credentials.Source = v1alpha1.CredentialsSourceSecret
		pc.Spec.Credentials.SecretRef = &v1alpha1.SecretKeySelector{Name: Cluster(i), Key: kubeconfigKey}
		pc.Spec.Registries = []v1alpha1.Registry{{Host: w.registry.Host(), PlainHTTP: true}}
		return w.Client.Create(ctx, pc)
	})
	return errors.Wrap(err, "cannot add a cluster")
}

// InstallKymas creates the Kymas, and waits until all are Ready.
func (w *World) InstallKymas(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errors.Errorf("not all Kymas are Ready within %s", timeout))
	defer cancel()
	err := objects.Parallel(ctx, w.Clusters, func(ctx context.Context, i int) error {
		k := &v1alpha1.Kyma{ObjectMeta: meta(i)}
		k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: Cluster(i)}
		k.Spec.ForProvider.Modules = w.modules("")
		return w.Client.Create(ctx, k)
	})
	if err != nil {
		return errors.Wrap(err, "cannot create a Kyma")
	}
	return objects.NewPending(w.Clusters, Cluster).Await(ctx, w.Client, &v1alpha1.KymaList{}, namespace)
}

// Rotate replaces the credentials of a cluster.
func (w *World) Rotate(ctx context.Context, i int) error {
	kubeconfig, err := w.Simulator.Rotate(Cluster(i))
	if err != nil {
		return err
	}
	return errors.Wrapf(w.Client.Update(ctx, secretOf(i, kubeconfig)), "cannot update Secret %q", Cluster(i))
}

// Remove deletes the Kyma of a cluster, waits until it is gone, and removes the ProviderConfig and the cluster.
func (w *World) Remove(ctx context.Context, i int) error {
	for _, o := range []client.Object{&v1alpha1.Kyma{ObjectMeta: meta(i)}, &v1alpha1.ProviderConfig{ObjectMeta: meta(i)}} {
		if err := w.delete(ctx, o); err != nil {
			return err
		}
	}
	if err := w.Client.Delete(ctx, &corev1.Secret{ObjectMeta: meta(i)}); err != nil {
		return errors.Wrapf(err, "cannot delete Secret %q", Cluster(i))
	}
	return w.Simulator.Remove(Cluster(i))
}

// delete deletes an object and waits until it is gone.
func (w *World) delete(ctx context.Context, o client.Object) error {
	if err := w.Client.Delete(ctx, o); err != nil {
		return errors.Wrapf(err, "cannot delete %T %q", o, o.GetName())
	}
	for {
		err := w.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
		if kerrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return errors.Wrapf(err, "cannot get %T %q", o, o.GetName())
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(context.Cause(ctx), "%T %q still exists", o, o.GetName())
		case <-time.After(100 * time.Millisecond): //nolint:mnd // It only limits the requests.
		}
	}
}

func meta(i int) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: Cluster(i)} }

func secretOf(i int, kubeconfig []byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: meta(i), Data: map[string][]byte{kubeconfigKey: kubeconfig}}
}
