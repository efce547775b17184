// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("The custom resource of a module", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("decides with its state whether the module is Ready", func(ctx SpecContext) {
		s.create(ctx, s.module(ctx, "module"))
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(SatisfyAll(
			synced(), notReady("Widget "+s.name+"/main: has no status yet"), haveState(v1alpha1.StateProcessing), readyBecause(v1alpha1.ReasonProgressing),
			haveInstall("resource", v1alpha1.StateProcessing), haveInstall("operator", v1alpha1.StateReady)))
		Expect(s.mustWidget(ctx, "main").Object["spec"]).To(Equal(map[string]any{"size": "small"}))

		s.setStatus(ctx, "main", `{"state":"Processing"}`)
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(notReady("status.state is Processing"))
		s.setStatus(ctx, "main", `{"state":"Warning","conditions":[{"type":"Installed","status":"False","message":"needs a hand"}]}`)
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(SatisfyAll(
			haveState(v1alpha1.StateWarning, "resource", "Widget "+s.name+"/main", "needs a hand"), notReady("needs a hand"), readyBecause(xpv2.ReasonUnavailable)))
		s.setStatus(ctx, "main", `{"state":"Ready","conditions":[]}`)
		s.awaitReady(ctx, "module")
		s.setStatus(ctx, "main", `{"state":"Error"}`)
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(SatisfyAll(
			haveState(v1alpha1.StateError), notReady("status.state is Error"), readyBecause(v1alpha1.ReasonModuleFailed)))
	})

	It("is judged by a rule in CEL where there is one", func(ctx SpecContext) {
		m := s.module(ctx, "module")
		m.Spec.ForProvider.Readiness = []v1alpha1.ReadinessRule{{CEL: `object.status.phase == "Up" && object.status.nodes > 2`}}
		s.create(ctx, m)
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(SatisfyAll(
			notReady("Widget "+s.name+"/main", "no such key: status"), haveState(v1alpha1.StateProcessing)))
		s.setStatus(ctx, "main", `{"phase":"Up","nodes":2}`)
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(notReady("is not met"))
		s.setStatus(ctx, "main", `{"nodes":3}`)
		s.awaitReady(ctx, "module")
	})

	It("belongs to its users once it is there", func(ctx SpecContext) {
		s.create(ctx, s.module(ctx, "module"))
		Eventually(s.getWidget).WithContext(ctx).WithArguments("main").ShouldNot(BeNil())
		s.setStatus(ctx, "main", `{"state":"Ready"}`)
		s.awaitReady(ctx, "module")
		edit(ctx, s.mustWidget(ctx, "main"), `{"spec":{"size":"large"}}`)

		By("repairing something else, after which the edit is still there")
		Expect(env.targetClient.Delete(ctx, s.mustConfigMap(ctx, "operator-operator"))).To(Succeed())
		Eventually(s.configMap).WithContext(ctx).WithArguments("operator-operator").ShouldNot(BeNil())
		s.awaitReady(ctx, "module")
		Expect(s.mustWidget(ctx, "main").Object["spec"]).To(HaveKeyWithValue("size", "large"))

		By("not coming back when its users delete it")
		Expect(env.targetClient.Delete(ctx, s.mustWidget(ctx, "main"))).To(Succeed())
		Consistently(gone(s.getWidget)).WithContext(ctx).WithArguments("main").Should(BeTrue())
		s.awaitReady(ctx, "module")
	})

	It("is not created when others are to create it", func(ctx SpecContext) {
		m := s.module(ctx, "module")
		m.Spec.ForProvider.CustomResourcePolicy = v1alpha1.CustomResourcePolicyIgnore
		s.install(ctx, m)
		Expect(gone(s.getWidget)(ctx, "main")).To(BeTrue())
	})

	It("has CRDs that come from a layer of their own", func(ctx SpecContext) {
		layer := newChart("unused", "1.0.0").without("Chart.yaml").with("crds/widgets.yaml", controlplane.WidgetDefinition(s.group()))
		crds := layer.pushLayer(ctx)
		m := s.manifest("module")
		m.Spec.ForProvider.CRDs = &v1alpha1.LayerSource{Type: v1alpha1.LayerSourceType(crds.Type), Repo: crds.Repo, Name: crds.Name, Ref: crds.Ref}
		m.Spec.ForProvider.Resource = raw(s.widget(s.group(), "main", values{"size": "small"}))
		m.Spec.ForProvider.Readiness = []v1alpha1.ReadinessRule{{CEL: `object.spec.size == "small"`}}
		m = s.install(ctx, m)
		Expect(m.Status.AtProvider.Installs).To(HaveExactElements(HaveField("Name", "crds"), HaveField("Name", "resource")))
		s.mustWidget(ctx, "main")
		s.remove(ctx, "module")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})
})

// module is a Manifest with a CRD, what serves it, and a custom resource called main.
func (s *space) module(ctx context.Context, name string) *v1alpha1.Manifest {
	GinkgoHelper()
	m := s.manifest(name, s.installOf("operator", operatorChart(s.group()).pushLayer(ctx), nil))
	m.Spec.ForProvider.Resource = raw(s.widget(s.group(), "main", values{"size": "small"}))
	return m
}

// getWidget is a Widget of the space in the target.
func (s *space) getWidget(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: s.group(), Version: "v1", Kind: "Widget"})
	return fetched(ctx, s.key(name), u)
}

// mustWidget is a Widget that is in the target now.
func (s *space) mustWidget(ctx context.Context, name string) *unstructured.Unstructured {
	GinkgoHelper()
	return must(s.getWidget(ctx, name))
}

// setStatus of a Widget, as the operator of the module would.
func (s *space) setStatus(ctx context.Context, name, status string) {
	GinkgoHelper()
	u := s.mustWidget(ctx, name)
	Expect(env.targetClient.Status().Patch(ctx, u, client.RawPatch("application/merge-patch+json", []byte(`{"status":`+status+`}`)))).To(Succeed())
}
