// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// grant gives the provider the permissions of docs/permissions.md for targets, in the control plane, until the spec ends.
func (s *space) grant(ctx context.Context) {
	GinkgoHelper()
	who := &authenticationv1.SelfSubjectReview{}
	Expect(must(env.providerClient(ctx)).Create(ctx, who)).To(Succeed())
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "provider-kyma-target"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: who.Status.UserInfo.Username}},
	}
	objects := append(exampleRoles("target-cluster.yaml"), exampleRoles("target-charts.yaml")...)
	for _, o := range append(objects, binding) {
		s.create(ctx, o)
		DeferCleanup(func(ctx SpecContext) { s.delete(ctx, o) })
	}
	// Wait for the permissions, because no request of the provider may be refused.
	Eventually(env.may).WithContext(ctx).WithArguments(&authorizationv1.ResourceAttributes{
		Group: appsv1.GroupName, Resource: "deployments", Verb: "patch", Namespace: s.name,
	}).Should(BeTrue())
}

// exampleRoles returns the ClusterRoles of an example.
func exampleRoles(file string) []client.Object {
	GinkgoHelper()
	f := must(os.Open("../../examples/rbac/" + file))
	defer f.Close()
	var out []client.Object
	for d := yaml.NewYAMLOrJSONDecoder(f, 4096); ; {
		role := &rbacv1.ClusterRole{}
		if d.Decode(role) != nil {
			break
		}
		if role.Name != "" {
			out = append(out, role)
		}
	}
	Expect(out).NotTo(BeEmpty())
	return out
}

// own creates a ClusterProviderConfig for the control plane itself until the spec ends, and returns a reference to it.
func (s *space) own(ctx context.Context) *xpv2.ProviderConfigReference {
	GinkgoHelper()
	config := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
	config.Spec.Credentials.Source = v1alpha1.CredentialsSourceInjectedIdentity
	config.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Names: []string{s.name}}
	config.Spec.Registries = []v1alpha1.Registry{{Host: env.registry.Host(), PlainHTTP: true}}
	s.create(ctx, config)
	DeferCleanup(func(ctx SpecContext) { s.remove(ctx, config) })
	return &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: config.Name}
}

var _ = Describe("A Kyma whose target is the control plane", func() {
	It("installs, repairs and removes modules with the permissions of the provider", func(ctx SpecContext) {
		s := newSpace(ctx)
		s.grant(ctx)
		m := s.offer(ctx, "module")
		k := s.kyma("kyma", m.module())
		k.Spec.ProviderConfigReference = s.own(ctx)
		// Leftovers are deleted before the permissions.
		DeferCleanup(s.clean)
		s.create(ctx, k)
		local := func(ctx context.Context) (*corev1.ConfigMap, error) {
			return fetched(ctx, env.controlClient, s.key(m.name), &corev1.ConfigMap{})
		}

		By("waiting for the workload of the module")
		deployment := &appsv1.Deployment{}
		Eventually(env.controlClient.Get).WithContext(ctx).WithArguments(s.key(m.name), deployment).Should(Succeed())
		Expect(must(s.getKyma(ctx, "kyma")).GetCondition(xpv2.TypeReady).Status).NotTo(Equal(corev1.ConditionTrue))
		// This control plane does not run Deployments.
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		Expect(env.controlClient.Status().Update(ctx, deployment)).To(Succeed())
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(beReady())
		Expect(must(local(ctx)).Data).To(HaveKeyWithValue("message", "hello"))
		Expect(s.objectsIn(ctx, env.controlClient)).NotTo(BeEmpty())
		Expect(s.objects(ctx)).To(BeEmpty(), "the other cluster gets nothing")

		By("repairing changes of other clients")
		Expect(env.controlClient.Patch(ctx, must(local(ctx)), client.RawPatch("application/merge-patch+json", []byte(`{"data":{"message":"changed"}}`)),
			client.FieldOwner("other"))).To(Succeed())
		Eventually(local).WithContext(ctx).Should(HaveField("Data", HaveKeyWithValue("message", "hello")))

		By("removing the module, and nothing else")
		s.remove(ctx, k)
		Eventually(absent(env.controlClient, s.key(m.manifest("kyma")), &v1alpha1.Manifest{})).WithContext(ctx).Should(BeTrue())
		Expect(s.objectsIn(ctx, env.controlClient)).To(BeEmpty())
	})
})
