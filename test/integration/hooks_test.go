// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// annotationRetry of Crossplane asks for another try.
const annotationRetry = "crossplane.io/reconcile-requested-at"

// hookedChart has hooks that say by the order of their ConfigMaps when they ran.
func hookedChart() chart {
	hook := func(name, events, weight string) string {
		return `
apiVersion: v1
kind: ConfigMap
metadata: {name: ` + name + `, annotations: {"helm.sh/hook": "` + events + `", "helm.sh/hook-weight": "` + weight + `"}}
data: {message: {{ .Values.message | quote }}}
---`
	}
	return newChart("hooked", "1.0.0").with("templates/all.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {message: {{ .Values.message | quote }}}
---`+hook("b", "pre-install", "0")+hook("a", "pre-install,pre-upgrade", "0")+hook("z", "pre-install", "-10")+
		hook("after-job", "pre-install,pre-upgrade", "7")+hook("late", "post-install,post-upgrade", "0")+
		hook("bye", "pre-delete", "0")+hook("gone", "post-delete", "0")+hook("gone-too", "post-delete", "-1")+
		hookJob("prepare", "pre-install,pre-upgrade", `"helm.sh/hook-weight": "5", `, ""))
}

// hookJob is a Job whose pods are scheduled to no node with the given text in its spec.
func hookJob(name, events, annotations, spec string) string {
	return `
apiVersion: batch/v1
kind: Job
metadata: {name: ` + name + `, annotations: {` + annotations + `"helm.sh/hook": "` + events + `"}}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      ` + spec + `
      containers: [{name: main, image: example.org/hook}]
`
}

var _ = Describe("Hooks of a chart", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("run in the order of Helm, and leave behind what Helm leaves behind", func(ctx SpecContext) {
		c := hookedChart()
		install := func(message string) []string { return []string{"web", s.folder(c), "--set", "message=" + message} }
		var want, got [][]string
		s.helm(ctx, append([]string{"install"}, install("one")...)...)
		want = append(want, s.made(ctx, 0))
		mark := s.lastMade(ctx)
		s.helm(ctx, append([]string{"upgrade"}, install("two")...)...)
		want = append(want, s.made(ctx, mark))
		mark = s.lastMade(ctx)
		s.helm(ctx, "uninstall", "web")
		want = append(want, s.made(ctx, mark), s.made(ctx, 0))
		Expect(env.targetClient.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(s.name))).To(Succeed())
		Expect(env.targetClient.DeleteAllOf(ctx, &batchv1.Job{}, client.InNamespace(s.name), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		Eventually(s.made).WithContext(ctx).WithArguments(0).Should(BeEmpty())

		s.install(ctx, s.manifest("web", s.installOf("web", c.pushLayer(ctx), values{"message": "one"})))
		got = append(got, s.made(ctx, 0))
		Expect(s.job(ctx, "prepare")).To(HaveField("Status.Succeeded", BeEquivalentTo(1)))
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement(ContainSubstring("HooksSucceeded 6 hooks")))
		Expect(decode(s.helm(ctx, "history", "web", "--output", "json"))).To(HaveExactElements(HaveField("Status", "deployed")))
		mark = s.lastMade(ctx)
		s.update(ctx, "web", setValues(values{"message": "two"}))
		Eventually(s.configMap).WithContext(ctx).WithArguments("late").Should(haveData("message", "two"))
		s.awaitReady(ctx, "web")
		got = append(got, s.made(ctx, mark))

		By("repairing drift without them")
		mark = s.lastMade(ctx)
		edit(ctx, s.mustConfigMap(ctx, "settings"), `{"data":{"message":"changed"}}`)
		s.awaitMessage(ctx, "settings", "two")
		s.awaitReady(ctx, "web")
		Expect(s.made(ctx, mark)).To(ConsistOf("settings"))

		mark = s.lastMade(ctx)
		s.remove(ctx, "web")
		got = append(got, s.made(ctx, mark), s.made(ctx, 0))
		Expect(got).To(Equal(want), "by helm: %v", want)
		Expect(want[0]).To(HaveExactElements("z", "a", "b", "after-job", "settings", "late"))
		s.forgetHooks(ctx)
	})

	It("that fail are an error with the words of the container, until someone wants another try", func(ctx SpecContext) {
		c := webChart().with("templates/hook.yaml", hookJob("migrate", "pre-install,pre-upgrade", "", `nodeSelector: {nowhere: "true"}`))
		s.create(ctx, s.manifest("web", s.installOf("web", c.pushLayer(ctx), nil)))
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(haveInstall("web", v1alpha1.StateProcessing, "hook pre-install Job "+s.name+"/migrate is running"))
		Expect(decode(s.helm(ctx, "list", "--all", "--output", "json"))).To(HaveExactElements(HaveField("Status", "pending-install")))
		Expect(gone(s.configMap)(ctx, "web-settings")).To(BeTrue())

		s.endPod(ctx, "migrate", 1, "no such table")
		failed := []string{"hook pre-install Job " + s.name + "/migrate failed", "BackoffLimitExceeded", "no such table"}
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			haveInstall("web", v1alpha1.StateError, failed...), haveState(v1alpha1.StateError, failed...), notReady(failed...)))
		Expect(decode(s.helm(ctx, "list", "--all", "--output", "json"))).To(HaveExactElements(HaveField("Status", "failed")))
		Consistently(func() (int, error) { return s.pods(ctx, "migrate") }).Should(Equal(1))

		s.update(ctx, "web", func(m *v1alpha1.Manifest) { metav1.SetMetaDataAnnotation(&m.ObjectMeta, annotationRetry, "again") })
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(haveInstall("web", v1alpha1.StateProcessing))
		Eventually(func(g Gomega) { s.tryEndPod(ctx, g, "migrate", 0, "") }).Should(Succeed())
		s.awaitReady(ctx, "web")
		Expect(decode(s.helm(ctx, "history", "web", "--output", "json"))).To(HaveExactElements(
			HaveField("Status", "failed"), HaveField("Status", "deployed")))
		s.remove(ctx, "web")
		s.forgetHooks(ctx)
	})

	It("before a deletion block it if they fail, unless it is forced", func(ctx SpecContext) {
		c := webChart().with("templates/hook.yaml", hookJob("backup", "pre-delete", "", `nodeSelector: {nowhere: "true"}`))
		s.install(ctx, s.manifest("web", s.installOf("web", c.pushLayer(ctx), nil)))
		s.delete(ctx, "web")
		Eventually(func(g Gomega) { s.tryEndPod(ctx, g, "backup", 1, "no space left") }).Should(Succeed())
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(haveState(v1alpha1.StateWarning, "hook pre-delete Job", "no space left"))
		Expect(gone(s.configMap)(ctx, "web-settings")).To(BeFalse())
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement(HavePrefix("Warning RemovalBlocked")))

		s.update(ctx, "web", func(m *v1alpha1.Manifest) {
			metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1alpha1.AnnotationForceRemoval, "true")
		})
		s.awaitGone(ctx, "web")
		Expect(gone(s.configMap)(ctx, "web-settings")).To(BeTrue())
		s.forgetHooks(ctx)
	})

	It("that are tests run on request, once for each token", func(ctx SpecContext) {
		c := webChart().with("templates/test.yaml", hookJob("ping", "test", "", "")+"---"+hookJob("probe", "test", `"helm.sh/hook-weight": "1", `, `nodeSelector: {nowhere: "true"}`))
		s.install(ctx, s.manifest("web", s.installOf("web", c.pushLayer(ctx), nil)))
		p, ended := s.person(), make(chan run, 1)
		go func() {
			defer GinkgoRecover()
			ended <- must(p.run(ctx, "", "test", "manifest/web"))
		}()
		s.endPod(ctx, "probe", 1, "no answer")
		Eventually(ended).Should(Receive(WithTransform(run.String, SatisfyAll(
			ContainSubstring("exit code 1"), ContainSubstring("Job "+s.name+"/ping"), ContainSubstring("no answer")))))
		tests := func(m *v1alpha1.Manifest) *v1alpha1.TestsStatus { return m.Status.AtProvider.Tests }
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(beReady(), WithTransform(tests, HaveValue(SatisfyAll(
			HaveField("State", v1alpha1.StateError), HaveField("Tests", HaveExactElements(
				SatisfyAll(HaveField("Kind", "Job"), HaveField("Namespace", s.name), HaveField("Name", "ping"), HaveField("State", v1alpha1.StateReady)),
				SatisfyAll(HaveField("Kind", "Job"), HaveField("Name", "probe"), HaveField("State", v1alpha1.StateError), HaveField("Message", ContainSubstring("no answer"))))))))))
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement(HavePrefix("Warning TestsFailed 1 of 2 tests failed")))

		s.update(ctx, "web", func(m *v1alpha1.Manifest) {
			metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1alpha1.AnnotationTest, "two")
		})
		Eventually(func(g Gomega) { s.tryEndPod(ctx, g, "probe", 0, "") }).Should(Succeed())
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(WithTransform(tests, HaveValue(SatisfyAll(
			HaveField("Token", "two"), HaveField("State", v1alpha1.StateReady)))))
		s.remove(ctx, "web")
		s.forgetHooks(ctx)
	})
})

// made are the ConfigMaps in the target that were written after a resource version, in that order.
func (s *space) made(ctx context.Context, since int) []string {
	GinkgoHelper()
	var out []string
	for _, c := range s.configMaps(ctx) {
		if version(c) > since {
			out = append(out, c.Name)
		}
	}
	return out
}

func (s *space) lastMade(ctx context.Context) int {
	GinkgoHelper()
	all := s.configMaps(ctx)
	return version(all[len(all)-1])
}

func (s *space) configMaps(ctx context.Context) []*corev1.ConfigMap {
	GinkgoHelper()
	l := &corev1.ConfigMapList{}
	Expect(env.targetClient.List(ctx, l, client.InNamespace(s.name))).To(Succeed())
	var out []*corev1.ConfigMap
	for i := range l.Items {
		if c := &l.Items[i]; c.Name != "kube-root-ca.crt" {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.ConfigMap) int { return cmp.Compare(version(a), version(b)) })
	return out
}

func version(o client.Object) int {
	GinkgoHelper()
	n, err := strconv.Atoi(o.GetResourceVersion())
	Expect(err).NotTo(HaveOccurred())
	return n
}

func (s *space) job(ctx context.Context, name string) *batchv1.Job {
	GinkgoHelper()
	return must(fetched(ctx, s.key(name), &batchv1.Job{}))
}

// pods of a Job, how many.
func (s *space) pods(ctx context.Context, job string) (int, error) {
	l := &corev1.PodList{}
	err := env.targetClient.List(ctx, l, client.InNamespace(s.name), client.MatchingLabels{batchv1.JobNameLabel: job})
	return len(l.Items), err
}

// endPod of a Job, as a node does it.
func (s *space) endPod(ctx context.Context, job string, code int32, message string) {
	GinkgoHelper()
	Eventually(func(g Gomega) { s.tryEndPod(ctx, g, job, code, message) }).Should(Succeed())
}

func (s *space) tryEndPod(ctx context.Context, g Gomega, job string, code int32, message string) {
	l := &corev1.PodList{}
	g.Expect(env.targetClient.List(ctx, l, client.InNamespace(s.name), client.MatchingLabels{batchv1.JobNameLabel: job})).To(Succeed())
	l.Items = slices.DeleteFunc(l.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodPending || p.DeletionTimestamp != nil })
	g.Expect(l.Items).To(HaveLen(1))
	p := &l.Items[0]
	p.Status.Phase = map[bool]corev1.PodPhase{true: corev1.PodSucceeded, false: corev1.PodFailed}[code == 0]
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message},
	}}}
	g.Expect(env.targetClient.Status().Update(ctx, p)).To(Succeed())
}

// forgetHooks deletes what hooks left behind, so that the namespace is empty for the end of the spec.
func (s *space) forgetHooks(ctx context.Context) {
	GinkgoHelper()
	Expect(env.targetClient.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(s.name))).To(Succeed())
	Expect(env.targetClient.DeleteAllOf(ctx, &batchv1.Job{}, client.InNamespace(s.name), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
	Eventually(s.leftovers).WithContext(ctx).WithArguments(env.target).Should(BeEmpty())
}
