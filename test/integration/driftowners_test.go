// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

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

// hpaTemplate is of an autoscaler that wants three replicas at least. It does so without any metrics.
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

var _ = Describe("Fields of others", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("as the replicas of a HorizontalPodAutoscaler are left to it, across repairs and upgrades", func(ctx SpecContext) {
		c := webChart().with("templates/hpa.yaml", hpaTemplate)
		m := s.manifest("web", s.installOf("web", c.pushLayer(ctx), values{"replicas": 1}))
		// Without metrics an autoscaler says that it cannot work.
		m.Spec.ForProvider.Readiness = []v1alpha1.ReadinessRule{{
			CEL: "true", For: &v1alpha1.TypeSelector{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"},
		}}
		s.create(ctx, m)
		Eventually(s.deployment).WithContext(ctx).WithArguments("web").Should(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(3))))
		s.awaitReady(ctx, "web")
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement(
			"Normal FieldYielded Deployment " + s.name + "/web: spec.replicas is left to kube-controller-manager"))
		Expect(s.events(ctx, "web")).NotTo(ContainElement(ContainSubstring("DriftRepaired")))
		Expect(must(s.get(ctx, "web")).Status.AtProvider.CededFields).To(ConsistOf(v1alpha1.CededField{
			ObjectReference: v1alpha1.ObjectReference{Group: "apps", Kind: "Deployment", Namespace: s.name, Name: "web"},
			Field:           "spec.replicas", Manager: "kube-controller-manager", Cause: v1alpha1.CededByConvention,
		}))

		By("scaling it again, as the autoscaler does")
		quiet := s.quietly(ctx, "web")
		s.scaleAs(ctx, "web", 4, "kube-controller-manager")
		quiet(func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 4 })
		s.awaitReady(ctx, "web")

		By("upgrading, and repairing another field")
		s.update(ctx, "web", setValues(values{"replicas": 2, "message": "new"}))
		Eventually(s.deployment).WithContext(ctx).WithArguments("web").Should(haveMessage("new"))
		s.awaitReady(ctx, "web")
		edit(ctx, s.mustDeployment(ctx, "web"), `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"example.org/evil"}]}}}}`)
		Eventually(s.deployment).WithContext(ctx).WithArguments("web").Should(
			HaveField("Spec.Template.Spec.Containers", ContainElement(HaveField("Image", ContainSubstring("/web:")))))
		s.awaitReady(ctx, "web")
		for _, e := range s.mustDeployment(ctx, "web").ManagedFields {
			if e.Manager == "provider-kyma" && e.FieldsV1 != nil {
				Expect(e.FieldsV1.String()).NotTo(ContainSubstring("f:replicas"))
			}
		}
		Expect(s.mustDeployment(ctx, "web").Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))

		By("having them back once the autoscaler is gone")
		s.update(ctx, "web", setSource(webChart().pushLayer(ctx)))
		s.update(ctx, "web", setValues(values{"replicas": 2, "message": "newer"}))
		Eventually(s.deployment).WithContext(ctx).WithArguments("web").Should(haveMessage("newer"))
		s.awaitReady(ctx, "web")
	})

	It("as what a mutating webhook changes cause no loop", func(ctx SpecContext) {
		calls := s.mutate(ctx)
		m := s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		Expect(m.Status.AtProvider.Drift).To(BeNil())
		d := s.mustDeployment(ctx, "web")
		Expect(d.Spec.Template.Spec.Containers).To(ConsistOf(
			SatisfyAll(HaveField("Name", "web"), HaveField("Image", "mirror.example.org/rewritten")), HaveField("Name", "sidecar")))
		Expect(d.Labels).To(HaveKeyWithValue("mutated", "yes"))

		quiet, before := s.quietly(ctx, "web"), calls.Load()
		quiet(func(*appsv1.Deployment) bool { return true })
		Expect(calls.Load()).To(Equal(before), "no one writes the Deployment")

		By("upgrading, repairing, and annotating as kubectl rollout restart does")
		s.update(ctx, "web", setValues(values{"message": "new"}))
		Eventually(s.deployment).WithContext(ctx).WithArguments("web").Should(haveMessage("new"))
		s.awaitReady(ctx, "web")
		edit(ctx, s.mustDeployment(ctx, "web"), `{"spec":{"replicas":5,"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}}}`)
		Eventually(s.deployment).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(1))),
			HaveField("Spec.Template.Annotations", HaveKey("kubectl.kubernetes.io/restartedAt")),
			HaveField("Spec.Template.Spec.Containers", HaveLen(2))))
		s.awaitReady(ctx, "web")
		s.quietly(ctx, "web")(func(*appsv1.Deployment) bool { return true })
	})

	It("that a controller sets again and again are left to it after some repairs, and named", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), values{"replicas": 1})))
		end, writes := s.insist(ctx, "web-settings", "message", "theirs")
		what := "ConfigMap " + s.name + "/web-settings: data.message was set again and again by insistent, and is left to it"
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			haveState(v1alpha1.StateWarning, what), synced(), haveCondition("Ready", corev1.ConditionTrue, ContainSubstring(what)),
			readyBecause(v1alpha1.ReasonDrifted), HaveField("Status.AtProvider.CededFields", ConsistOf(v1alpha1.CededField{
				ObjectReference: v1alpha1.ObjectReference{Kind: "ConfigMap", Namespace: s.name, Name: "web-settings"},
				Field:           "data.message", Manager: "insistent", Cause: v1alpha1.CededAfterConflict,
			}))))
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement(HavePrefix("Warning FieldContested " + what)))
		now := writes.Load()
		Consistently(writes.Load).Should(Equal(now))
		Expect(now).To(BeNumerically("<", 20), "the contention was short")
		Expect(s.mustConfigMap(ctx, "web-settings")).To(haveData("message", "theirs"))
		end()

		By("starting again with other inputs")
		s.update(ctx, "web", setValues(values{"replicas": 1, "password": "x"}))
		s.awaitMessage(ctx, "web-settings", "hello")
		s.awaitReady(ctx, "web")
	})

	It("are a collision where someone replaced the object", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		old := s.mustConfigMap(ctx, "web-settings")
		Expect(env.targetClient.Delete(ctx, old)).To(Succeed())
		theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "web-settings"}, Data: map[string]string{"message": "theirs"}}
		if err := env.targetClient.Create(ctx, theirs); err != nil {
			// The provider was faster: now it is ours, and taken away again with its labels.
			edit(ctx, theirs, `{"metadata":{"labels":null}}`)
			s.awaitReady(ctx, "web")
			return
		}
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(haveState(v1alpha1.StateError, "ConfigMap "+s.name+
			"/web-settings: exists and does not belong to this module; remove it, or set adoption: Adopt to take it over"))
		Expect(env.targetClient.Delete(ctx, theirs)).To(Succeed())
		s.awaitMessage(ctx, "web-settings", "hello")
		s.awaitReady(ctx, "web")
	})
})

// haveMessage matches a Deployment of the web chart by its environment.
func haveMessage(message string) OmegaMatcher {
	return HaveField("Spec.Template.Spec.Containers", ContainElement(HaveField("Env", ContainElement(
		SatisfyAll(HaveField("Name", "MESSAGE"), HaveField("Value", message))))))
}

// scaleAs a field manager, through the subresource for it.
func (s *space) scaleAs(ctx context.Context, name string, replicas int32, manager string) {
	GinkgoHelper()
	d := s.mustDeployment(ctx, name)
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	Expect(env.targetClient.SubResource("scale").Update(ctx, d, client.WithSubResourceBody(scale), client.FieldOwner(manager))).To(Succeed())
}

// quietly returns a function that checks that the provider writes a Deployment no more: its entry of managedFields and
// the generation stay as they are, while something holds.
func (s *space) quietly(ctx context.Context, name string) func(holds func(d *appsv1.Deployment) bool) {
	GinkgoHelper()
	ours := func(d *appsv1.Deployment) string {
		for _, e := range d.ManagedFields {
			if e.Manager == "provider-kyma" {
				return e.Time.String() + e.FieldsV1.String()
			}
		}
		return ""
	}
	before, err := env.provider.scrape(ctx)
	Expect(err).NotTo(HaveOccurred())
	entry := ours(s.mustDeployment(ctx, name))
	return func(holds func(d *appsv1.Deployment) bool) {
		GinkgoHelper()
		Consistently(func(g Gomega) {
			d, err := s.deployment(ctx, name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(ours(d)).To(Equal(entry))
			g.Expect(holds(d)).To(BeTrue())
			now, err := env.provider.scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now.requestsSince(before, targetRequests)[http.MethodPatch]).To(BeNumerically("<=", 1), "no loop of writes")
		}).Should(Succeed())
	}
}

// insist on a value of a ConfigMap, as a controller that sets it whenever it is another, until the function is called.
func (s *space) insist(ctx SpecContext, name, key, value string) (end func(), writes *atomic.Int64) {
	GinkgoHelper()
	writes = &atomic.Int64{}
	running, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(interval / 4)
		defer tick.Stop()
		for {
			select {
			case <-running.Done():
				return
			case <-tick.C:
			}
			c, err := s.configMap(running, name)
			if err != nil || c.Data[key] == value {
				continue
			}
			c.Data[key] = value
			if env.targetClient.Update(running, c, client.FieldOwner("insistent")) == nil {
				writes.Add(1)
			}
		}
	}()
	end = func() { stop(); <-done }
	DeferCleanup(end)
	return end, writes
}

// mutation is the webhook of mutate, which counts its calls but for dry runs.
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

// mutate the Deployments of the space, by a real webhook: another image, a sidecar, a label. It counts its calls.
func (s *space) mutate(ctx SpecContext) *atomic.Int64 {
	GinkgoHelper()
	calls := &atomic.Int64{}
	server := httptest.NewTLSServer(mutation(calls))
	DeferCleanup(server.Close)
	none, fail, url := registrationv1.SideEffectClassNone, registrationv1.Fail, server.URL+"/mutate"
	inTarget(ctx, &registrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Webhooks: []registrationv1.MutatingWebhook{{
			Name: "mutate.example.org", SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, FailurePolicy: &fail,
			ClientConfig: registrationv1.WebhookClientConfig{
				URL: &url, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []registrationv1.RuleWithOperations{{
				Operations: []registrationv1.OperationType{registrationv1.Create, registrationv1.Update},
				Rule:       registrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}},
			NamespaceSelector: s.selector(),
		}},
	})
	// It takes a moment until it is called.
	Eventually(func(ctx context.Context) (map[string]string, error) {
		labels := map[string]string{"app": "probe"}
		probe := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "probe", Labels: labels},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "example.org/probe"}}},
				},
			},
		}
		err := env.targetClient.Create(ctx, probe, client.DryRunAll)
		return probe.Labels, err
	}).WithContext(ctx).Should(HaveKey("mutated"))
	return calls
}
