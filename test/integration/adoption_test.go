// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

var _ = Describe("What runs already", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	// withNote is webChart with a field more in its ConfigMap and its Deployment, and one more ConfigMap.
	withNote := func() chart {
		c := webChart()
		settings := strings.Replace(string(c.files["templates/settings.yaml"]), "\ndata:\n", "\ndata:\n  note: old\n", 1)
		deployment := strings.Replace(string(c.files["templates/deployment.yaml"]), "spec:\n  replicas", "spec:\n  minReadySeconds: 1\n  replicas", 1)
		return c.with("templates/settings.yaml", settings).with("templates/deployment.yaml", deployment).
			with("templates/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+s.name+"-more}\n").
			with("templates/kept.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+s.name+"-kept, annotations: {helm.sh/resource-policy: keep}}\n")
	}
	pods := func(ctx context.Context) ([]string, error) {
		l := &corev1.PodList{}
		err := env.targetClient.List(ctx, l, client.InNamespace(s.name))
		var out []string
		for i := range l.Items {
			out = append(out, string(l.Items[i].UID))
		}
		return out, err
	}
	// running pods of the Deployment.
	running := func(ctx SpecContext) []string {
		Eventually(s.deployment).WithContext(ctx).WithArguments("web").Should(HaveField("Status.AvailableReplicas", BeEquivalentTo(1)))
		return must(pods(ctx))
	}
	adopted := func(ctx SpecContext, c chart) *v1alpha1.Manifest {
		m := s.manifest("web", s.installOf("web", c.pushLayer(ctx), nil))
		m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt
		return s.install(ctx, m)
	}
	// takenOver says that the first version drops what the one before had, and that no pod was restarted.
	takenOver := func(ctx SpecContext, before []string) {
		Expect(s.mustConfigMap(ctx, "web-settings").Data).NotTo(HaveKey("note"))
		d := s.mustDeployment(ctx, "web")
		Expect(d.Spec.MinReadySeconds).To(BeZero())
		Expect(d.Annotations).NotTo(HaveKey("kubectl.kubernetes.io/last-applied-configuration"))
		Expect(must(pods(ctx))).To(ConsistOf(before))
	}

	It("as a Helm release is adopted without a restart, upgraded and handed back to Helm", func(ctx SpecContext) {
		s.helm(ctx, "install", "web", s.folder(withNote()))
		before := running(ctx)
		m := adopted(ctx, webChart())
		takenOver(ctx, before)
		Expect(gone(s.configMap)(ctx, s.name+"-more")).To(BeTrue())
		s.mustConfigMap(ctx, s.name+"-kept")
		Expect(s.helm(ctx, "history", "web")).To(MatchRegexp(`2\s.*deployed`))

		By("handing it back")
		s.update(ctx, "web", func(m *v1alpha1.Manifest) {
			m.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
		})
		s.remove(ctx, m.Name)
		Expect(must(pods(ctx))).To(ConsistOf(before))
		s.helm(ctx, "upgrade", "web", s.folder(withNote()), "--set", "message=by-helm")
		Expect(s.mustConfigMap(ctx, "web-settings").Data).To(SatisfyAll(HaveKeyWithValue("message", "by-helm"), HaveKeyWithValue("note", "old")))
		s.helm(ctx, "uninstall", "web", "--wait")
		Expect(gone(s.configMap)(ctx, "web-settings")).To(BeTrue())
		Expect(env.targetClient.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kyma-system", Name: s.name + ".web"}})).To(Succeed())
	})

	DescribeTable("as objects that kubectl applied is adopted without a restart", func(ctx SpecContext, args ...string) {
		file := filepath.Join(GinkgoT().TempDir(), "web.yaml")
		Expect(os.WriteFile(file, []byte(s.helm(ctx, "template", "web", s.folder(withNote()))), 0o600)).To(Succeed())
		s.kubectl(ctx, append([]string{"apply", "--filename", file}, args...)...)
		before := running(ctx)
		adopted(ctx, webChart())
		takenOver(ctx, before)
		s.remove(ctx, "web")
		Expect(gone(s.deployment)(ctx, "web")).To(BeTrue())
	},
		Entry("on the client"),
		Entry("on the server", "--server-side"),
		Entry("as the original did", "--server-side", "--field-manager", "declarative.kyma-project.io/applier"),
	)
})

// kubectl runs the real one against the target, in the namespace of the space.
func (s *space) kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	kubectl, err := tools.Path(ctx, tools.Kubectl)
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.CommandContext(ctx, kubectl, append(args, "--namespace", s.name, "--kubeconfig", env.target.KubeconfigFile())...)
	cmd.Env = []string{"HOME=" + env.dir, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "kubectl %v: %s", args, out)
	return string(out)
}
