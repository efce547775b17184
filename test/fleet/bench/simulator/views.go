// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
)

// NameIn returns the name of an object in a cluster that is a view: views of a real API server share its namespaces.
func NameIn(cluster, name string) string { return cluster + "-" + name }

// A target is a real API server, whose views are the clusters.
type target struct {
	backend *apiserver.Backend
	client  dynamic.Interface
}

// targetOf returns the API server of a kubeconfig.
func targetOf(ctx context.Context, kubeconfig string) (*target, error) {
	c, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the kubeconfig of the real API server")
	}
	c.QPS = -1
	plain, err := kubernetes.NewForConfig(c)
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a client")
	}
	// All views have this namespace. The first one that creates it would be the only one that sees it.
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: manifest.DefaultNamespace}}
	if _, err := plain.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil && !kerrors.IsAlreadyExists(err) {
		return nil, errors.Wrapf(err, "cannot create namespace %q", ns.Name)
	}
	t := &target{}
	if t.client, err = dynamic.NewForConfig(c); err != nil {
		return nil, errors.Wrap(err, "cannot create a client")
	}
	t.backend, err = apiserver.NewBackend(c)
	return t, err
}

// has reports whether an object of a cluster has the value of a field.
func (t *target) has(ctx context.Context, cluster, name string, f Field) bool {
	u, err := t.client.Resource(f.Resource).Namespace(f.Namespace).Get(ctx, NameIn(cluster, name), metav1.GetOptions{})
	return err == nil && f.in(u.Object)
}
