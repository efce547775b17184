// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Credentials", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	connections := func(ctx SpecContext) (float64, error) {
		m, err := Env.Provider.Scrape(ctx)
		return m.Sum(targetConnections, ""), err
	}

	It("are used as soon as they are rotated, and the old connection is closed", func(ctx SpecContext) {
		Eventually(connections).WithContext(ctx).Should(BeZero(), "other specs left connections")
		first, second := s.Name+"-first", s.Name+"-second"
		s.Config(ctx, "rotating", s.User(ctx, first))
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil))
		m.Spec.ProviderConfigReference.Name = "rotating"
		s.Install(ctx, m)
		Expect(connections(ctx)).To(BeEquivalentTo(1))

		s.Secret(ctx, "rotating", corev1.SecretTypeOpaque, map[string][]byte{KubeconfigKey: s.User(ctx, second)})
		Revoke(ctx, first)
		s.Update(ctx, "web", SetValues(Values{"message": "as the second"}))
		s.AwaitMessage(ctx, "web-settings", "as the second")
		s.AwaitReady(ctx, "web")
		Eventually(connections).WithContext(ctx).Should(BeEquivalentTo(1))

		By("detecting drift with the new connection")
		Edit(ctx, s.MustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		s.AwaitMessage(ctx, "web-settings", "as the second")

		By("closing the last connection with the last Manifest")
		s.Remove(ctx, "web")
		Eventually(connections).WithContext(ctx).Should(BeZero())
	})

	It("that are rotated fix a Manifest that could not be reconciled", func(ctx SpecContext) {
		config, err := Env.Target.User(s.Name + "-unprivileged")
		Expect(err).NotTo(HaveOccurred())
		s.Config(ctx, "rotating", KubeconfigOf(Env.Target, config))
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil))
		m.Spec.ProviderConfigReference.Name = "rotating"
		s.Create(ctx, m)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(NotSynced("forbidden", s.Name+"-unprivileged"), HaveState(v1alpha1.StateError)))
		s.Secret(ctx, "rotating", corev1.SecretTypeOpaque, map[string][]byte{KubeconfigKey: Env.Target.Kubeconfig()})
		s.AwaitReady(ctx, "web")
	})

	It("of the provider itself install into the control plane", func(ctx SpecContext) {
		cpc := &v1alpha1.ClusterProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Name: s.Name},
			Spec: v1alpha1.ClusterProviderConfigSpec{ProviderConfigSpec: v1alpha1.ProviderConfigSpec{
				Credentials: v1alpha1.Credentials{Source: v1alpha1.CredentialsSourceInjectedIdentity},
				Registries:  Registries(),
			}},
		}
		s.Create(ctx, cpc)
		DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(Env.ControlClient.Delete(ctx, cpc))).To(Succeed()) })
		m := s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"workload": false}))
		m.Spec.ProviderConfigReference.Kind = v1alpha1.ClusterProviderConfigKind
		m.Spec.ProviderConfigReference.Name = s.Name
		allow := func(names ...string) {
			GinkgoHelper()
			Eventually(func() error {
				if err := Env.ControlClient.Get(ctx, client.ObjectKeyFromObject(cpc), cpc); err != nil {
					return err
				}
				cpc.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Names: names}
				return Env.ControlClient.Update(ctx, cpc)
			}).WithContext(ctx).Should(Succeed())
		}
		refused := SatisfyAll(NotSynced("ClusterProviderConfig "+s.Name, fmt.Sprintf("cannot be used in namespace %q", s.Name)), HaveState(v1alpha1.StateError))

		By("rejecting a namespace that the config does not allow")
		s.Create(ctx, m)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(refused)
		Expect(Env.ControlClient.Get(ctx, s.Key("web-settings"), &corev1.ConfigMap{})).To(BeNotFound())

		By("installing once the namespace is allowed")
		allow("elsewhere", s.Name)
		s.AwaitReady(ctx, "web")
		Expect(Env.ControlClient.Get(ctx, s.Key("web-settings"), &corev1.ConfigMap{})).To(Succeed())
		Expect(Gone(s.ConfigMap)(ctx, "web-settings")).To(BeTrue())

		By("applying nothing when the namespace is no longer allowed, but removing what is installed")
		allow("elsewhere")
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(refused)
		s.Remove(ctx, "web")
		Expect(Env.ControlClient.Get(ctx, s.Key("web-settings"), &corev1.ConfigMap{})).To(BeNotFound())
		Expect(s.Leftovers(ctx, Env.Control)).To(BeEmpty())
	})

	It("are protected as long as a Manifest needs them", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		config := func(ctx SpecContext) (*v1alpha1.ProviderConfig, error) {
			pc := &v1alpha1.ProviderConfig{}
			return pc, Env.ControlClient.Get(ctx, s.Key(ConfigName), pc)
		}
		Eventually(config).WithContext(ctx).Should(HaveField("Status.Users", BeEquivalentTo(1)))
		Expect(Env.ControlClient.Delete(ctx, Must(config(ctx)))).To(Succeed())
		Consistently(config).WithContext(ctx).ShouldNot(BeNil())

		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		Eventually(func(ctx SpecContext) error {
			_, err := config(ctx)
			return err
		}).WithContext(ctx).Should(BeNotFound())
	})
})
