// SPDX-License-Identifier: Apache-2.0

package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Removing a Manifest", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	// ready is a Manifest with a CRD, what serves it, and a custom resource.
	ready := func(ctx SpecContext) {
		s.create(ctx, s.module(ctx, "module"))
		Eventually(s.getWidget).WithContext(ctx).WithArguments("main").ShouldNot(BeNil())
		s.setStatus(ctx, "main", `{"state":"Ready"}`)
		s.awaitReady(ctx, "module")
	}
	definition := func(ctx SpecContext) *apiextensionsv1.CustomResourceDefinition {
		crd := &unstructured.Unstructured{}
		crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		crd, err := fetched(ctx, client.ObjectKey{Name: "widgets." + s.group()}, crd)
		if err != nil {
			Expect(err).To(beNotFound())
			return nil
		}
		return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: crd.GetDeletionTimestamp()}}
	}
	stay := And(Not(BeNil()), HaveField("DeletionTimestamp", BeNil()))

	It("leaves nothing of it", func(ctx SpecContext) {
		foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "foreign"}}
		Expect(env.targetClient.Create(ctx, foreign)).To(Succeed())
		ready(ctx)
		s.remove(ctx, "module")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
		Expect(definition(ctx)).To(BeNil())
		s.mustConfigMap(ctx, "foreign")
	})

	It("waits for the custom resource, while what serves it still runs", func(ctx SpecContext) {
		ready(ctx)
		edit(ctx, s.mustWidget(ctx, "main"), `{"metadata":{"finalizers":["example.org/hold"]}}`)
		s.delete(ctx, "module")
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(
			haveState(v1alpha1.StateDeleting, "Widget "+s.name+"/main", "waits for finalizer example.org/hold"))
		Consistently(func(g Gomega) {
			g.Expect(s.configMap(ctx, "operator-operator")).To(HaveField("DeletionTimestamp", BeNil()))
			g.Expect(definition(ctx)).To(stay)
			g.Expect(s.get(ctx, "module")).NotTo(BeNil())
		}).Should(Succeed())

		edit(ctx, s.mustWidget(ctx, "main"), `{"metadata":{"finalizers":null}}`)
		s.awaitGone(ctx, "module")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
		Expect(definition(ctx)).To(BeNil())
	})

	It("waits for custom resources that others made, and names one", func(ctx SpecContext) {
		ready(ctx)
		foreign := &unstructured.Unstructured{Object: s.widget(s.group(), "foreign", nil)}
		Expect(env.targetClient.Create(ctx, foreign)).To(Succeed())
		s.delete(ctx, "module")
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(haveState(v1alpha1.StateWarning, "Widget "+s.name+"/foreign"))
		Eventually(s.events).WithContext(ctx).WithArguments("module").Should(ContainElement(SatisfyAll(
			HavePrefix("Warning RemovalBlocked"), ContainSubstring("Widget "+s.name+"/foreign"))))
		Expect(gone(s.getWidget)(ctx, "main")).To(BeTrue())
		Consistently(func(g Gomega) {
			g.Expect(s.getWidget(ctx, "foreign")).To(HaveField("GetDeletionTimestamp()", BeNil()))
			g.Expect(definition(ctx)).To(stay)
		}).Should(Succeed())

		Expect(env.targetClient.Delete(ctx, foreign)).To(Succeed())
		s.awaitGone(ctx, "module")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
		Expect(definition(ctx)).To(BeNil())
	})

	It("takes CRDs last", func(ctx SpecContext) {
		ready(ctx)
		edit(ctx, s.mustConfigMap(ctx, "operator-operator"), `{"metadata":{"finalizers":["example.org/hold"]}}`)
		s.delete(ctx, "module")
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(
			haveState(v1alpha1.StateDeleting, "ConfigMap "+s.name+"/operator-operator", "example.org/hold"))
		Expect(gone(s.getWidget)(ctx, "main")).To(BeTrue())
		Consistently(func() *apiextensionsv1.CustomResourceDefinition { return definition(ctx) }).Should(stay)
		edit(ctx, s.mustConfigMap(ctx, "operator-operator"), `{"metadata":{"finalizers":null}}`)
		s.awaitGone(ctx, "module")
		Expect(definition(ctx)).To(BeNil())
	})

	It("works while it is half installed", func(ctx SpecContext) {
		broken := newChart("broken", "1.0.0").with("templates/all.yaml", `
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
		s.create(ctx, s.manifest("broken", s.installOf("broken", broken.pushLayer(ctx), nil)))
		Eventually(s.get).WithContext(ctx).WithArguments("broken").Should(notSynced("Deployment " + s.name + "/bad"))
		s.mustConfigMap(ctx, "good")
		s.remove(ctx, "broken")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("ends when its namespace in the control plane is deleted with everything inside", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		Expect(env.controlClient.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}})).To(Succeed())
		s.awaitGone(ctx, "web")
		Expect(gone(s.deployment)(ctx, "web")).To(BeTrue())
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
		Eventually(func() error {
			return env.controlClient.Get(ctx, client.ObjectKey{Name: s.name}, &corev1.Namespace{})
		}).Should(beNotFound())
	})
})
