// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Custom resources of kinds that a module defines", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("are counted and listed while they block the removal, and are deleted only if the removal is forced", func(ctx SpecContext) {
		s.Create(ctx, s.Module(ctx, "module"))
		Eventually(s.GetWidget).WithContext(ctx).WithArguments("main").ShouldNot(BeNil())
		for _, n := range []string{"a", "b"} {
			Expect(Env.TargetClient.Create(ctx, &unstructured.Unstructured{Object: s.Widget(s.Group(), n, nil)})).To(Succeed())
		}
		Edit(ctx, s.MustWidget(ctx, "b"), `{"metadata":{"finalizers":["example.org/hold"]}}`)
		s.Delete(ctx, "module")
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(HaveState(v1alpha1.StateWarning,
			"2 objects of kinds that this module defines still exist: Widget "+s.Name+"/a, Widget "+s.Name+"/b", v1alpha1.AnnotationForceRemoval))
		Expect(Gone(s.GetWidget)(ctx, "main")).To(BeTrue())

		s.Update(ctx, "module", func(m *v1alpha1.Manifest) {
			m.Annotations[v1alpha1.AnnotationForceRemoval] = "true"
		})
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(HaveState(v1alpha1.StateDeleting,
			"1 object of a kind that this module defines still exists: Widget "+s.Name+"/b", "waiting for finalizer example.org/hold"))
		Expect(Gone(s.GetWidget)(ctx, "a")).To(BeTrue())
		s.MustConfigMap(ctx, "operator-operator")
		Eventually(Events).WithContext(ctx).WithArguments(s, "module").Should(ContainElement(SatisfyAll(
			HavePrefix("Warning RemovalForced"), ContainSubstring("Widget "+s.Name+"/a"))))

		Edit(ctx, s.MustWidget(ctx, "b"), `{"metadata":{"finalizers":null}}`)
		s.AwaitGone(ctx, "module")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("are evaluated by their conditions if they have no state, and only for the current generation", func(ctx SpecContext) {
		s.Create(ctx, s.Module(ctx, "module"))
		Eventually(s.GetWidget).WithContext(ctx).WithArguments("main").ShouldNot(BeNil())
		s.SetStatus(ctx, "main", `{"conditions":[{"type":"Available","status":"False","message":"is starting"}]}`)
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(HaveState(v1alpha1.StateProcessing, "condition Available is False: is starting"))
		s.SetStatus(ctx, "main", `{"conditions":[{"type":"Stalled","status":"True","message":"no way"}]}`)
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(HaveState(v1alpha1.StateError, "condition Stalled is True: no way"))
		s.SetStatus(ctx, "main", `{"conditions":[{"type":"Available","status":"True"}],"observedGeneration":1}`)
		s.AwaitReady(ctx, "module")
		Edit(ctx, s.MustWidget(ctx, "main"), `{"spec":{"size":"large"}}`)
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(HaveState(v1alpha1.StateProcessing, "status.observedGeneration is 1, but metadata.generation is 2"))
		s.SetStatus(ctx, "main", `{"observedGeneration":2}`)
		s.AwaitReady(ctx, "module")
	})
})
