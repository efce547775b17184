// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("Hooks that are slow or fail", func() {
	const pending = `nodeSelector: {nowhere: "true"}`
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("do not block other Manifests, time out, and continue after a restart of the provider", func(ctx SpecContext) {
		WithProvider(ctx, func(p *Provider) { p.Args = append(slices.Clone(p.Args), "--max-reconcile-rate=1") })
		chartOf := func(name, event string) Chart {
			return NewChart(name, "1.0.0").With("templates/hook.yaml", hookJob(name, event, "", pending)).
				With("templates/all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+"}\n")
		}
		running := "hook pre-install Job " + s.Name + "/slow is running"
		s.Create(ctx, s.Manifest("slow", s.InstallOf("slow", chartOf("slow", "pre-install").PushLayer(ctx), nil)))
		late := s.Manifest("late", s.InstallOf("late", chartOf("late", "post-install").PushLayer(ctx), nil))
		late.Spec.ForProvider.Config = ConfigLayer(ctx, "configs: [{name: late, clientConfig: 'Timeout=2s'}]")
		s.Create(ctx, late)
		Eventually(s.Get).WithContext(ctx).WithArguments("slow").Should(HaveInstall("slow", v1alpha1.StateProcessing, running))

		By("installing another Manifest with the only worker")
		s.Install(ctx, s.Manifest("other", s.InstallOf("other", s.Inline("other", "message: hello"), nil)))
		Eventually(s.Get).WithContext(ctx).WithArguments("late").Should(HaveInstall("late", v1alpha1.StateError,
			"hook post-install Job "+s.Name+"/late did not finish within 2s"))
		Expect(Gone(s.ConfigMap)(ctx, "late")).To(BeFalse(), "its objects stay")

		By("killing the provider while a hook runs")
		uid := job(ctx, s, "slow").UID
		Env.Provider.Kill()
		Expect(Env.Provider.Start(ctx)).To(Succeed())
		s.Update(ctx, "slow", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Version = "9" })
		Eventually(s.Get).WithContext(ctx).WithArguments("slow").Should(SatisfyAll(
			HaveField("Status.AtProvider.Version", "9"), HaveInstall("slow", v1alpha1.StateProcessing, running)))
		endPod(ctx, s, "slow", 0, "")
		s.AwaitReady(ctx, "slow")
		Expect(job(ctx, s, "slow").UID).To(Equal(uid))
		for _, name := range []string{"slow", "late"} {
			Expect(pods(ctx, s, name)).To(Equal(1), name)
		}
		for _, name := range []string{"slow", "late", "other"} {
			s.Remove(ctx, name)
		}
		forgetHooks(ctx, s)
	})

	It("report the last line of the log if the container has no termination message", func(ctx SpecContext) {
		c := WebChart().With("templates/hook.yaml", hookJob("migrate", "pre-install", "", pending))
		s.Create(ctx, s.Manifest("web", s.InstallOf("web", c.PushLayer(ctx), nil)))
		bindPod(ctx, s, "migrate", playKubelet(ctx, "/containerLogs/"+s.Name+"/", "no such table\n"))
		endPod(ctx, s, "migrate", 1, "")
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveInstall("web", v1alpha1.StateError,
			"hook pre-install Job "+s.Name+"/migrate failed", "no such table"))
		s.Remove(ctx, "web")
		forgetHooks(ctx, s)
	})

	It("can be CRDs, and custom resources of these CRDs", func(ctx SpecContext) {
		group := s.Name + ".example.org"
		hook := func(weight string) string {
			return `annotations: {"helm.sh/hook": pre-install, "helm.sh/hook-weight": "` + weight + `"}`
		}
		crd := strings.Replace(controlplane.WidgetCRD(group), "metadata:\n", "metadata:\n  "+hook("-5")+"\n", 1)
		c := NewChart("kinds", "1.0.0").With("templates/crd.yaml", crd).
			With("templates/widget.yaml", "apiVersion: "+group+"/v1\nkind: Widget\nmetadata:\n  name: one\n  "+hook("0")+"\n").
			With("templates/all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: all}\n")
		applied := &unstructured.Unstructured{}
		applied.SetAPIVersion("apiextensions.k8s.io/v1")
		applied.SetKind("CustomResourceDefinition")
		applied.SetName("widgets." + group)
		DeferCleanup(func(ctx SpecContext) { Expect(Env.TargetClient.Delete(ctx, applied)).To(Succeed()) })
		m := s.Install(ctx, s.Manifest("kinds", s.InstallOf("kinds", c.PushLayer(ctx), nil)))
		Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 1, Total: 1})))
		widget := &unstructured.Unstructured{}
		widget.SetAPIVersion(group + "/v1")
		widget.SetKind("Widget")
		Expect(Env.TargetClient.Get(ctx, s.Key("one"), widget)).To(Succeed())
		s.Remove(ctx, "kinds")
		Expect(Env.TargetClient.Get(ctx, s.Key("one"), widget)).To(Succeed(), "hooks stay, as with Helm")
	})
})

// playKubelet answers the API server's requests for logs on a node of the target, which has no kubelet, and returns its name.
func playKubelet(ctx SpecContext, path, log string) string {
	GinkgoHelper()
	kubelet := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, path) || r.URL.Query().Get("tailLines") != "1" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, log)
	}))
	DeferCleanup(kubelet.Close)
	nodes := &corev1.NodeList{}
	Expect(Env.TargetClient.List(ctx, nodes)).To(Succeed())
	node := nodes.Items[0].DeepCopy()
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(kubelet.Listener.Addr().(*net.TCPAddr).Port)
	Expect(Env.TargetClient.Status().Patch(ctx, node, client.MergeFrom(&nodes.Items[0]))).To(Succeed())
	return node.Name
}

// bindPod binds the pod of a Job to a node. The pod gets an address first, so that kwok does not run it there.
func bindPod(ctx context.Context, s *Space, job, node string) {
	GinkgoHelper()
	l := &corev1.PodList{}
	Eventually(func(g Gomega) {
		g.Expect(Env.TargetClient.List(ctx, l, client.InNamespace(s.Name), client.MatchingLabels{batchv1.JobNameLabel: job})).To(Succeed())
		g.Expect(l.Items).To(HaveLen(1))
		p := l.Items[0].DeepCopy()
		p.Status.PodIP, p.Status.PodIPs = "127.0.0.1", []corev1.PodIP{{IP: "127.0.0.1"}}
		g.Expect(Env.TargetClient.Status().Update(ctx, p)).To(Succeed())
	}).Should(Succeed())
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	Expect(Env.TargetClient.SubResource("binding").Create(ctx, &l.Items[0], binding)).To(Succeed())
}
