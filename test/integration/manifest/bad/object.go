// SPDX-License-Identifier: Apache-2.0

package bad

import (
	"context"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

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

var _ = Describe("An object that the target cluster rejects", Label("bad"), func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	DescribeTable("is reported in one line", func(ctx SpecContext, cause func(ctx SpecContext, s *Space) trouble) {
		suffer(ctx, s, cause(ctx, s))
	},
		Entry("quota", quota),
		Entry("admission policy", policy),
		Entry("webhook that does not respond", webhook),
		Entry("unknown kind", unknownKind),
		Entry("field that is not in the schema", unknownField),
		Entry("field of another type", wrongType),
		Entry("field with a value that is not allowed", badValue),
		Entry("field of a Secret, whose value is redacted", secretField),
		Entry("data of a Secret, whose value is redacted", secretData),
		Entry("namespace that is being deleted", terminatingNamespace),
		Entry("CRD that is never established", neverEstablished),
	)
})

func quota(ctx SpecContext, s *Space) trouble {
	q := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/services": resource.MustParse("0")}},
	}
	InTarget(ctx, q)
	awaitRefusal(ctx, s, &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, "exceeded quota: none")
	return trouble{
		manifest: Web(s, WebChart().PushLayer(ctx)),
		says:     []string{"web: Service " + s.Name + "/", "exceeded quota: none", "count/services"},
		fix:      func(ctx SpecContext) { Expect(Env.TargetClient.Delete(ctx, q)).To(Succeed()) },
	}
}

func policy(ctx SpecContext, s *Space) trouble {
	p := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: services()}}},
			Validations:      []admissionv1.Validation{{Expression: "false", Message: "services must be approved"}},
		},
	}
	b := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: s.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: s.Selector()},
		},
	}
	InTarget(ctx, p)
	InTarget(ctx, b)
	awaitRefusal(ctx, s, &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, "services must be approved")
	return trouble{
		manifest: Web(s, WebChart().PushLayer(ctx)),
		says:     []string{"web: Service " + s.Name + "/", "ValidatingAdmissionPolicy '" + s.Name + "'", "services must be approved"},
		fix:      func(ctx SpecContext) { Expect(Env.TargetClient.Delete(ctx, b)).To(Succeed()) },
	}
}

func webhook(ctx SpecContext, s *Space) trouble {
	none, url, fail := admissionv1.SideEffectClassNone, "https://127.0.0.1:1/", admissionv1.Fail
	w := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "gate.example.org", SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, FailurePolicy: &fail,
			ClientConfig: admissionv1.WebhookClientConfig{URL: &url},
			Rules:        []admissionv1.RuleWithOperations{services()}, NamespaceSelector: s.Selector(),
		}},
	}
	InTarget(ctx, w)
	awaitRefusal(ctx, s, &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, "gate.example.org")
	return trouble{
		manifest: Web(s, WebChart().PushLayer(ctx)),
		says:     []string{"web: Service " + s.Name + "/", `failed calling webhook "gate.example.org"`, "connection refused"},
		fix:      func(ctx SpecContext) { Expect(Env.TargetClient.Delete(ctx, w)).To(Succeed()) },
	}
}

func unknownKind(ctx SpecContext, s *Space) trouble {
	c := WebChart().With("templates/widget.yaml", "apiVersion: "+s.Group()+"/v1\nkind: Widget\nmetadata: {name: \"{{ .Release.Name }}\"}\n")
	return trouble{
		manifest: Web(s, c.PushLayer(ctx)),
		says:     []string{"web: Widget ", "the cluster does not serve kind Widget in " + s.Group() + "/v1"},
		fix: func(ctx SpecContext) {
			crd := &unstructured.Unstructured{}
			Expect(yaml.Unmarshal([]byte(controlplane.WidgetCRD(s.Group())), &crd.Object)).To(Succeed())
			InTarget(ctx, crd)
		},
	}
}

func unknownField(ctx SpecContext, s *Space) trouble {
	return refusedObject(ctx, s, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: \"{{ .Release.Name }}-extra\"}\nspec: {replica: 1}\n",
		"web: Deployment "+s.Name+"/web", "-extra", ".spec.replica", "not declared in schema")
}

func wrongType(ctx SpecContext, s *Space) trouble {
	return refusedObject(ctx, s, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}-extra\"}\ndata: {port: 80}\n",
		"web: ConfigMap "+s.Name+"/web", "-extra", ".data.port: expected string")
}

func badValue(ctx SpecContext, s *Space) trouble {
	return refusedObject(ctx, s, "apiVersion: v1\nkind: Service\nmetadata: {name: \"{{ .Release.Name }}-extra\"}\nspec: {ports: [{port: 70000}]}\n",
		"web: Service "+s.Name+"/web", "-extra", "spec.ports[0].port", "70000")
}

func secretField(ctx SpecContext, s *Space) trouble {
	return refusedObject(ctx, s, "apiVersion: v1\nkind: Secret\nmetadata: {name: \"{{ .Release.Name }}-extra\"}\nstringData: {token: [\"{{ .Values.password }}\"]}\n",
		"web: Secret "+s.Name+"/web", "-extra", ".stringData.token")
}

func secretData(ctx SpecContext, s *Space) trouble {
	return refusedObject(ctx, s, "apiVersion: v1\nkind: Secret\nmetadata: {name: \"{{ .Release.Name }}-extra\"}\nstringData: [\"{{ .Values.password }}\"]\n",
		"web: Secret "+s.Name+"/web", "-extra", ".stringData: expected map")
}

// refusedObject returns a trouble with an additional object in the chart. Its fix is the chart without the object.
func refusedObject(ctx SpecContext, s *Space, template string, says ...string) trouble {
	GinkgoHelper()
	return trouble{manifest: Web(s, WebChart().With("templates/extra.yaml", template).PushLayer(ctx)), says: says, fix: fixSource(s, "web")}
}

func terminatingNamespace(ctx SpecContext, s *Space) trouble {
	doomed := s.Name + "-doomed"
	InTarget(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}})
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: doomed, Name: "held", Finalizers: []string{"example.org/hold"}}}
	Expect(Env.TargetClient.Create(ctx, held)).To(Succeed())
	release := func(ctx context.Context) {
		err := Env.TargetClient.Patch(ctx, held, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
		Expect(client.IgnoreNotFound(err)).To(Succeed())
	}
	DeferCleanup(func(ctx SpecContext) { release(ctx) })
	Expect(Env.TargetClient.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}})).To(Succeed())
	m := Web(s, WebChart().PushLayer(ctx))
	m.Spec.ForProvider.Installs[0].Namespace = doomed
	return trouble{
		manifest: m,
		says:     []string{"web: ", doomed, "is being deleted"},
		fix:      func(ctx SpecContext) { release(ctx) },
	}
}

func neverEstablished(ctx SpecContext, s *Space) trouble {
	first := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(controlplane.WidgetCRD(s.Group())), &first.Object)).To(Succeed())
	InTarget(ctx, first)
	// The same kind gets another plural name: the API server serves the first only.
	second := strings.NewReplacer("widgets", "gadgets", "singular: widget", "singular: gadget").Replace(controlplane.WidgetCRD(s.Group()))
	c := NewChart("operator", "1.0.0").With("crds/gadgets.yaml", second).
		With("templates/operator.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\n")
	return trouble{
		manifest: s.Manifest("web", s.InstallOf("web", c.PushLayer(ctx), nil)),
		says:     []string{"web: CustomResourceDefinition gadgets." + s.Group(), "is already in use"},
		fix:      func(ctx SpecContext) { Expect(Env.TargetClient.Delete(ctx, first)).To(Succeed()) },
		// A CRD belongs to one Manifest.
		twinless: true,
	}
}

// services returns the webhook rule for the creation and update of Services.
func services() admissionv1.RuleWithOperations {
	return admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"services"}},
	}
}

// awaitRefusal waits until the target refuses to create an object in the space, because new rules take effect after a moment.
func awaitRefusal(ctx context.Context, s *Space, o client.Object, says string) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) error {
		probe, ok := o.DeepCopyObject().(client.Object)
		Expect(ok).To(BeTrue())
		probe.SetNamespace(s.Name)
		probe.SetName("probe")
		err := Env.TargetClient.Create(ctx, probe, client.DryRunAll)
		if kerrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}).WithContext(ctx).Should(MatchError(ContainSubstring(says)))
}
