// SPDX-License-Identifier: Apache-2.0

package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Custom resources of a module's own kinds", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("are counted and named while they block the removal, and are deleted only if that is asked for", func(ctx SpecContext) {
		s.create(ctx, s.module(ctx, "module"))
		Eventually(s.getWidget).WithContext(ctx).WithArguments("main").ShouldNot(BeNil())
		for _, n := range []string{"a", "b"} {
			Expect(env.targetClient.Create(ctx, &unstructured.Unstructured{Object: s.widget(s.group(), n, nil)})).To(Succeed())
		}
		edit(ctx, s.mustWidget(ctx, "b"), `{"metadata":{"finalizers":["example.org/hold"]}}`)
		s.delete(ctx, "module")
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(haveState(v1alpha1.StateWarning,
			"2 objects of this module's own kinds are left: Widget "+s.name+"/a, Widget "+s.name+"/b", v1alpha1.AnnotationForceRemoval))
		Expect(gone(s.getWidget)(ctx, "main")).To(BeTrue())

		s.update(ctx, "module", func(m *v1alpha1.Manifest) {
			m.Annotations[v1alpha1.AnnotationForceRemoval] = "true"
		})
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(haveState(v1alpha1.StateDeleting,
			"1 object of this module's own kinds is left: Widget "+s.name+"/b", "waits for finalizer example.org/hold"))
		Expect(gone(s.getWidget)(ctx, "a")).To(BeTrue())
		s.mustConfigMap(ctx, "operator-operator")
		Eventually(s.events).WithContext(ctx).WithArguments("module").Should(ContainElement(SatisfyAll(
			HavePrefix("Warning RemovalForced"), ContainSubstring("Widget "+s.name+"/a"))))

		edit(ctx, s.mustWidget(ctx, "b"), `{"metadata":{"finalizers":null}}`)
		s.awaitGone(ctx, "module")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("are judged by conditions where they have no state, and not by what is said of an older generation", func(ctx SpecContext) {
		s.create(ctx, s.module(ctx, "module"))
		Eventually(s.getWidget).WithContext(ctx).WithArguments("main").ShouldNot(BeNil())
		s.setStatus(ctx, "main", `{"conditions":[{"type":"Available","status":"False","message":"is starting"}]}`)
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(haveState(v1alpha1.StateProcessing, "condition Available is False: is starting"))
		s.setStatus(ctx, "main", `{"conditions":[{"type":"Stalled","status":"True","message":"no way"}]}`)
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(haveState(v1alpha1.StateError, "condition Stalled is True: no way"))
		s.setStatus(ctx, "main", `{"conditions":[{"type":"Available","status":"True"}],"observedGeneration":1}`)
		s.awaitReady(ctx, "module")
		edit(ctx, s.mustWidget(ctx, "main"), `{"spec":{"size":"large"}}`)
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(haveState(v1alpha1.StateProcessing, "its status is of generation 1, and it has generation 2"))
		s.setStatus(ctx, "main", `{"observedGeneration":2}`)
		s.awaitReady(ctx, "module")
	})
})
