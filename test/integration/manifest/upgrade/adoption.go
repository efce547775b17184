// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("An existing installation", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	// withNote returns the web chart with an additional field in its ConfigMap and its Deployment, and two more ConfigMaps.
	withNote := func() Chart {
		c := WebChart()
		settings := strings.Replace(string(c.Files["templates/settings.yaml"]), "\ndata:\n", "\ndata:\n  note: old\n", 1)
		deployment := strings.Replace(string(c.Files["templates/deployment.yaml"]), "spec:\n  replicas", "spec:\n  minReadySeconds: 1\n  replicas", 1)
		return c.With("templates/settings.yaml", settings).With("templates/deployment.yaml", deployment).
			With("templates/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+s.Name+"-more}\n").
			With("templates/kept.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+s.Name+"-kept, annotations: {helm.sh/resource-policy: keep}}\n")
	}
	pods := func(ctx context.Context) ([]string, error) {
		l := &corev1.PodList{}
		err := Env.TargetClient.List(ctx, l, client.InNamespace(s.Name))
		var out []string
		for i := range l.Items {
			out = append(out, string(l.Items[i].UID))
		}
		return out, err
	}
	// running waits until the Deployment is available, and returns the UIDs of its pods.
	running := func(ctx SpecContext) []string {
		Eventually(s.Deployment).WithContext(ctx).WithArguments("web").Should(HaveField("Status.AvailableReplicas", BeEquivalentTo(1)))
		return Must(pods(ctx))
	}
	adopted := func(ctx SpecContext, c Chart) *v1alpha1.Manifest {
		m := s.Manifest("web", s.InstallOf("web", c.PushLayer(ctx), nil))
		m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt
		return s.Install(ctx, m)
	}
	// takenOver checks that the first version removed what only its predecessor had, and that no pod was restarted.
	takenOver := func(ctx SpecContext, before []string) {
		Expect(s.MustConfigMap(ctx, "web-settings").Data).NotTo(HaveKey("note"))
		d := s.MustDeployment(ctx, "web")
		Expect(d.Spec.MinReadySeconds).To(BeZero())
		Expect(d.Annotations).NotTo(HaveKey("kubectl.kubernetes.io/last-applied-configuration"))
		Expect(Must(pods(ctx))).To(ConsistOf(before))
	}

	It("by Helm is adopted without a restart, upgraded and returned to Helm", func(ctx SpecContext) {
		Helm(ctx, s, "install", "web", ChartDirectory(s, withNote()))
		before := running(ctx)
		m := adopted(ctx, WebChart())
		takenOver(ctx, before)
		Expect(Gone(s.ConfigMap)(ctx, s.Name+"-more")).To(BeTrue())
		s.MustConfigMap(ctx, s.Name+"-kept")
		Expect(Helm(ctx, s, "history", "web")).To(MatchRegexp(`2\s.*deployed`))

		By("returning the release to Helm")
		s.Update(ctx, "web", func(m *v1alpha1.Manifest) {
			m.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
		})
		s.Remove(ctx, m.Name)
		Expect(Must(pods(ctx))).To(ConsistOf(before))
		Helm(ctx, s, "upgrade", "web", ChartDirectory(s, withNote()), "--set", "message=by-helm")
		Expect(s.MustConfigMap(ctx, "web-settings").Data).To(SatisfyAll(HaveKeyWithValue("message", "by-helm"), HaveKeyWithValue("note", "old")))
		Helm(ctx, s, "uninstall", "web", "--wait")
		Expect(Gone(s.ConfigMap)(ctx, "web-settings")).To(BeTrue())
		Expect(Env.TargetClient.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kyma-system", Name: s.Name + ".web"}})).To(Succeed())
	})

	DescribeTable("by kubectl is adopted without a restart", func(ctx SpecContext, args ...string) {
		file := filepath.Join(GinkgoT().TempDir(), "web.yaml")
		Expect(os.WriteFile(file, []byte(Helm(ctx, s, "template", "web", ChartDirectory(s, withNote()))), 0o600)).To(Succeed())
		s.Kubectl(ctx, append([]string{"apply", "--filename", file}, args...)...)
		before := running(ctx)
		adopted(ctx, WebChart())
		takenOver(ctx, before)
		s.Remove(ctx, "web")
		Expect(Gone(s.Deployment)(ctx, "web")).To(BeTrue())
	},
		Entry("with client-side apply"),
		Entry("with server-side apply", "--server-side"),
		Entry("with the field manager of the original", "--server-side", "--field-manager", "declarative.kyma-project.io/applier"),
	)
})
