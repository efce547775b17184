// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Removing a Manifest", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	// ready creates a Manifest with a CRD, a stand-in for its operator, and a custom resource, and waits until it is Ready.
	ready := func(ctx SpecContext) {
		s.Create(ctx, s.Module(ctx, "module"))
		Eventually(s.GetWidget).WithContext(ctx).WithArguments("main").ShouldNot(BeNil())
		s.SetStatus(ctx, "main", `{"state":"Ready"}`)
		s.AwaitReady(ctx, "module")
	}
	liveCRD := func(ctx SpecContext) *apiextensionsv1.CustomResourceDefinition {
		crd := &unstructured.Unstructured{}
		crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		crd, err := Fetched(ctx, client.ObjectKey{Name: "widgets." + s.Group()}, crd)
		if err != nil {
			Expect(err).To(BeNotFound())
			return nil
		}
		return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: crd.GetDeletionTimestamp()}}
	}
	stay := And(Not(BeNil()), HaveField("DeletionTimestamp", BeNil()))

	It("leaves no objects behind", func(ctx SpecContext) {
		foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "foreign"}}
		Expect(Env.TargetClient.Create(ctx, foreign)).To(Succeed())
		ready(ctx)
		s.Remove(ctx, "module")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		Expect(liveCRD(ctx)).To(BeNil())
		s.MustConfigMap(ctx, "foreign")
	})

	It("waits for the custom resource while its controller still runs", func(ctx SpecContext) {
		ready(ctx)
		Edit(ctx, s.MustWidget(ctx, "main"), `{"metadata":{"finalizers":["example.org/hold"]}}`)
		s.Delete(ctx, "module")
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(
			HaveState(v1alpha1.StateDeleting, "Widget "+s.Name+"/main", "waiting for finalizer example.org/hold"))
		Consistently(func(g Gomega) {
			g.Expect(s.ConfigMap(ctx, "operator-operator")).To(HaveField("DeletionTimestamp", BeNil()))
			g.Expect(liveCRD(ctx)).To(stay)
			g.Expect(s.Get(ctx, "module")).NotTo(BeNil())
		}).Should(Succeed())

		Edit(ctx, s.MustWidget(ctx, "main"), `{"metadata":{"finalizers":null}}`)
		s.AwaitGone(ctx, "module")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		Expect(liveCRD(ctx)).To(BeNil())
	})

	It("waits for custom resources that users created, and lists them", func(ctx SpecContext) {
		ready(ctx)
		foreign := &unstructured.Unstructured{Object: s.Widget(s.Group(), "foreign", nil)}
		Expect(Env.TargetClient.Create(ctx, foreign)).To(Succeed())
		s.Delete(ctx, "module")
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(HaveState(v1alpha1.StateWarning, "Widget "+s.Name+"/foreign"))
		Eventually(Events).WithContext(ctx).WithArguments(s, "module").Should(ContainElement(SatisfyAll(
			HavePrefix("Warning RemovalBlocked"), ContainSubstring("Widget "+s.Name+"/foreign"))))
		Expect(Gone(s.GetWidget)(ctx, "main")).To(BeTrue())
		Consistently(func(g Gomega) {
			g.Expect(s.GetWidget(ctx, "foreign")).To(HaveField("GetDeletionTimestamp()", BeNil()))
			g.Expect(liveCRD(ctx)).To(stay)
		}).Should(Succeed())

		Expect(Env.TargetClient.Delete(ctx, foreign)).To(Succeed())
		s.AwaitGone(ctx, "module")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		Expect(liveCRD(ctx)).To(BeNil())
	})

	It("deletes CRDs last", func(ctx SpecContext) {
		ready(ctx)
		Edit(ctx, s.MustConfigMap(ctx, "operator-operator"), `{"metadata":{"finalizers":["example.org/hold"]}}`)
		s.Delete(ctx, "module")
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(
			HaveState(v1alpha1.StateDeleting, "ConfigMap "+s.Name+"/operator-operator", "example.org/hold"))
		Expect(Gone(s.GetWidget)(ctx, "main")).To(BeTrue())
		Consistently(func() *apiextensionsv1.CustomResourceDefinition { return liveCRD(ctx) }).Should(stay)
		Edit(ctx, s.MustConfigMap(ctx, "operator-operator"), `{"metadata":{"finalizers":null}}`)
		s.AwaitGone(ctx, "module")
		Expect(liveCRD(ctx)).To(BeNil())
	})

	It("works if it is partially installed", func(ctx SpecContext) {
		broken := NewChart("broken", "1.0.0").With("templates/all.yaml", `
apiVersion: v1
kind: ConfigMap
metadata:
  name: good
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: bad
spec: {replicas: 1}
`)
		s.Create(ctx, s.Manifest("broken", s.InstallOf("broken", broken.PushLayer(ctx), nil)))
		Eventually(s.Get).WithContext(ctx).WithArguments("broken").Should(NotSynced("Deployment " + s.Name + "/bad"))
		s.MustConfigMap(ctx, "good")
		s.Remove(ctx, "broken")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("completes if its namespace in the control plane is deleted", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		Expect(Env.ControlClient.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Name}})).To(Succeed())
		s.AwaitGone(ctx, "web")
		Expect(Gone(s.Deployment)(ctx, "web")).To(BeTrue())
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		Eventually(func() error {
			return Env.ControlClient.Get(ctx, client.ObjectKey{Name: s.Name}, &corev1.Namespace{})
		}).Should(BeNotFound())
	})
})
