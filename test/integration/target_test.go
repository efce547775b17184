// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// inventoryNamespace holds the inventories in a target.
const inventoryNamespace = "kyma-system"

// Labels and annotations of what is installed.
const (
	labelManagedBy = "operator.kyma-project.io/managed-by"
	labelPartOf    = "applyset.kubernetes.io/part-of"
	labelSetID     = "applyset.kubernetes.io/id"
	managedBy      = "provider-kyma"
)

// fetched gets an object of the target.
func fetched[T client.Object](ctx context.Context, key client.ObjectKey, into T) (T, error) {
	return into, env.targetClient.Get(ctx, key, into)
}

// configMap of the space in the target.
func (s *space) configMap(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	return fetched(ctx, s.key(name), &corev1.ConfigMap{})
}

// deployment of the space in the target.
func (s *space) deployment(ctx context.Context, name string) (*appsv1.Deployment, error) {
	return fetched(ctx, s.key(name), &appsv1.Deployment{})
}

// mustConfigMap is a ConfigMap that is in the target now.
func (s *space) mustConfigMap(ctx context.Context, name string) *corev1.ConfigMap {
	GinkgoHelper()
	cm, err := s.configMap(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	return cm
}

// mustDeployment is a Deployment that is in the target now.
func (s *space) mustDeployment(ctx context.Context, name string) *appsv1.Deployment {
	GinkgoHelper()
	d, err := s.deployment(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	return d
}

// awaitMessage waits until a ConfigMap of the web chart has a message.
func (s *space) awaitMessage(ctx context.Context, name, message string) {
	GinkgoHelper()
	Eventually(s.configMap).WithContext(ctx).WithArguments(name).Should(haveData("message", message))
}

// haveData matches a ConfigMap with a key of a value.
func haveData(key, value string) types.GomegaMatcher {
	return WithTransform(func(cm *corev1.ConfigMap) map[string]string { return cm.Data }, HaveKeyWithValue(key, value))
}

// gone turns a function that gets an object into one that says whether it does not exist.
func gone[T client.Object](get func(context.Context, string) (T, error)) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, name string) (bool, error) {
		_, err := get(ctx, name)
		return kerrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
}

// edit an object of the target as a person does, by a merge patch.
func edit(ctx context.Context, o client.Object, patch string) {
	GinkgoHelper()
	Expect(env.targetClient.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(patch)),
		client.FieldOwner("somebody"))).To(Succeed())
}

// grant all rights in the target to a user, until the end of the spec.
func grant(ctx context.Context, user string) {
	GinkgoHelper()
	b := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	Expect(env.targetClient.Create(ctx, b)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { revoke(ctx, user) })
}

// revoke what was granted to a user of the target.
func revoke(ctx context.Context, user string) {
	GinkgoHelper()
	b := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user}}
	Expect(client.IgnoreNotFound(env.targetClient.Delete(ctx, b))).To(Succeed())
}

// leftovers are the objects of a cluster that were installed into the namespace of the space, of all kinds that it
// serves: those that carry our label, and the records of Helm releases.
func (s *space) leftovers(ctx context.Context, cluster *controlplane.Cluster) ([]string, error) {
	d, err := discovery.NewDiscoveryClientForConfig(cluster.Config())
	if err != nil {
		return nil, err
	}
	c, err := newClient(cluster)
	if err != nil {
		return nil, err
	}
	resources, err := d.ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	var left []string
	for _, group := range resources {
		gv, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range group.APIResources {
			if !slices.Contains(r.Verbs, "list") {
				continue
			}
			found, err := s.labelled(ctx, c, gv.WithKind(r.Kind), client.MatchingLabels{labelManagedBy: managedBy})
			if err != nil {
				return nil, err
			}
			left = append(left, found...)
		}
	}
	records, err := s.labelled(ctx, c, corev1.SchemeGroupVersion.WithKind("Secret"), client.MatchingLabels{"owner": "helm"})
	return append(left, records...), err
}

func (s *space) labelled(ctx context.Context, c client.Client, gvk schema.GroupVersionKind, o ...client.ListOption) ([]string, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := c.List(ctx, list, o...); client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	var found []string
	for i := range list.Items {
		o := &list.Items[i]
		if strings.Contains(o.GetNamespace()+"/"+o.GetName(), s.name) || o.GetAnnotations()["meta.helm.sh/release-namespace"] == s.name {
			found = append(found, fmt.Sprintf("%s %s/%s", gvk.Kind, o.GetNamespace(), o.GetName()))
		}
	}
	return found, nil
}

// must is for what has no reason to fail.
func must[T any](v T, err error) T {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return v
}

// deletePods of the space at once.
func (s *space) deletePods(ctx context.Context) {
	GinkgoHelper()
	Expect(env.targetClient.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(s.name), client.GracePeriodSeconds(0))).To(Succeed())
}
