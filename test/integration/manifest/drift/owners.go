// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// hpaTemplate is the template of an autoscaler with at least three replicas, which it sets without any metrics.
const hpaTemplate = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: "{{ .Release.Name }}"}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: "{{ .Release.Name }}"}
  minReplicas: 3
  maxReplicas: 4
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`

var _ = Describe("Fields of other field managers", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("such as the replicas of a HorizontalPodAutoscaler are ceded, across repairs and upgrades", func(ctx SpecContext) {
		c := WebChart().With("templates/hpa.yaml", hpaTemplate)
		m := s.Manifest("web", s.InstallOf("web", c.PushLayer(ctx), Values{"replicas": 1}))
		// Without metrics an autoscaler reports that it cannot work.
		m.Spec.ForProvider.Readiness = []v1alpha1.ReadinessRule{{
			CEL: "true", For: &v1alpha1.TypeSelector{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"},
		}}
		s.Create(ctx, m)
		Eventually(s.Deployment).WithContext(ctx).WithArguments("web").Should(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(3))))
		s.AwaitReady(ctx, "web")
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(
			"Normal FieldCeded Deployment " + s.Name + "/web: spec.replicas is ceded to kube-controller-manager"))
		Expect(Events(ctx, s, "web")).NotTo(ContainElement(ContainSubstring("DriftRepaired")))
		// The status is written after the event.
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveField("Status.AtProvider.CededFields", ConsistOf(v1alpha1.CededField{
			ObjectReference: v1alpha1.ObjectReference{Group: "apps", Kind: "Deployment", Namespace: s.Name, Name: "web"},
			Field:           "spec.replicas", Manager: "kube-controller-manager", Cause: v1alpha1.CededByConvention,
		})))

		By("scaling it again, as the autoscaler does")
		quiet := quietly(ctx, s, "web")
		scaleAs(ctx, s, "web", 4, "kube-controller-manager")
		quiet(func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 4 })
		s.AwaitReady(ctx, "web")

		By("upgrading, and repairing another field")
		s.Update(ctx, "web", SetValues(Values{"replicas": 2, "message": "new"}))
		Eventually(s.Deployment).WithContext(ctx).WithArguments("web").Should(haveMessage("new"))
		s.AwaitReady(ctx, "web")
		Edit(ctx, s.MustDeployment(ctx, "web"), `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"example.org/evil"}]}}}}`)
		Eventually(s.Deployment).WithContext(ctx).WithArguments("web").Should(
			HaveField("Spec.Template.Spec.Containers", ContainElement(HaveField("Image", ContainSubstring("/web:")))))
		s.AwaitReady(ctx, "web")
		for _, e := range s.MustDeployment(ctx, "web").ManagedFields {
			if e.Manager == "provider-kyma" && e.FieldsV1 != nil {
				Expect(e.FieldsV1.String()).NotTo(ContainSubstring("f:replicas"))
			}
		}
		Expect(s.MustDeployment(ctx, "web").Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))

		By("applying the replicas again after the autoscaler is deleted")
		s.Update(ctx, "web", SetSource(WebChart().PushLayer(ctx)))
		s.Update(ctx, "web", SetValues(Values{"replicas": 2, "message": "newer"}))
		Eventually(s.Deployment).WithContext(ctx).WithArguments("web").Should(haveMessage("newer"))
		s.AwaitReady(ctx, "web")
	})

	It("such as those that a mutating webhook sets cause no endless repairs", func(ctx SpecContext) {
		calls := mutate(ctx, s)
		m := s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		Expect(m.Status.AtProvider.Drift).To(BeNil())
		d := s.MustDeployment(ctx, "web")
		Expect(d.Spec.Template.Spec.Containers).To(ConsistOf(
			SatisfyAll(HaveField("Name", "web"), HaveField("Image", "mirror.example.org/rewritten")), HaveField("Name", "sidecar")))
		Expect(d.Labels).To(HaveKeyWithValue("mutated", "yes"))

		quiet, before := quietly(ctx, s, "web"), calls.Load()
		quiet(func(*appsv1.Deployment) bool { return true })
		Expect(calls.Load()).To(Equal(before), "no one writes the Deployment")

		By("upgrading, repairing, and annotating as kubectl rollout restart does")
		s.Update(ctx, "web", SetValues(Values{"message": "new"}))
		Eventually(s.Deployment).WithContext(ctx).WithArguments("web").Should(haveMessage("new"))
		s.AwaitReady(ctx, "web")
		Edit(ctx, s.MustDeployment(ctx, "web"), `{"spec":{"replicas":5,"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}}}`)
		Eventually(s.Deployment).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(1))),
			HaveField("Spec.Template.Annotations", HaveKey("kubectl.kubernetes.io/restartedAt")),
			HaveField("Spec.Template.Spec.Containers", HaveLen(2))))
		s.AwaitReady(ctx, "web")
		quietly(ctx, s, "web")(func(*appsv1.Deployment) bool { return true })
	})

	It("that a controller sets repeatedly are ceded after some repairs, and reported", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), Values{"replicas": 1})))
		end, writes := insist(ctx, s, "web-settings", "message", "theirs")
		what := "ConfigMap " + s.Name + "/web-settings: data.message is ceded to insistent, which changed it repeatedly"
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			HaveState(v1alpha1.StateWarning, what), Synced(), HaveCondition("Ready", corev1.ConditionTrue, ContainSubstring(what)),
			ReadyBecause(v1alpha1.ReasonDrifted), HaveField("Status.AtProvider.CededFields", ConsistOf(v1alpha1.CededField{
				ObjectReference: v1alpha1.ObjectReference{Kind: "ConfigMap", Namespace: s.Name, Name: "web-settings"},
				Field:           "data.message", Manager: "insistent", Cause: v1alpha1.CededAfterConflict,
			}))))
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(HavePrefix("Warning FieldContested " + what)))
		now := writes.Load()
		Consistently(writes.Load).Should(Equal(now))
		Expect(now).To(BeNumerically("<", 20), "the contention was short")
		Expect(s.MustConfigMap(ctx, "web-settings")).To(HaveData("message", "theirs"))
		end()

		By("setting the field again after the inputs change")
		s.Update(ctx, "web", SetValues(Values{"replicas": 1, "password": "x"}))
		s.AwaitMessage(ctx, "web-settings", "hello")
		s.AwaitReady(ctx, "web")
	})

	It("are an ownership conflict if the object was replaced", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", WebChart().PushLayer(ctx), nil)))
		old := s.MustConfigMap(ctx, "web-settings")
		Expect(Env.TargetClient.Delete(ctx, old)).To(Succeed())
		theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "web-settings"}, Data: map[string]string{"message": "theirs"}}
		if err := Env.TargetClient.Create(ctx, theirs); err != nil {
			// The provider was faster, so the object is ours. Removing its labels takes it away again.
			Edit(ctx, theirs, `{"metadata":{"labels":null}}`)
			s.AwaitReady(ctx, "web")
			return
		}
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(HaveState(v1alpha1.StateError, "ConfigMap "+s.Name+
			"/web-settings: already exists and does not belong to this module; remove the object, or set adoption: Adopt"))
		Expect(Env.TargetClient.Delete(ctx, theirs)).To(Succeed())
		s.AwaitMessage(ctx, "web-settings", "hello")
		s.AwaitReady(ctx, "web")
	})
})

// haveMessage matches a Deployment of the web chart by its environment variable MESSAGE.
func haveMessage(message string) OmegaMatcher {
	return HaveField("Spec.Template.Spec.Containers", ContainElement(HaveField("Env", ContainElement(
		SatisfyAll(HaveField("Name", "MESSAGE"), HaveField("Value", message))))))
}

// scaleAs sets the replicas of a Deployment as a field manager, through the subresource scale.
func scaleAs(ctx context.Context, s *Space, name string, replicas int32, manager string) {
	GinkgoHelper()
	d := s.MustDeployment(ctx, name)
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	Expect(Env.TargetClient.SubResource("scale").Update(ctx, d, client.WithSubResourceBody(scale), client.FieldOwner(manager))).To(Succeed())
}

// quietly returns a function that checks that the provider stops writing a Deployment: our entry of managedFields does not
// change, and holds stays true.
func quietly(ctx context.Context, s *Space, name string) func(holds func(d *appsv1.Deployment) bool) {
	GinkgoHelper()
	ours := func(d *appsv1.Deployment) string {
		for _, e := range d.ManagedFields {
			if e.Manager == "provider-kyma" {
				return e.Time.String() + e.FieldsV1.String()
			}
		}
		return ""
	}
	before, err := Env.Provider.Scrape(ctx)
	Expect(err).NotTo(HaveOccurred())
	entry := ours(s.MustDeployment(ctx, name))
	return func(holds func(d *appsv1.Deployment) bool) {
		GinkgoHelper()
		Consistently(func(g Gomega) {
			d, err := s.Deployment(ctx, name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(ours(d)).To(Equal(entry))
			g.Expect(holds(d)).To(BeTrue())
			now, err := Env.Provider.Scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now.RequestsSince(before, TargetRequests)[http.MethodPatch]).To(BeNumerically("<=", 1), "no loop of writes")
		}).Should(Succeed())
	}
}

// insist sets a value of a ConfigMap whenever it differs, as a controller would, until end is called. It counts its writes.
func insist(ctx SpecContext, s *Space, name, key, value string) (end func(), writes *atomic.Int64) {
	GinkgoHelper()
	writes = &atomic.Int64{}
	running, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(Interval / 4)
		defer tick.Stop()
		for {
			select {
			case <-running.Done():
				return
			case <-tick.C:
			}
			c, err := s.ConfigMap(running, name)
			if err != nil || c.Data[key] == value {
				continue
			}
			c.Data[key] = value
			if Env.TargetClient.Update(running, c, client.FieldOwner("insistent")) == nil {
				writes.Add(1)
			}
		}
	}()
	end = func() { stop(); <-done }
	DeferCleanup(end)
	return end, writes
}

// mutation returns the handler of the webhook of mutate, which counts its calls except dry runs.
func mutation(calls *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		review := &admissionv1.AdmissionReview{}
		d := &appsv1.Deployment{}
		if err := json.NewDecoder(r.Body).Decode(review); err != nil || json.Unmarshal(review.Request.Object.Raw, d) != nil {
			http.Error(w, "no review", http.StatusBadRequest)
			return
		}
		if review.Request.DryRun == nil || !*review.Request.DryRun {
			calls.Add(1)
		}
		patch := []map[string]any{
			{"op": "add", "path": "/metadata/labels/mutated", "value": "yes"},
			{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "mirror.example.org/rewritten"},
		}
		if len(d.Spec.Template.Spec.Containers) == 1 {
			patch = append(patch, map[string]any{"op": "add", "path": "/spec/template/spec/containers/-", "value": map[string]any{"name": "sidecar", "image": "example.org/sidecar"}})
		}
		b, err := json.Marshal(patch)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		kind := admissionv1.PatchTypeJSONPatch
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true, Patch: b, PatchType: &kind}
		_ = json.NewEncoder(w).Encode(review)
	}
}

// mutate changes the Deployments of the space by a real webhook: another image, a sidecar, a label. It counts the calls.
func mutate(ctx SpecContext, s *Space) *atomic.Int64 {
	GinkgoHelper()
	calls := &atomic.Int64{}
	server := httptest.NewTLSServer(mutation(calls))
	DeferCleanup(server.Close)
	none, fail, url := registrationv1.SideEffectClassNone, registrationv1.Fail, server.URL+"/mutate"
	InTarget(ctx, &registrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name},
		Webhooks: []registrationv1.MutatingWebhook{{
			Name: "mutate.example.org", SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, FailurePolicy: &fail,
			ClientConfig: registrationv1.WebhookClientConfig{
				URL: &url, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []registrationv1.RuleWithOperations{{
				Operations: []registrationv1.OperationType{registrationv1.Create, registrationv1.Update},
				Rule:       registrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}},
			NamespaceSelector: s.Selector(),
		}},
	})
	// The webhook takes effect after a moment.
	Eventually(func(ctx context.Context) (map[string]string, error) {
		labels := map[string]string{"app": "probe"}
		probe := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "probe", Labels: labels},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "example.org/probe"}}},
				},
			},
		}
		err := Env.TargetClient.Create(ctx, probe, client.DryRunAll)
		return probe.Labels, err
	}).WithContext(ctx).Should(HaveKey("mutated"))
	return calls
}
