// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("Hooks that take long or fail", func() {
	const pending = `nodeSelector: {nowhere: "true"}`
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("keep no one from working, end in time, and continue after a restart", func(ctx SpecContext) {
		withProvider(ctx, func(p *provider) { p.args = append(slices.Clone(p.args), "--max-reconcile-rate=1") })
		chartOf := func(name, event string) chart {
			return newChart(name, "1.0.0").with("templates/hook.yaml", hookJob(name, event, "", pending)).
				with("templates/all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+"}\n")
		}
		running := "hook pre-install Job " + s.name + "/slow is running"
		s.create(ctx, s.manifest("slow", s.installOf("slow", chartOf("slow", "pre-install").pushLayer(ctx), nil)))
		late := s.manifest("late", s.installOf("late", chartOf("late", "post-install").pushLayer(ctx), nil))
		late.Spec.ForProvider.Config = configLayer(ctx, "configs: [{name: late, clientConfig: 'Timeout=2s'}]")
		s.create(ctx, late)
		Eventually(s.get).WithContext(ctx).WithArguments("slow").Should(haveInstall("slow", v1alpha1.StateProcessing, running))

		By("installing another one with the only worker that there is")
		s.install(ctx, s.manifest("other", s.installOf("other", s.inline("other", "message: hello"), nil)))
		Eventually(s.get).WithContext(ctx).WithArguments("late").Should(haveInstall("late", v1alpha1.StateError,
			"hook post-install Job "+s.name+"/late did not finish within 2s"))
		Expect(gone(s.configMap)(ctx, "late")).To(BeFalse(), "its objects stay")

		By("dying while a hook runs")
		uid := s.job(ctx, "slow").UID
		env.provider.kill()
		Expect(env.provider.start(ctx)).To(Succeed())
		s.update(ctx, "slow", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Version = "9" })
		Eventually(s.get).WithContext(ctx).WithArguments("slow").Should(SatisfyAll(
			HaveField("Status.AtProvider.Version", "9"), haveInstall("slow", v1alpha1.StateProcessing, running)))
		s.endPod(ctx, "slow", 0, "")
		s.awaitReady(ctx, "slow")
		Expect(s.job(ctx, "slow").UID).To(Equal(uid))
		for _, name := range []string{"slow", "late"} {
			Expect(s.pods(ctx, name)).To(Equal(1), name)
		}
		for _, name := range []string{"slow", "late", "other"} {
			s.remove(ctx, name)
		}
		s.forgetHooks(ctx)
	})

	It("say the last line of their log where their container left no message", func(ctx SpecContext) {
		c := webChart().with("templates/hook.yaml", hookJob("migrate", "pre-install", "", pending))
		s.create(ctx, s.manifest("web", s.installOf("web", c.pushLayer(ctx), nil)))
		s.bindPod(ctx, "migrate", playKubelet(ctx, "/containerLogs/"+s.name+"/", "no such table\n"))
		s.endPod(ctx, "migrate", 1, "")
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(haveInstall("web", v1alpha1.StateError,
			"hook pre-install Job "+s.name+"/migrate failed", "no such table"))
		s.remove(ctx, "web")
		s.forgetHooks(ctx)
	})

	It("may be CRDs, and objects of the kinds that they define", func(ctx SpecContext) {
		group := s.name + ".example.org"
		hook := func(weight string) string {
			return `annotations: {"helm.sh/hook": pre-install, "helm.sh/hook-weight": "` + weight + `"}`
		}
		crd := strings.Replace(controlplane.WidgetDefinition(group), "metadata:\n", "metadata:\n  "+hook("-5")+"\n", 1)
		c := newChart("kinds", "1.0.0").with("templates/crd.yaml", crd).
			with("templates/widget.yaml", "apiVersion: "+group+"/v1\nkind: Widget\nmetadata:\n  name: one\n  "+hook("0")+"\n").
			with("templates/all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: all}\n")
		definition := &unstructured.Unstructured{}
		definition.SetAPIVersion("apiextensions.k8s.io/v1")
		definition.SetKind("CustomResourceDefinition")
		definition.SetName("widgets." + group)
		DeferCleanup(func(ctx SpecContext) { Expect(env.targetClient.Delete(ctx, definition)).To(Succeed()) })
		m := s.install(ctx, s.manifest("kinds", s.installOf("kinds", c.pushLayer(ctx), nil)))
		Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 1, Total: 1})))
		widget := &unstructured.Unstructured{}
		widget.SetAPIVersion(group + "/v1")
		widget.SetKind("Widget")
		Expect(env.targetClient.Get(ctx, s.key("one"), widget)).To(Succeed())
		s.remove(ctx, "kinds")
		Expect(env.targetClient.Get(ctx, s.key("one"), widget)).To(Succeed(), "hooks stay, as with Helm")
	})
})

// playKubelet of a node of the target, whose name is returned: no one else answers there when the API server asks for logs.
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
	Expect(env.targetClient.List(ctx, nodes)).To(Succeed())
	node := nodes.Items[0].DeepCopy()
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(kubelet.Listener.Addr().(*net.TCPAddr).Port)
	Expect(env.targetClient.Status().Patch(ctx, node, client.MergeFrom(&nodes.Items[0]))).To(Succeed())
	return node.Name
}

// bindPod of a Job to a node. As it has an address already, no one plays it there.
func (s *space) bindPod(ctx context.Context, job, node string) {
	GinkgoHelper()
	l := &corev1.PodList{}
	Eventually(func(g Gomega) {
		g.Expect(env.targetClient.List(ctx, l, client.InNamespace(s.name), client.MatchingLabels{batchv1.JobNameLabel: job})).To(Succeed())
		g.Expect(l.Items).To(HaveLen(1))
		p := l.Items[0].DeepCopy()
		p.Status.PodIP, p.Status.PodIPs = "127.0.0.1", []corev1.PodIP{{IP: "127.0.0.1"}}
		g.Expect(env.targetClient.Status().Update(ctx, p)).To(Succeed())
	}).Should(Succeed())
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	Expect(env.targetClient.SubResource("binding").Create(ctx, &l.Items[0], binding)).To(Succeed())
}
