// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("An object that the target refuses", Label("bad"), func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	DescribeTable("is named in one clear line", func(ctx SpecContext, cause func(ctx SpecContext, s *space) trouble) {
		s.suffer(ctx, cause(ctx, s))
	},
		Entry("quota", quota),
		Entry("admission policy", policy),
		Entry("webhook that does not answer", webhook),
		Entry("unknown kind", unknownKind),
		Entry("field that is not in the schema", unknownField),
		Entry("field of another type", wrongType),
		Entry("field with a value that is not allowed", badValue),
		Entry("field of a Secret, whose value is not shown", secretField),
		Entry("data of a Secret, whose value is not shown", secretData),
		Entry("namespace that is being deleted", terminatingNamespace),
		Entry("CRD that is never established", neverEstablished),
	)
})

func quota(ctx SpecContext, s *space) trouble {
	q := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/services": resource.MustParse("0")}},
	}
	inTarget(ctx, q)
	s.awaitRefusal(ctx, &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, "exceeded quota: none")
	return trouble{
		manifest: s.web(webChart().pushLayer(ctx)),
		says:     []string{"web: Service " + s.name + "/", "exceeded quota: none", "count/services"},
		cure:     func(ctx SpecContext) { Expect(env.targetClient.Delete(ctx, q)).To(Succeed()) },
	}
}

func policy(ctx SpecContext, s *space) trouble {
	p := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: services()}}},
			Validations:      []admissionv1.Validation{{Expression: "false", Message: "services must be approved"}},
		},
	}
	b := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: s.name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: s.selector()},
		},
	}
	inTarget(ctx, p)
	inTarget(ctx, b)
	s.awaitRefusal(ctx, &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, "services must be approved")
	return trouble{
		manifest: s.web(webChart().pushLayer(ctx)),
		says:     []string{"web: Service " + s.name + "/", "ValidatingAdmissionPolicy '" + s.name + "'", "services must be approved"},
		cure:     func(ctx SpecContext) { Expect(env.targetClient.Delete(ctx, b)).To(Succeed()) },
	}
}

func webhook(ctx SpecContext, s *space) trouble {
	none, url, fail := admissionv1.SideEffectClassNone, "https://127.0.0.1:1/", admissionv1.Fail
	w := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "gate.example.org", SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, FailurePolicy: &fail,
			ClientConfig: admissionv1.WebhookClientConfig{URL: &url},
			Rules:        []admissionv1.RuleWithOperations{services()}, NamespaceSelector: s.selector(),
		}},
	}
	inTarget(ctx, w)
	s.awaitRefusal(ctx, &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, "gate.example.org")
	return trouble{
		manifest: s.web(webChart().pushLayer(ctx)),
		says:     []string{"web: Service " + s.name + "/", `failed calling webhook "gate.example.org"`, "connection refused"},
		cure:     func(ctx SpecContext) { Expect(env.targetClient.Delete(ctx, w)).To(Succeed()) },
	}
}

func unknownKind(ctx SpecContext, s *space) trouble {
	c := webChart().with("templates/widget.yaml", "apiVersion: "+s.group()+"/v1\nkind: Widget\nmetadata: {name: \"{{ .Release.Name }}\"}\n")
	return trouble{
		manifest: s.web(c.pushLayer(ctx)),
		says:     []string{"web: Widget ", "the cluster has no kind Widget in " + s.group() + "/v1"},
		cure: func(ctx SpecContext) {
			crd := &unstructured.Unstructured{}
			Expect(yaml.Unmarshal([]byte(controlplane.WidgetDefinition(s.group())), &crd.Object)).To(Succeed())
			inTarget(ctx, crd)
		},
	}
}

func unknownField(ctx SpecContext, s *space) trouble {
	return refusedObject(ctx, s, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: \"{{ .Release.Name }}-extra\"}\nspec: {replica: 1}\n",
		"web: Deployment "+s.name+"/web", "-extra", ".spec.replica", "not declared in schema")
}

func wrongType(ctx SpecContext, s *space) trouble {
	return refusedObject(ctx, s, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}-extra\"}\ndata: {port: 80}\n",
		"web: ConfigMap "+s.name+"/web", "-extra", ".data.port: expected string")
}

func badValue(ctx SpecContext, s *space) trouble {
	return refusedObject(ctx, s, "apiVersion: v1\nkind: Service\nmetadata: {name: \"{{ .Release.Name }}-extra\"}\nspec: {ports: [{port: 70000}]}\n",
		"web: Service "+s.name+"/web", "-extra", "spec.ports[0].port", "70000")
}

func secretField(ctx SpecContext, s *space) trouble {
	return refusedObject(ctx, s, "apiVersion: v1\nkind: Secret\nmetadata: {name: \"{{ .Release.Name }}-extra\"}\nstringData: {token: [\"{{ .Values.password }}\"]}\n",
		"web: Secret "+s.name+"/web", "-extra", ".stringData.token")
}

func secretData(ctx SpecContext, s *space) trouble {
	return refusedObject(ctx, s, "apiVersion: v1\nkind: Secret\nmetadata: {name: \"{{ .Release.Name }}-extra\"}\nstringData: [\"{{ .Values.password }}\"]\n",
		"web: Secret "+s.name+"/web", "-extra", ".stringData: expected map")
}

// refusedObject is one that the chart has besides its own, until its good version takes its place.
func refusedObject(ctx SpecContext, s *space, template string, says ...string) trouble {
	GinkgoHelper()
	return trouble{manifest: s.web(webChart().with("templates/extra.yaml", template).pushLayer(ctx)), says: says, cure: s.mend("web")}
}

func terminatingNamespace(ctx SpecContext, s *space) trouble {
	doomed := s.name + "-doomed"
	inTarget(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}})
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: doomed, Name: "held", Finalizers: []string{"example.org/hold"}}}
	Expect(env.targetClient.Create(ctx, held)).To(Succeed())
	release := func(ctx context.Context) {
		err := env.targetClient.Patch(ctx, held, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
		Expect(client.IgnoreNotFound(err)).To(Succeed())
	}
	DeferCleanup(func(ctx SpecContext) { release(ctx) })
	Expect(env.targetClient.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}})).To(Succeed())
	m := s.web(webChart().pushLayer(ctx))
	m.Spec.ForProvider.Installs[0].Namespace = doomed
	return trouble{
		manifest: m,
		says:     []string{"web: ", doomed, "is being deleted"},
		cure:     func(ctx SpecContext) { release(ctx) },
	}
}

func neverEstablished(ctx SpecContext, s *space) trouble {
	first := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(controlplane.WidgetDefinition(s.group())), &first.Object)).To(Succeed())
	inTarget(ctx, first)
	// The same kind under another name: the API server serves the first only.
	second := strings.NewReplacer("widgets", "gadgets", "singular: widget", "singular: gadget").Replace(controlplane.WidgetDefinition(s.group()))
	c := newChart("operator", "1.0.0").with("crds/gadgets.yaml", second).
		with("templates/operator.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\n")
	return trouble{
		manifest: s.manifest("web", s.installOf("web", c.pushLayer(ctx), nil)),
		says:     []string{"web: CustomResourceDefinition gadgets." + s.group(), "is already in use"},
		cure:     func(ctx SpecContext) { Expect(env.targetClient.Delete(ctx, first)).To(Succeed()) },
		// A CRD belongs to one Manifest.
		twinless: true,
	}
}

// services that are created or changed.
func services() admissionv1.RuleWithOperations {
	return admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"services"}},
	}
}

// selector of the namespace of the space.
func (s *space) selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.name}}
}

// inTarget creates an object in the target, until the end of the spec.
func inTarget(ctx context.Context, o client.Object) {
	GinkgoHelper()
	Expect(env.targetClient.Create(ctx, o)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(env.targetClient.Delete(ctx, o))).To(Succeed()) })
}

// awaitRefusal waits until the target refuses to create an object in the space: it takes a moment until it knows what
// it shall refuse.
func (s *space) awaitRefusal(ctx context.Context, o client.Object, says string) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) error {
		probe, ok := o.DeepCopyObject().(client.Object)
		Expect(ok).To(BeTrue())
		probe.SetNamespace(s.name)
		probe.SetName("probe")
		err := env.targetClient.Create(ctx, probe, client.DryRunAll)
		if kerrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}).WithContext(ctx).Should(MatchError(ContainSubstring(says)))
}
