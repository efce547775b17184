// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"context"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// clusterCRD is a CRD with the group, the version and the kind of Cluster API.
const clusterCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: clusters.cluster.x-k8s.io
  annotations: {api-approved.kubernetes.io: "https://github.com/kubernetes-sigs/cluster-api"}
spec:
  group: cluster.x-k8s.io
  scope: Namespaced
  names: {plural: clusters, singular: cluster, kind: Cluster, listKind: ClusterList}
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

var _ = Describe("A KymaSet for Cluster API", Serial, func() {
	It("waits for the CRD, and makes a ProviderConfig and a Kyma for each Cluster", func(ctx SpecContext) {
		s := NewSpace(ctx)
		set := &v1alpha1.KymaSet{ObjectMeta: metav1.ObjectMeta{Name: s.Name}}
		set.Spec.ClusterAPI = &v1alpha1.ClusterAPISelection{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{spaceLabel: s.Name}}}
		set.Spec.Template.Spec.ForProvider.Channel = "$(cluster.labels['channel'])"
		create(ctx, s, set)
		Eventually(get).WithContext(ctx).WithArguments(set.Name).Should(isReady(corev1.ConditionFalse, v1alpha1.ReasonBlocked, "install Cluster API"))

		By("installing Cluster API")
		crd := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(clusterCRD), &crd.Object)).To(Succeed())
		s.Create(ctx, crd)
		DeferCleanup(func(ctx SpecContext) { Expect(Env.ControlClient.Delete(ctx, crd)).To(Succeed()) })
		s.Secret(ctx, "edge-kubeconfig", "cluster.x-k8s.io/secret", map[string][]byte{"value": Env.Target.Kubeconfig()})
		cluster := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster"}}
		cluster.SetNamespace(s.Name)
		cluster.SetName("edge")
		cluster.SetLabels(map[string]string{spaceLabel: s.Name, "channel": "fast", "region": "eu"})
		Eventually(func(ctx context.Context) error { return Env.ControlClient.Create(ctx, cluster.DeepCopy()) }).WithContext(ctx).Should(Succeed())
		k := s.AwaitKyma(ctx, "edge")
		Expect(k.Spec.ForProvider.Channel).To(Equal("fast"))
		pc := &v1alpha1.ProviderConfig{}
		Expect(Env.ControlClient.Get(ctx, s.Key("edge"), pc)).To(Succeed())
		Expect(pc.Labels).To(And(HaveKeyWithValue("region", "eu"), HaveKeyWithValue(v1alpha1.LabelKymaSet, set.Name)))
		Eventually(get).WithContext(ctx).WithArguments(set.Name).Should(report(1, 1, 1, 0))

		By("following the labels of the Cluster")
		edit(ctx, cluster.DeepCopy(), `{"metadata":{"labels":{"channel":"regular"}}}`)
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("edge").Should(HaveField("Spec.ForProvider.Channel", "regular"))

		By("deleting the Cluster")
		Expect(Env.ControlClient.Delete(ctx, cluster)).To(Succeed())
		s.AwaitKymaGone(ctx, "edge")
		Eventually(func() error { return Env.ControlClient.Get(ctx, client.ObjectKeyFromObject(pc), pc) }).WithContext(ctx).Should(BeNotFound())
		Eventually(get).WithContext(ctx).WithArguments(set.Name).Should(report(0, 0, 0, 0))
	})
})
