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
	err := objects.Parallel(ctx, w.Clusters, func(ctx context.Context, i int) error { return w.addCluster(ctx, meta(i)) })
	return errors.Wrap(err, "cannot add a cluster")
}

// addCluster adds a cluster with a Secret and a ProviderConfig.
func (w *World) addCluster(ctx context.Context, m metav1.ObjectMeta) error {
	kubeconfig, err := w.Simulator.Add(m.Name)
	if err != nil {
		return err
	}
	if err := w.Client.Create(ctx, secretOf(m, kubeconfig)); err != nil {
		return err
	}
	pc := &v1alpha1.ProviderConfig{ObjectMeta: m}
	pc.Labels = map[string]string{setLabel: m.Namespace}
	pc.Spec.Credentials.Source = v1alpha1.CredentialsSourceSecret
	pc.Spec.Credentials.SecretRef = &v1alpha1.SecretKeySelector{Name: m.Name, Key: kubeconfigKey}
	pc.Spec.Registries = []v1alpha1.Registry{{Host: w.registry.Host(), PlainHTTP: true}}
	return w.Client.Create(ctx, pc)
}

// InstallKymas creates the Kymas, and waits until all are Ready.
func (w *World) InstallKymas(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errors.Errorf("not all Kymas are Ready within %s", timeout))
	defer cancel()
	err := objects.Parallel(ctx, w.Clusters, func(ctx context.Context, i int) error {
		k := &v1alpha1.Kyma{ObjectMeta: meta(i)}
		k.Labels = labelsOf(i)
		k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: Cluster(i)}
		k.Spec.ForProvider.Modules = w.modules(i, "")
		return w.Client.Create(ctx, k)
	})
	if err != nil {
		return errors.Wrap(err, "cannot create a Kyma")
	}
	return w.AwaitKymas(ctx)
}

// AwaitKymas waits until all Kymas are Ready.
func (w *World) AwaitKymas(ctx context.Context) error {
	return objects.NewPending(w.Clusters, Cluster).Await(ctx, w.Client, &v1alpha1.KymaList{}, namespace)
}

// Rotate replaces the credentials of a cluster.
func (w *World) Rotate(ctx context.Context, i int) error {
	kubeconfig, err := w.Simulator.Rotate(Cluster(i))
	if err != nil {
		return err
	}
	return errors.Wrapf(w.Client.Update(ctx, secretOf(meta(i), kubeconfig)), "cannot update Secret %q", Cluster(i))
}

// Remove deletes the Kyma of a cluster, waits until it is gone, and removes the ProviderConfig and the cluster.
func (w *World) Remove(ctx context.Context, i int) error {
	if err := w.delete(ctx, &v1alpha1.Kyma{ObjectMeta: meta(i)}); err != nil {
		return err
	}
	return w.removeCluster(ctx, meta(i))
}

// removeCluster removes a cluster with its Secret and its ProviderConfig.
func (w *World) removeCluster(ctx context.Context, m metav1.ObjectMeta) error {
	if err := w.delete(ctx, &v1alpha1.ProviderConfig{ObjectMeta: m}); err != nil {
		return err
	}
	if err := w.Client.Delete(ctx, &corev1.Secret{ObjectMeta: m}); err != nil {
		return errors.Wrapf(err, "cannot delete Secret %q", m.Name)
	}
	return w.Simulator.Remove(m.Name)
}

// AwaitUnreachable waits until the provider has found that the first clusters cannot be reached, and only they.
func (w *World) AwaitUnreachable(ctx context.Context, clusters int) error {
	for {
		l := &v1alpha1.ProviderConfigList{}
		if err := w.Client.List(ctx, l, client.InNamespace(namespace)); err != nil {
			return errors.Wrap(err, "cannot list ProviderConfigs")
		}
		found, others := 0, 0
		for i := range l.Items {
			switch {
			case l.Items[i].GetCondition(v1alpha1.TypeReachable).Status != corev1.ConditionFalse:
			case l.Items[i].Name < Cluster(clusters):
				found++
			default:
				others++
			}
		}
		if found == clusters && others == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Wrapf(context.Cause(ctx), "%d clusters that fail, and %d others, cannot be reached", found, others)
		case <-time.After(100 * time.Millisecond): //nolint:mnd // It only limits the requests.
		}
	}
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

func secretOf(m metav1.ObjectMeta, kubeconfig []byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: m, Data: map[string][]byte{kubeconfigKey: kubeconfig}}
}
