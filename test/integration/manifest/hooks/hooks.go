// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// annotationRetry is the annotation of Crossplane that requests another attempt.
const annotationRetry = "crossplane.io/reconcile-requested-at"

// hookedChart returns a chart with hooks whose ConfigMaps show by their order when the hooks ran.
func hookedChart() Chart {
	hook := func(name, events, weight string) string {
		return `
apiVersion: v1
kind: ConfigMap
metadata: {name: ` + name + `, annotations: {"helm.sh/hook": "` + events + `", "helm.sh/hook-weight": "` + weight + `"}}
data: {message: {{ .Values.message | quote }}}
---`
	}
	return NewChart("hooked", "1.0.0").With("templates/all.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {message: {{ .Values.message | quote }}}
---`+hook("b", "pre-install", "0")+hook("a", "pre-install,pre-upgrade", "0")+hook("z", "pre-install", "-10")+
		hook("after-job", "pre-install,pre-upgrade", "7")+hook("late", "post-install,post-upgrade", "0")+
		hook("bye", "pre-delete", "0")+hook("gone", "post-delete", "0")+hook("gone-too", "post-delete", "-1")+
		hookJob("prepare", "pre-install,pre-upgrade", `"helm.sh/hook-weight": "5", `, ""))
}

// hookJob returns a Job with a text in its pod spec, which can keep its pods from being scheduled.
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
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("run in the same order as with Helm, and leave the same objects behind", func(ctx SpecContext) {
		c := hookedChart()
		install := func(message string) []string {
			return []string{"web", ChartDirectory(s, c), "--set", "message=" + message}
		}
		var want, got [][]string
		Helm(ctx, s, append([]string{"install"}, install("one")...)...)
		want = append(want, made(ctx, s, 0))
		mark := lastMade(ctx, s)
		Helm(ctx, s, append([]string{"upgrade"}, install("two")...)...)
		want = append(want, made(ctx, s, mark))
		mark = lastMade(ctx, s)
		Helm(ctx, s, "uninstall", "web")
		want = append(want, made(ctx, s, mark), made(ctx, s, 0))
		Expect(Env.TargetClient.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(s.Name))).To(Succeed())
		Expect(Env.TargetClient.DeleteAllOf(ctx, &batchv1.Job{}, client.InNamespace(s.Name), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		Eventually(made).WithContext(ctx).WithArguments(s, 0).Should(BeEmpty())

		s.Install(ctx, s.Manifest("web", s.InstallOf("web", c.PushLayer(ctx), Values{"message": "one"})))
		got = append(got, made(ctx, s, 0))
		Expect(job(ctx, s, "prepare")).To(HaveField("Status.Succeeded", BeEquivalentTo(1)))
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(ContainSubstring("HooksSucceeded 6 hooks")))
		Expect(Decode(Helm(ctx, s, "history", "web", "--output", "json"))).To(HaveExactElements(HaveField("Status", "deployed")))
		mark = lastMade(ctx, s)
		s.Update(ctx, "web", SetValues(Values{"message": "two"}))
		Eventually(s.ConfigMap).WithContext(ctx).WithArguments("late").Should(HaveData("message", "two"))
		s.AwaitReady(ctx, "web")
		got = append(got, made(ctx, s, mark))

		By("repairing drift without running hooks")
		mark = lastMade(ctx, s)
		Edit(ctx, s.MustConfigMap(ctx, "settings"), `{"data":{"message":"changed"}}`)
		s.AwaitMessage(ctx, "settings", "two")
		s.AwaitReady(ctx, "web")
		Expect(made(ctx, s, mark)).To(ConsistOf("settings"))

		mark = lastMade(ctx, s)
		s.Remove(ctx, "web")
		got = append(got, made(ctx, s, mark), made(ctx, s, 0))
		Expect(got).To(Equal(want), "by helm: %v", want)
		Expect(want[0]).To(HaveExactElements("z", "a", "b", "after-job", "settings", "late"))
		forgetHooks(ctx, s)
	})

	It("that fail are reported with the message of the container, until a retry is requested", func(ctx SpecContext) {
		c := WebChart().With("templates/hook.yaml", hookJob("migrate", "pre-install,pre-upgrade", "", `nodeSelector: {nowhere: "true"}`))
		s.Create(ctx, s.Manifest("web", s.InstallOf("web", c.PushLayer(ctx), nil)))
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveInstall("web", v1alpha1.StateProcessing, "hook pre-install Job "+s.Name+"/migrate is running"))
		Expect(Decode(Helm(ctx, s, "list", "--all", "--output", "json"))).To(HaveExactElements(HaveField("Status", "pending-install")))
		Expect(Gone(s.ConfigMap)(ctx, "web-settings")).To(BeTrue())

		endPod(ctx, s, "migrate", 1, "no such table")
		failed := []string{"hook pre-install Job " + s.Name + "/migrate failed", "BackoffLimitExceeded", "no such table"}
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			HaveInstall("web", v1alpha1.StateError, failed...), HaveState(v1alpha1.StateError, failed...), NotReady(failed...)))
		Expect(Decode(Helm(ctx, s, "list", "--all", "--output", "json"))).To(HaveExactElements(HaveField("Status", "failed")))
		Consistently(func() (int, error) { return pods(ctx, s, "migrate") }).Should(Equal(1))

		s.Update(ctx, "web", func(m *v1alpha1.Manifest) { metav1.SetMetaDataAnnotation(&m.ObjectMeta, annotationRetry, "again") })
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveInstall("web", v1alpha1.StateProcessing))
		Eventually(func(g Gomega) { tryEndPod(ctx, s, g, "migrate", 0, "") }).Should(Succeed())
		s.AwaitReady(ctx, "web")
		Expect(Decode(Helm(ctx, s, "history", "web", "--output", "json"))).To(HaveExactElements(
			HaveField("Status", "failed"), HaveField("Status", "deployed")))
		s.Remove(ctx, "web")
		forgetHooks(ctx, s)
	})

	It("of type pre-delete block the removal if they fail, unless it is forced", func(ctx SpecContext) {
		c := WebChart().With("templates/hook.yaml", hookJob("backup", "pre-delete", "", `nodeSelector: {nowhere: "true"}`))
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", c.PushLayer(ctx), nil)))
		s.Delete(ctx, "web")
		Eventually(func(g Gomega) { tryEndPod(ctx, s, g, "backup", 1, "no space left") }).Should(Succeed())
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveState(v1alpha1.StateWarning, "hook pre-delete Job", "no space left"))
		Expect(Gone(s.ConfigMap)(ctx, "web-settings")).To(BeFalse())
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(HavePrefix("Warning RemovalBlocked")))

		s.Update(ctx, "web", func(m *v1alpha1.Manifest) {
			metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1alpha1.AnnotationForceRemoval, "true")
		})
		s.AwaitGone(ctx, "web")
		Expect(Gone(s.ConfigMap)(ctx, "web-settings")).To(BeTrue())
		forgetHooks(ctx, s)
	})

	It("of type test run on request, once for each token", func(ctx SpecContext) {
		c := WebChart().With("templates/test.yaml", hookJob("ping", "test", "", "")+"---"+hookJob("probe", "test", `"helm.sh/hook-weight": "1", `, `nodeSelector: {nowhere: "true"}`))
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", c.PushLayer(ctx), nil)))
		p, ended := NewPerson(s), make(chan Run, 1)
		go func() {
			defer GinkgoRecover()
			ended <- Must(p.Run(ctx, "", "test", "manifest/web"))
		}()
		endPod(ctx, s, "probe", 1, "no answer")
		Eventually(ended).Should(Receive(WithTransform(Run.String, SatisfyAll(
			ContainSubstring("exit code 1"), ContainSubstring("Job "+s.Name+"/ping"), ContainSubstring("no answer")))))
		tests := func(m *v1alpha1.Manifest) *v1alpha1.TestsStatus { return m.Status.AtProvider.Tests }
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(BeReady(), WithTransform(tests, HaveValue(SatisfyAll(
			HaveField("State", v1alpha1.StateError), HaveField("Tests", HaveExactElements(
				SatisfyAll(HaveField("Kind", "Job"), HaveField("Namespace", s.Name), HaveField("Name", "ping"), HaveField("State", v1alpha1.StateReady)),
				SatisfyAll(HaveField("Kind", "Job"), HaveField("Name", "probe"), HaveField("State", v1alpha1.StateError), HaveField("Message", ContainSubstring("no answer"))))))))))
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(HavePrefix("Warning TestsFailed 1 of 2 tests failed")))

		s.Update(ctx, "web", func(m *v1alpha1.Manifest) {
			metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1alpha1.AnnotationTest, "two")
		})
		Eventually(func(g Gomega) { tryEndPod(ctx, s, g, "probe", 0, "") }).Should(Succeed())
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(WithTransform(tests, HaveValue(SatisfyAll(
			HaveField("Token", "two"), HaveField("State", v1alpha1.StateReady)))))
		s.Remove(ctx, "web")
		forgetHooks(ctx, s)
	})
})

// made returns the names of the ConfigMaps in the target that were written after a resource version, in that order.
func made(ctx context.Context, s *Space, since int) []string {
	GinkgoHelper()
	var out []string
	for _, c := range configMaps(ctx, s) {
		if version(c) > since {
			out = append(out, c.Name)
		}
	}
	return out
}

func lastMade(ctx context.Context, s *Space) int {
	GinkgoHelper()
	all := configMaps(ctx, s)
	return version(all[len(all)-1])
}

func configMaps(ctx context.Context, s *Space) []*corev1.ConfigMap {
	GinkgoHelper()
	l := &corev1.ConfigMapList{}
	Expect(Env.TargetClient.List(ctx, l, client.InNamespace(s.Name))).To(Succeed())
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

func job(ctx context.Context, s *Space, name string) *batchv1.Job {
	GinkgoHelper()
	return Must(Fetched(ctx, s.Key(name), &batchv1.Job{}))
}

// pods returns the number of pods of a Job.
func pods(ctx context.Context, s *Space, job string) (int, error) {
	l := &corev1.PodList{}
	err := Env.TargetClient.List(ctx, l, client.InNamespace(s.Name), client.MatchingLabels{batchv1.JobNameLabel: job})
	return len(l.Items), err
}

// endPod ends the pending pod of a Job, as a node does.
func endPod(ctx context.Context, s *Space, job string, code int32, message string) {
	GinkgoHelper()
	Eventually(func(g Gomega) { tryEndPod(ctx, s, g, job, code, message) }).Should(Succeed())
}

func tryEndPod(ctx context.Context, s *Space, g Gomega, job string, code int32, message string) {
	l := &corev1.PodList{}
	g.Expect(Env.TargetClient.List(ctx, l, client.InNamespace(s.Name), client.MatchingLabels{batchv1.JobNameLabel: job})).To(Succeed())
	l.Items = slices.DeleteFunc(l.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodPending || p.DeletionTimestamp != nil })
	g.Expect(l.Items).To(HaveLen(1))
	p := &l.Items[0]
	p.Status.Phase = map[bool]corev1.PodPhase{true: corev1.PodSucceeded, false: corev1.PodFailed}[code == 0]
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message},
	}}}
	g.Expect(Env.TargetClient.Status().Update(ctx, p)).To(Succeed())
}

// forgetHooks deletes what hooks left behind, so that the namespace is empty at the end of the spec.
func forgetHooks(ctx context.Context, s *Space) {
	GinkgoHelper()
	Expect(Env.TargetClient.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(s.Name))).To(Succeed())
	Expect(Env.TargetClient.DeleteAllOf(ctx, &batchv1.Job{}, client.InNamespace(s.Name), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
	Eventually(s.Leftovers).WithContext(ctx).WithArguments(Env.Target).Should(BeEmpty())
}
