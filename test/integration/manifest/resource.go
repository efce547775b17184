// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("The custom resource of a module", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("determines with its state whether the module is Ready", func(ctx SpecContext) {
		s.Create(ctx, s.Module(ctx, "module"))
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(SatisfyAll(
			Synced(), NotReady("Widget "+s.Name+"/main: has no status yet"), HaveState(v1alpha1.StateProcessing), ReadyBecause(v1alpha1.ReasonProgressing),
			HaveInstall("resource", v1alpha1.StateProcessing), HaveInstall("operator", v1alpha1.StateReady)))
		Expect(s.MustWidget(ctx, "main").Object["spec"]).To(Equal(map[string]any{"size": "small"}))

		s.SetStatus(ctx, "main", `{"state":"Processing"}`)
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(NotReady("status.state is Processing"))
		s.SetStatus(ctx, "main", `{"state":"Warning","conditions":[{"type":"Installed","status":"False","message":"needs a hand"}]}`)
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(SatisfyAll(
			HaveState(v1alpha1.StateWarning, "resource", "Widget "+s.Name+"/main", "needs a hand"), NotReady("needs a hand"), ReadyBecause(xpv2.ReasonUnavailable)))
		s.SetStatus(ctx, "main", `{"state":"Ready","conditions":[]}`)
		s.AwaitReady(ctx, "module")
		s.SetStatus(ctx, "main", `{"state":"Error"}`)
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(SatisfyAll(
			HaveState(v1alpha1.StateError), NotReady("status.state is Error"), ReadyBecause(v1alpha1.ReasonModuleFailed)))
	})

	It("is evaluated by a CEL rule if there is one", func(ctx SpecContext) {
		m := s.Module(ctx, "module")
		m.Spec.ForProvider.Readiness = []v1alpha1.ReadinessRule{{CEL: `object.status.phase == "Up" && object.status.nodes > 2`}}
		s.Create(ctx, m)
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(SatisfyAll(
			NotReady("Widget "+s.Name+"/main", "no such key: status"), HaveState(v1alpha1.StateProcessing)))
		s.SetStatus(ctx, "main", `{"phase":"Up","nodes":2}`)
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(NotReady("is not met"))
		s.SetStatus(ctx, "main", `{"nodes":3}`)
		s.AwaitReady(ctx, "module")
	})

	It("belongs to its users once it exists", func(ctx SpecContext) {
		s.Create(ctx, s.Module(ctx, "module"))
		Eventually(s.GetWidget).WithContext(ctx).WithArguments("main").ShouldNot(BeNil())
		s.SetStatus(ctx, "main", `{"state":"Ready"}`)
		s.AwaitReady(ctx, "module")
		Edit(ctx, s.MustWidget(ctx, "main"), `{"spec":{"size":"large"}}`)

		By("repairing another object without reverting the change")
		Expect(Env.TargetClient.Delete(ctx, s.MustConfigMap(ctx, "operator-operator"))).To(Succeed())
		Eventually(s.ConfigMap).WithContext(ctx).WithArguments("operator-operator").ShouldNot(BeNil())
		s.AwaitReady(ctx, "module")
		Expect(s.MustWidget(ctx, "main").Object["spec"]).To(HaveKeyWithValue("size", "large"))

		By("not recreating it after users deleted it")
		Expect(Env.TargetClient.Delete(ctx, s.MustWidget(ctx, "main"))).To(Succeed())
		Consistently(Gone(s.GetWidget)).WithContext(ctx).WithArguments("main").Should(BeTrue())
		s.AwaitReady(ctx, "module")
	})

	It("is not created if customResourcePolicy is Ignore", func(ctx SpecContext) {
		m := s.Module(ctx, "module")
		m.Spec.ForProvider.CustomResourcePolicy = v1alpha1.CustomResourcePolicyIgnore
		s.Install(ctx, m)
		Expect(Gone(s.GetWidget)(ctx, "main")).To(BeTrue())
	})

	It("can have its CRDs in a separate layer", func(ctx SpecContext) {
		layer := NewChart("unused", "1.0.0").Without("Chart.yaml").With("crds/widgets.yaml", controlplane.WidgetCRD(s.Group()))
		crds := layer.PushLayer(ctx)
		m := s.Manifest("module")
		m.Spec.ForProvider.CRDs = &v1alpha1.LayerSource{Type: v1alpha1.LayerSourceType(crds.Type), Repo: crds.Repo, Name: crds.Name, Ref: crds.Ref}
		m.Spec.ForProvider.Resource = Raw(s.Widget(s.Group(), "main", Values{"size": "small"}))
		m.Spec.ForProvider.Readiness = []v1alpha1.ReadinessRule{{CEL: `object.spec.size == "small"`}}
		m = s.Install(ctx, m)
		Expect(m.Status.AtProvider.Installs).To(HaveExactElements(HaveField("Name", "crds"), HaveField("Name", "resource")))
		s.MustWidget(ctx, "main")
		s.Remove(ctx, "module")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})
})
