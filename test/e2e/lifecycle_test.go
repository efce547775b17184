// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// setPolicies returns an edit that sets the management policies of a Kyma.
func setPolicies(p ...xpv2.ManagementAction) func(k *v1alpha1.Kyma) {
	return func(k *v1alpha1.Kyma) { k.Spec.ManagementPolicies = p }
}

var _ = Describe("A namespace", func() {
	It("can be deleted together with its Kymas, whose modules are removed", func(ctx SpecContext) {
		s := newSpace(ctx)
		simple, operated := s.offer(ctx, "simple"), s.operated(ctx, "operated")
		u := s.environment("environment", simple, operated)
		s.create(ctx, u)
		operated.report(ctx, `{"state":"Ready"}`)
		Eventually(now(u)).WithContext(ctx).Should(beReadyComposite())
		Expect(env.controlClient.Delete(ctx, namespaceOf(s.name))).To(Succeed())
		// The namespace controller tries again after delays that become longer.
		Eventually(absent(env.controlClient, client.ObjectKey{Name: s.name}, &corev1.Namespace{})).WithContext(ctx).WithTimeout(3 * patience).Should(BeTrue())
		Expect(s.objects(ctx)).To(BeEmpty())
	})
})

var _ = Describe("A ProviderConfig", func() {
	It("cannot be deleted while a Kyma uses it", func(ctx SpecContext) {
		s := newSpace(ctx)
		m := s.offer(ctx, "module")
		k := s.enable(ctx, s.kyma("kyma", m.module()))
		s.delete(ctx, s.config())
		getConfig := func(ctx context.Context) (*v1alpha1.ProviderConfig, error) {
			return fetched(ctx, env.controlClient, s.key(secretName), &v1alpha1.ProviderConfig{})
		}
		Eventually(getConfig).WithContext(ctx).Should(WithTransform(func(c *v1alpha1.ProviderConfig) xpv2.Condition {
			return c.Status.GetCondition("Terminating")
		}, SatisfyAll(HaveField("Status", corev1.ConditionTrue), HaveField("Message", ContainSubstring("usages still exist")))))
		Consistently(getConfig).WithContext(ctx).WithTimeout(calm / 2).Should(HaveField("Finalizers", Not(BeEmpty())))
		Expect(m.absent(ctx)).To(BeFalse())
		s.remove(ctx, k)
		Expect(m.absent(ctx)).To(BeTrue())
		Eventually(absent(env.controlClient, s.key(secretName), &v1alpha1.ProviderConfig{})).WithContext(ctx).Should(BeTrue())
	})
})

var _ = Describe("Management policies of a Kyma", func() {
	var (
		s *space
		m *offer
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		m = s.offer(ctx, "module")
	})

	It("with only Observe install nothing, and do not change installed modules", func(ctx SpecContext) {
		k := s.kyma("kyma", m.module())
		setPolicies(xpv2.ManagementActionObserve)(k)
		s.create(ctx, s.config())
		s.create(ctx, k)
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveCondition(xpv2.TypeSynced, corev1.ConditionFalse, "does not exist"))
		Consistently(m.absent).WithContext(ctx).WithTimeout(calm / 2).Should(BeTrue())

		By("installing it once they allow that")
		update(ctx, k, setPolicies(xpv2.ManagementActionAll))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(beReady())

		By("not reverting a change of another client")
		update(ctx, k, setPolicies(xpv2.ManagementActionObserve))
		Eventually(s.getManifest).WithContext(ctx).WithArguments(m.manifest("kyma")).Should(
			HaveField("Spec.ManagementPolicies", ConsistOf(xpv2.ManagementActionObserve)))
		Eventually(s.getManifest).WithContext(ctx).WithArguments(m.manifest("kyma")).Should(beReady())
		m.change(ctx)
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(haveCondition(xpv2.TypeReady, corev1.ConditionFalse, m.name, "was changed"))
		Consistently(m.message).WithContext(ctx).WithTimeout(calm / 2).Should(Equal("changed"))
		update(ctx, k, setPolicies(xpv2.ManagementActionAll))
		Eventually(m.message).WithContext(ctx).Should(Equal("hello"))
	})

	It("without Delete keep the modules in the target cluster", func(ctx SpecContext) {
		k := s.kyma("kyma", m.module())
		setPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize)(k)
		s.enable(ctx, k)
		before := must(m.installed(ctx))
		s.remove(ctx, k)
		Eventually(absent(env.controlClient, s.key(m.manifest("kyma")), &v1alpha1.Manifest{})).WithContext(ctx).Should(BeTrue())
		Expect(must(m.installed(ctx)).ResourceVersion).To(Equal(before.ResourceVersion))

		By("adopting the modules with a Kyma of the same name")
		again := s.enable(ctx, s.kyma("kyma", m.module()))
		Expect(must(m.installed(ctx)).ResourceVersion).To(Equal(before.ResourceVersion))
		s.remove(ctx, again)
		Expect(m.absent(ctx)).To(BeTrue())
	})
})

var _ = Describe("An annotation of Crossplane", func() {
	var (
		s *space
		m *offer
		k *v1alpha1.Kyma
	)

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		m = s.offer(ctx, "module")
		k = s.enable(ctx, s.kyma("kyma", m.module()))
	})

	It("pauses a Kyma with its modules", func(ctx SpecContext) {
		annotate(ctx, k, "crossplane.io/paused", "true")
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(havePaused())
		Eventually(s.getManifest).WithContext(ctx).WithArguments(m.manifest("kyma")).Should(havePaused())
		m.change(ctx)
		Consistently(m.message).WithContext(ctx).WithTimeout(calm / 2).Should(Equal("changed"))
		annotate(ctx, k, "crossplane.io/paused", "")
		Eventually(m.message).WithContext(ctx).Should(Equal("hello"))
		Eventually(s.getKyma).WithContext(ctx).WithArguments("kyma").Should(beReady())
	})

	It("imports the objects of another Manifest, with its external name and adoption", func(ctx SpecContext) {
		first := must(s.getManifest(ctx, m.manifest("kyma")))
		update(ctx, k, setPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize))
		Eventually(s.getManifest).WithContext(ctx).WithArguments(first.Name).Should(HaveField("Spec.ManagementPolicies", HaveLen(4)))
		s.remove(ctx, k)
		Eventually(absent(env.controlClient, s.key(first.Name), &v1alpha1.Manifest{})).WithContext(ctx).Should(BeTrue())
		before := must(m.installed(ctx))

		second := &v1alpha1.Manifest{}
		second.Namespace, second.Name, second.Labels = s.name, "imported", first.Labels
		second.Annotations = map[string]string{"crossplane.io/external-name": first.Annotations["crossplane.io/external-name"]}
		Expect(second.Annotations).To(HaveKeyWithValue("crossplane.io/external-name", s.name+"."+first.Name))
		second.Spec.ProviderConfigReference, second.Spec.ForProvider = first.Spec.ProviderConfigReference, first.Spec.ForProvider
		s.create(ctx, second)
		// Its name alone could belong to another Manifest that still exists, perhaps in another control plane.
		Eventually(func(ctx context.Context) (string, error) {
			m, err := s.getManifest(ctx, "imported")
			if err != nil {
				return "", err
			}
			return m.GetCondition(xpv2.TypeSynced).Message, nil
		}).WithContext(ctx).Should(ContainSubstring("is the inventory of Manifest " + s.name + "/" + first.Name))
		update(ctx, second, func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt })
		Eventually(s.getManifest).WithContext(ctx).WithArguments("imported").Should(beReady())
		Expect(must(m.installed(ctx)).UID).To(Equal(before.UID))
		Expect(must(m.installed(ctx)).Data).To(Equal(before.Data))
		s.remove(ctx, second)
		Expect(m.absent(ctx)).To(BeTrue())
	})

	It("sets the poll interval of a Manifest", func(ctx SpecContext) {
		manifest := must(s.getManifest(ctx, m.manifest("kyma")))
		s.stableVersions(ctx)
		passes := func(ctx context.Context) (float64, error) {
			now, err := env.scrape(ctx)
			return now.sum("controller_runtime_reconcile_total", `controller="managed/manifest.kyma.m.crossplane.io"`), err
		}
		annotate(ctx, manifest, "crossplane.io/poll-interval", "1s")
		before := must(passes(ctx))
		Eventually(passes).WithContext(ctx).WithTimeout(4 * calm).Should(BeNumerically(">=", before+4))
	})

	It("requests an immediate reconcile", func(ctx SpecContext) {
		for _, o := range []client.Object{k, must(s.getManifest(ctx, m.manifest("kyma")))} {
			token := strconv.FormatInt(time.Now().UnixNano(), 10)
			annotate(ctx, o, "crossplane.io/reconcile-requested-at", token)
			Eventually(func(ctx context.Context) (string, error) {
				err := env.controlClient.Get(ctx, client.ObjectKeyFromObject(o), o)
				asked, ok := o.(interface{ GetLastHandledReconcileAt() string })
				Expect(ok).To(BeTrue())
				return asked.GetLastHandledReconcileAt(), err
			}).WithContext(ctx).Should(Equal(token))
		}
	})
})
