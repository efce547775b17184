// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os/exec"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// neverReady is a Deployment whose pod no node takes.
const neverReady = `
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: never}
spec:
  selector: {matchLabels: {app: never}}
  template:
    metadata: {labels: {app: never}}
    spec:
      nodeSelector: {example.org/none: such}
      containers: [{name: never, image: example.org/never:1}]
`

var _ = Describe("kubectl wait for Ready", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	// waitFor runs kubectl wait, and returns what it says and whether it is content.
	waitFor := func(ctx context.Context, what string, timeout time.Duration) (string, error) {
		out, err := exec.CommandContext(ctx, must(tools.Path(ctx, tools.Kubectl)), "--kubeconfig", env.control.KubeconfigFile(), "--namespace", s.name,
			"wait", what, "--for=condition=Ready", "--timeout="+timeout.String()).CombinedOutput()
		return string(out), err
	}
	ready := func(ctx context.Context, what string) {
		GinkgoHelper()
		out, err := waitFor(ctx, what, patience)
		Expect(err).NotTo(HaveOccurred(), out)
	}
	notReady := func(ctx context.Context, what string) {
		GinkgoHelper()
		out, err := waitFor(ctx, what, calm)
		Expect(err).To(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("timed out waiting for the condition"))
	}

	It("does not take the old state of a Manifest for an answer", func(ctx SpecContext) {
		good := s.inline("one", "message: hello")
		s.create(ctx, s.manifest("waits", s.installOf("all", good, nil)))
		ready(ctx, "manifest/waits")

		bad := good
		bad.Inline += neverReady
		By("asking at once after the change")
		s.update(ctx, "waits", setSource(bad))
		notReady(ctx, "manifest/waits")
		s.update(ctx, "waits", setSource(good))
		ready(ctx, "manifest/waits")

		By("asking where the provider does not look")
		s.update(ctx, "waits", annotate[*v1alpha1.Manifest](meta.AnnotationKeyReconciliationPaused, "true"))
		s.update(ctx, "waits", setSource(bad))
		notReady(ctx, "manifest/waits")
		s.update(ctx, "waits", setSource(good))
		s.update(ctx, "waits", annotate[*v1alpha1.Manifest](meta.AnnotationKeyReconciliationPaused, ""))
		ready(ctx, "manifest/waits")
	})

	It("does not take the old state of a Kyma, or of its Manifest, for an answer", func(ctx SpecContext) {
		m := s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
		s.create(ctx, s.kyma("kyma", m.module()))
		ready(ctx, "kyma/kyma")

		bad := m.module()
		bad.Values = raw(values{"never": true})
		By("asking at once after the change")
		s.updateKyma(ctx, "kyma", setModules(bad))
		notReady(ctx, "kyma/kyma")
		s.updateKyma(ctx, "kyma", setModules(m.module()))
		ready(ctx, "kyma/kyma")

		By("asking where its Manifest is not checked")
		s.update(ctx, m.manifest("kyma"), annotate[*v1alpha1.Manifest](meta.AnnotationKeyReconciliationPaused, "true"))
		s.updateKyma(ctx, "kyma", setModules(bad))
		notReady(ctx, "kyma/kyma")

		By("asking where the provider does not look")
		s.update(ctx, m.manifest("kyma"), annotate[*v1alpha1.Manifest](meta.AnnotationKeyReconciliationPaused, ""))
		s.updateKyma(ctx, "kyma", setModules(m.module()))
		ready(ctx, "kyma/kyma")
		s.annotateKyma(ctx, "kyma", meta.AnnotationKeyReconciliationPaused, "true")
		s.updateKyma(ctx, "kyma", setModules(bad))
		notReady(ctx, "kyma/kyma")
		s.updateKyma(ctx, "kyma", setModules(m.module()))
		s.annotateKyma(ctx, "kyma", meta.AnnotationKeyReconciliationPaused, "")
		ready(ctx, "kyma/kyma")
	})

	It("does not take the old state of a ModuleTemplate for an answer", func(ctx SpecContext) {
		m := s.offer("mod")
		t := m.release(ctx, "regular", "1.0.0")
		ready(ctx, "moduletemplate/"+t.Name)

		updateTemplate(ctx, t.Name, func(t *v1alpha1.ModuleTemplate) { t.Spec.Component.Version = "9.9.9" })
		notReady(ctx, "moduletemplate/"+t.Name)
		updateTemplate(ctx, t.Name, func(t *v1alpha1.ModuleTemplate) { t.Spec.Component.Version = "1.0.0" })
		ready(ctx, "moduletemplate/"+t.Name)
	})
})
