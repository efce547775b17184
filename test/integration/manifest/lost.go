// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("A Manifest whose inventory was deleted", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	// installed installs a chart and plain objects.
	installed := func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil), s.InstallOf("plain", s.Inline("plain", "message: hello"), nil)))
	}
	pause := func(ctx SpecContext, value string) {
		s.Update(ctx, "web", func(m *v1alpha1.Manifest) {
			meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyReconciliationPaused: value})
		})
	}
	lose := func(ctx SpecContext) {
		Expect(Env.TargetClient.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: InventoryNamespace, Name: s.Name + ".web"}})).To(Succeed())
	}
	rebuilt := func(ctx SpecContext) {
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(HavePrefix("Warning InventoryRebuilt")))
	}

	It("is removed with all of its objects", func(ctx SpecContext) {
		installed(ctx)
		pause(ctx, "true")
		lose(ctx)
		s.Delete(ctx, "web")
		pause(ctx, "false")
		s.AwaitGone(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		rebuilt(ctx)
	})

	It("is removed with all of its objects by a provider that was restarted", func(ctx SpecContext) {
		installed(ctx)
		Expect(Env.Provider.Terminate(ctx)).To(Succeed())
		lose(ctx)
		s.Delete(ctx, "web")
		Expect(Env.Provider.Start(ctx)).To(Succeed())
		s.AwaitGone(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		rebuilt(ctx)
	})

	It("is pruned", func(ctx SpecContext) {
		installed(ctx)
		s.MustConfigMap(ctx, "plain")
		pause(ctx, "true")
		lose(ctx)
		s.Update(ctx, "web", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Installs = m.Spec.ForProvider.Installs[:1] })
		pause(ctx, "false")
		Eventually(Gone(s.ConfigMap)).WithContext(ctx).WithArguments("plain").Should(BeTrue())
		s.AwaitReady(ctx, "web")
		rebuilt(ctx)
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})
})
