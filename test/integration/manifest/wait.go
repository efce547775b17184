// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"os/exec"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

var _ = Describe("kubectl wait for Ready", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	// waitFor runs kubectl wait for the condition Ready, and returns its output.
	waitFor := func(ctx context.Context, what string, timeout time.Duration) (string, error) {
		out, err := exec.CommandContext(ctx, Must(tools.Path(ctx, tools.Kubectl)), "--kubeconfig", Env.Control.KubeconfigFile(), "--namespace", s.Name,
			"wait", what, "--for=condition=Ready", "--timeout="+timeout.String()).CombinedOutput()
		return string(out), err
	}
	ready := func(ctx context.Context, what string) {
		GinkgoHelper()
		out, err := waitFor(ctx, what, Patience)
		Expect(err).NotTo(HaveOccurred(), out)
	}
	notReady := func(ctx context.Context, what string) {
		GinkgoHelper()
		out, err := waitFor(ctx, what, Calm)
		Expect(err).To(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("timed out waiting for the condition"))
	}

	It("does not succeed with the state of an earlier generation of a Manifest", func(ctx SpecContext) {
		good := s.Inline("one", "message: hello")
		s.Create(ctx, s.Manifest("waits", s.InstallOf("all", good, nil)))
		ready(ctx, "manifest/waits")

		bad := good
		bad.Inline += NeverReady
		By("waiting immediately after the change")
		s.Update(ctx, "waits", SetSource(bad))
		notReady(ctx, "manifest/waits")
		s.Update(ctx, "waits", SetSource(good))
		ready(ctx, "manifest/waits")

		By("waiting while the resource is paused")
		s.Update(ctx, "waits", Annotate[*v1alpha1.Manifest](meta.AnnotationKeyReconciliationPaused, "true"))
		s.Update(ctx, "waits", SetSource(bad))
		notReady(ctx, "manifest/waits")
		s.Update(ctx, "waits", SetSource(good))
		s.Update(ctx, "waits", Annotate[*v1alpha1.Manifest](meta.AnnotationKeyReconciliationPaused, ""))
		ready(ctx, "manifest/waits")
	})

	It("does not succeed with the state of an earlier generation of a Kyma or its Manifest", func(ctx SpecContext) {
		m := NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		s.Create(ctx, s.Kyma("kyma", m.Module()))
		ready(ctx, "kyma/kyma")

		bad := m.Module()
		bad.Values = Raw(Values{"never": true})
		By("waiting immediately after the change")
		s.UpdateKyma(ctx, "kyma", SetModules(bad))
		notReady(ctx, "kyma/kyma")
		s.UpdateKyma(ctx, "kyma", SetModules(m.Module()))
		ready(ctx, "kyma/kyma")

		By("waiting while the Manifest is paused")
		s.Update(ctx, m.Manifest("kyma"), Annotate[*v1alpha1.Manifest](meta.AnnotationKeyReconciliationPaused, "true"))
		s.UpdateKyma(ctx, "kyma", SetModules(bad))
		notReady(ctx, "kyma/kyma")

		By("waiting while the resource is paused")
		s.Update(ctx, m.Manifest("kyma"), Annotate[*v1alpha1.Manifest](meta.AnnotationKeyReconciliationPaused, ""))
		s.UpdateKyma(ctx, "kyma", SetModules(m.Module()))
		ready(ctx, "kyma/kyma")
		s.AnnotateKyma(ctx, "kyma", meta.AnnotationKeyReconciliationPaused, "true")
		s.UpdateKyma(ctx, "kyma", SetModules(bad))
		notReady(ctx, "kyma/kyma")
		s.UpdateKyma(ctx, "kyma", SetModules(m.Module()))
		s.AnnotateKyma(ctx, "kyma", meta.AnnotationKeyReconciliationPaused, "")
		ready(ctx, "kyma/kyma")
	})

	It("does not succeed with the state of an earlier generation of a ModuleTemplate", func(ctx SpecContext) {
		m := NewOffer(s, "mod")
		t := m.Release(ctx, "regular", "1.0.0")
		ready(ctx, "moduletemplate/"+t.Name)

		UpdateTemplate(ctx, t.Name, func(t *v1alpha1.ModuleTemplate) { t.Spec.Component.Version = "9.9.9" })
		notReady(ctx, "moduletemplate/"+t.Name)
		UpdateTemplate(ctx, t.Name, func(t *v1alpha1.ModuleTemplate) { t.Spec.Component.Version = "1.0.0" })
		ready(ctx, "moduletemplate/"+t.Name)
	})
})
