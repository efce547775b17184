// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
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

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// InventoryNamespace is the namespace of the inventories in a target.
const InventoryNamespace = "kyma-system"

// Labels of installed objects and inventories. ManagedBy is the value of LabelManagedBy.
const (
	LabelManagedBy = "operator.kyma-project.io/managed-by"
	LabelPartOf    = "applyset.kubernetes.io/part-of"
	LabelSetID     = "applyset.kubernetes.io/id"
	ManagedBy      = "provider-kyma"
)

// Fetched reads an object of the target into an empty one, and returns it.
func Fetched[T client.Object](ctx context.Context, key client.ObjectKey, into T) (T, error) {
	return into, Env.TargetClient.Get(ctx, key, into)
}

// ConfigMap returns a ConfigMap of the space in the target.
func (s *Space) ConfigMap(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	return Fetched(ctx, s.Key(name), &corev1.ConfigMap{})
}

// Deployment returns a Deployment of the space in the target.
func (s *Space) Deployment(ctx context.Context, name string) (*appsv1.Deployment, error) {
	return Fetched(ctx, s.Key(name), &appsv1.Deployment{})
}

// MustConfigMap returns a ConfigMap of the space in the target, which must exist.
func (s *Space) MustConfigMap(ctx context.Context, name string) *corev1.ConfigMap {
	GinkgoHelper()
	cm, err := s.ConfigMap(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	return cm
}

// MustDeployment returns a Deployment of the space in the target, which must exist.
func (s *Space) MustDeployment(ctx context.Context, name string) *appsv1.Deployment {
	GinkgoHelper()
	d, err := s.Deployment(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	return d
}

// AwaitMessage waits until a ConfigMap of the web chart has a message.
func (s *Space) AwaitMessage(ctx context.Context, name, message string) {
	GinkgoHelper()
	Eventually(s.ConfigMap).WithContext(ctx).WithArguments(name).Should(HaveData("message", message))
}

// HaveData matches a ConfigMap with a key and its value.
func HaveData(key, value string) types.GomegaMatcher {
	return WithTransform(func(cm *corev1.ConfigMap) map[string]string { return cm.Data }, HaveKeyWithValue(key, value))
}

// Gone turns a function that gets an object into one that reports whether the object does not exist.
func Gone[T client.Object](get func(context.Context, string) (T, error)) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, name string) (bool, error) {
		_, err := get(ctx, name)
		return kerrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
}

// Edit changes an object of the target by a merge patch, as a person would.
func Edit(ctx context.Context, o client.Object, patch string) {
	GinkgoHelper()
	Expect(Env.TargetClient.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(patch)),
		client.FieldOwner("other-client"))).To(Succeed())
}

// grant grants a user all permissions in the target until the end of the spec.
func grant(ctx context.Context, user string) {
	GinkgoHelper()
	b := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	Expect(Env.TargetClient.Create(ctx, b)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Revoke(ctx, user) })
}

// Revoke revokes the permissions that grant granted a user of the target.
func Revoke(ctx context.Context, user string) {
	GinkgoHelper()
	b := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user}}
	Expect(client.IgnoreNotFound(Env.TargetClient.Delete(ctx, b))).To(Succeed())
}

// Leftovers returns the objects of a cluster that were installed into the namespace of the space, by kind, namespace and name.
func (s *Space) Leftovers(ctx context.Context, cluster *controlplane.Cluster) ([]string, error) {
	all, err := s.Objects(ctx, cluster)
	return slices.Sorted(maps.Keys(all)), err
}

// Objects returns the objects of a cluster that were installed into the namespace of the space, of all kinds that the cluster
// serves, by kind, namespace and name: those with our label, and the records of Helm releases.
func (s *Space) Objects(ctx context.Context, cluster *controlplane.Cluster) (map[string]*unstructured.Unstructured, error) {
	d, err := discovery.NewDiscoveryClientForConfig(cluster.Config())
	if err != nil {
		return nil, err
	}
	c, err := NewClient(cluster)
	if err != nil {
		return nil, err
	}
	resources, err := d.ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	found := map[string]*unstructured.Unstructured{}
	for _, group := range resources {
		gv, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range group.APIResources {
			if !slices.Contains(r.Verbs, "list") {
				continue
			}
			if err := s.addLabelled(ctx, found, c, gv.WithKind(r.Kind), client.MatchingLabels{LabelManagedBy: ManagedBy}); err != nil {
				return nil, err
			}
		}
	}
	return found, s.addLabelled(ctx, found, c, corev1.SchemeGroupVersion.WithKind("Secret"), client.MatchingLabels{"owner": "helm"})
}

// addLabelled adds the objects of a kind in the namespace of the space that have labels.
func (s *Space) addLabelled(
	ctx context.Context, to map[string]*unstructured.Unstructured, c client.Client, gvk schema.GroupVersionKind, o ...client.ListOption,
) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := c.List(ctx, list, o...); client.IgnoreNotFound(err) != nil {
		return err
	}
	for i := range list.Items {
		o := &list.Items[i]
		if strings.Contains(o.GetNamespace()+"/"+o.GetName(), s.Name) || o.GetAnnotations()["meta.helm.sh/release-namespace"] == s.Name {
			to[fmt.Sprintf("%s %s/%s", gvk.Kind, o.GetNamespace(), o.GetName())] = o
		}
	}
	return nil
}

// Must returns v. An error fails the spec.
func Must[T any](v T, err error) T {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return v
}

// DeletePods deletes the pods of the space without a grace period.
func (s *Space) DeletePods(ctx context.Context) {
	GinkgoHelper()
	Expect(Env.TargetClient.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(s.Name), client.GracePeriodSeconds(0))).To(Succeed())
}

// Kubectl runs the real kubectl against the target, in the namespace of the space, and returns its output.
func (s *Space) Kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	kubectl, err := tools.Path(ctx, tools.Kubectl)
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.CommandContext(ctx, kubectl, append(args, "--namespace", s.Name, "--kubeconfig", Env.Target.KubeconfigFile())...)
	cmd.Env = []string{"HOME=" + Env.Dir, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "kubectl %v: %s", args, out)
	return string(out)
}

// Selector returns a selector of the namespace of the space.
func (s *Space) Selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.Name}}
}

// InTarget creates an object in the target, and deletes it at the end of the spec.
func InTarget(ctx context.Context, o client.Object) {
	GinkgoHelper()
	Expect(Env.TargetClient.Create(ctx, o)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(Env.TargetClient.Delete(ctx, o))).To(Succeed()) })
}

// Module returns a Manifest with a CRD, a stand-in for its operator, and a custom resource called main.
func (s *Space) Module(ctx context.Context, name string) *v1alpha1.Manifest {
	GinkgoHelper()
	m := s.Manifest(name, s.InstallOf("operator", OperatorChart(s.Group()).PushLayer(ctx), nil))
	m.Spec.ForProvider.Resource = Raw(s.Widget(s.Group(), "main", Values{"size": "small"}))
	return m
}

// GetWidget returns a Widget of the space in the target.
func (s *Space) GetWidget(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: s.Group(), Version: "v1", Kind: "Widget"})
	return Fetched(ctx, s.Key(name), u)
}

// MustWidget returns a Widget of the space in the target, which must exist.
func (s *Space) MustWidget(ctx context.Context, name string) *unstructured.Unstructured {
	GinkgoHelper()
	return Must(s.GetWidget(ctx, name))
}

// SetStatus sets the status of a Widget, given in JSON, as the operator of the module would.
func (s *Space) SetStatus(ctx context.Context, name, status string) {
	GinkgoHelper()
	u := s.MustWidget(ctx, name)
	Expect(Env.TargetClient.Status().Patch(ctx, u, client.RawPatch("application/merge-patch+json", []byte(`{"status":`+status+`}`)))).To(Succeed())
}
