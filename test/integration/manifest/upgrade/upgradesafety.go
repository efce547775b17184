// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"encoding/json"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// strictOperator returns version 2.0.0 of OperatorChart, whose CRD restricts size to three values, and the mode by a rule.
func strictOperator(group string) Chart {
	strict := strings.Replace(controlplane.WidgetCRD(group), "spec: {type: object, x-kubernetes-preserve-unknown-fields: true}",
		`spec:
            type: object
            required: [size]
            properties: {size: {type: string, enum: [small, medium, large]}, mode: {type: string, default: auto}, nodes: {type: integer, default: 1}}
            x-kubernetes-validations: [{rule: "self.mode != 'manual' || self.nodes > 1", message: manual mode needs two nodes}]`, 1)
	return OperatorChart(group).Version("2.0.0").With("crds/widgets.yaml", strict).With("templates/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n")
}

var _ = Describe("Upgrade safety", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	widget := func(ctx SpecContext, name string, spec Values) {
		GinkgoHelper()
		Expect(Env.TargetClient.Create(ctx, &unstructured.Unstructured{Object: s.Widget(s.Group(), name, spec)})).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			if u, err := s.GetWidget(ctx, name); err == nil && u != nil {
				Expect(Env.TargetClient.Delete(ctx, u)).To(Succeed())
			}
		})
	}

	It("refuses a CRD that would make existing objects invalid, and applies it once they are changed", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("module", s.InstallOf("operator", OperatorChart(s.Group()).PushLayer(ctx), nil)))
		widget(ctx, "good", Values{"size": "small"})
		widget(ctx, "huge", Values{"size": "huge"})
		widget(ctx, "bare", Values{})
		widget(ctx, "lone", Values{"size": "large", "mode": "manual", "nodes": 1})
		s.Update(ctx, "module", SetSource(strictOperator(s.Group()).PushLayer(ctx)))
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(SatisfyAll(
			HaveState(v1alpha1.StateError, "operator: CustomResourceDefinition widgets."+s.Group(), "3 of 4 objects would be invalid", "version v1",
				"Widget "+s.Name+"/huge (spec.size: unsupported value: supported values: \"small\", \"medium\", \"large\")",
				"Widget "+s.Name+"/bare (spec.size: required value)",
				"Widget "+s.Name+"/lone (spec: invalid value: manual mode needs two nodes)"),
			NotSynced("3 of 4 objects would be invalid")))
		Expect(Gone(s.ConfigMap)(ctx, "more")).To(BeTrue())

		By("being applied once they are changed")
		Edit(ctx, s.MustWidget(ctx, "huge"), `{"spec":{"size":"large"}}`)
		Edit(ctx, s.MustWidget(ctx, "bare"), `{"spec":{"size":"small"}}`)
		Edit(ctx, s.MustWidget(ctx, "lone"), `{"spec":{"nodes":2}}`)
		s.AwaitReady(ctx, "module")
		s.MustConfigMap(ctx, "more")
		Eventually(func() error {
			late := &unstructured.Unstructured{Object: s.Widget(s.Group(), "late", Values{"size": "huge"})}
			return Env.TargetClient.Create(ctx, late, client.DryRunAll)
		}).Should(MatchError(ContainSubstring("spec.size")))
	})

	It("does not repair a CRD if this would make existing objects invalid, but repairs other objects", func(ctx SpecContext) {
		m := s.Manifest("module", s.InstallOf("operator", strictOperator(s.Group()).PushLayer(ctx), nil))
		m.Spec.ForProvider.Drift = v1alpha1.DriftPolicyReport
		s.Install(ctx, m)
		crd := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(controlplane.WidgetCRD(s.Group())), &crd.Object)).To(Succeed())
		Edit(ctx, crd.DeepCopy(), string(Must(json.Marshal(Values{"spec": Values{"versions": crd.Object["spec"].(map[string]any)["versions"]}}))))
		create := func(name string, options ...client.CreateOption) error {
			return Env.TargetClient.Create(ctx, &unstructured.Unstructured{Object: s.Widget(s.Group(), name, Values{"size": "huge"})}, options...)
		}
		Eventually(create).WithArguments("huge").Should(Succeed())
		Expect(Env.TargetClient.Delete(ctx, s.MustConfigMap(ctx, "more"))).To(Succeed())

		s.Update(ctx, "module", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Drift = v1alpha1.DriftPolicyRepair })
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(HaveState(v1alpha1.StateError,
			"operator: CustomResourceDefinition widgets."+s.Group()+": drift is not repaired: 1 of 1 objects would be invalid",
			"Widget "+s.Name+"/huge (spec.size"))
		Eventually(Gone(s.ConfigMap)).WithContext(ctx).WithArguments("more").Should(BeFalse())
		Expect(Env.TargetClient.Delete(ctx, s.MustWidget(ctx, "huge"))).To(Succeed())
		s.AwaitReady(ctx, "module")
		Eventually(create).WithArguments("late", client.DryRunAll).Should(MatchError(ContainSubstring("spec.size")))
	})

	It("refuses a CRD without a version in which objects are stored", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("module", s.InstallOf("operator", OperatorChart(s.Group()).PushLayer(ctx), nil)))
		renamed := strings.Replace(controlplane.WidgetCRD(s.Group()), "name: v1\n", "name: v2\n", 1)
		s.Update(ctx, "module", SetSource(OperatorChart(s.Group()).Version("2.0.0").With("crds/widgets.yaml", renamed).PushLayer(ctx)))
		Eventually(s.Get).WithContext(ctx).WithArguments("module").Should(
			HaveState(v1alpha1.StateError, "CustomResourceDefinition widgets."+s.Group(), "objects might be stored in version v1"))
		s.Update(ctx, "module", SetSource(OperatorChart(s.Group()).PushLayer(ctx)))
		s.AwaitReady(ctx, "module")
	})

	It("reports an immutable field, and recreates the object only on request", func(ctx SpecContext) {
		job := func(image string) Chart {
			return NewChart("job", "1.0.0").With("templates/job.yaml", `
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  suspend: true
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: `+image+`}]}
`).With("templates/sts.yaml", `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: set}
spec:
  replicas: 0
  serviceName: `+image+`
  selector: {matchLabels: {app: set}}
  template: {metadata: {labels: {app: set}}, spec: {containers: [{name: main, image: one}]}}
`)
		}
		getJob := func(ctx SpecContext) *batchv1.Job { return Must(Fetched(ctx, s.Key("once"), &batchv1.Job{})) }
		s.Create(ctx, s.Manifest("job", s.InstallOf("job", job("one").PushLayer(ctx), nil)))
		Eventually(func() error { _, err := Fetched(ctx, s.Key("once"), &batchv1.Job{}); return err }).Should(Succeed())
		uid := getJob(ctx).UID
		s.Update(ctx, "job", SetSource(job("two").PushLayer(ctx)))
		Eventually(s.Get).WithContext(ctx).WithArguments("job").Should(
			HaveState(v1alpha1.StateError, "cannot be changed", "set immutableFields: Recreate"))
		Eventually(s.Get).WithContext(ctx).WithArguments("job").Should(SatisfyAny(
			HaveState(v1alpha1.StateError, "Job "+s.Name+"/once: spec.template cannot be changed (field is immutable)"),
			HaveState(v1alpha1.StateError, "StatefulSet "+s.Name+"/set: spec.serviceName cannot be changed (updates to statefulset spec")))
		Expect(getJob(ctx).UID).To(Equal(uid))

		By("requesting it")
		s.Update(ctx, "job", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.ImmutableFields = v1alpha1.ImmutableFieldsPolicyRecreate
		})
		Eventually(s.Get).WithContext(ctx).WithArguments("job").Should(Synced())
		Eventually(func() bool { j, err := Fetched(ctx, s.Key("once"), &batchv1.Job{}); return err == nil && j.UID != uid }).Should(BeTrue())
		Expect(getJob(ctx).Spec.Template.Spec.Containers[0].Image).To(Equal("two"))
		Eventually(Events).WithContext(ctx).WithArguments(s, "job").Should(ContainElement(SatisfyAll(
			ContainSubstring("Recreated"), ContainSubstring("Job "+s.Name+"/once"))))
	})
})

var _ = Describe("An immutable field", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	DescribeTable("is reported for each kind", func(ctx SpecContext, text, from, to, message string, recreated bool) {
		source := func(value string) v1alpha1.Source {
			return v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: strings.NewReplacer("VALUE", value, "NAME", s.Name).Replace(text)}
		}
		s.Create(ctx, s.Manifest("fixed", s.InstallOf("all", source(from), nil)))
		Eventually(s.Get).WithContext(ctx).WithArguments("fixed").Should(Synced())
		s.Update(ctx, "fixed", SetSource(source(to)))
		Eventually(s.Get).WithContext(ctx).WithArguments("fixed").Should(HaveState(v1alpha1.StateError, message+" cannot be changed ("))
		s.Update(ctx, "fixed", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.ImmutableFields = v1alpha1.ImmutableFieldsPolicyRecreate
		})
		if recreated {
			Eventually(s.Get).WithContext(ctx).WithArguments("fixed").Should(SatisfyAll(Synced(), Not(HaveState(v1alpha1.StateError))))
			return
		}
		Eventually(s.Get).WithContext(ctx).WithArguments("fixed").Should(HaveState(v1alpha1.StateError, "its content would be lost"))
	},
		Entry("Service", `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {VALUE, ports: [{port: 80}]}}`,
			"type: ClusterIP", "clusterIP: None", "/x: spec.clusterIPs[0]", true),
		Entry("Deployment", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replicas: 0, selector: {matchLabels: {app: VALUE}},
			template: {metadata: {labels: {app: VALUE}}, spec: {containers: [{name: a, image: b}]}}}}`, "one", "two", "/x: spec.selector", true),
		Entry("RoleBinding", `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: x},
			roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: VALUE}}`, "view", "edit", "/x: roleRef", true),
		Entry("ConfigMap", `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, immutable: true, data: {k: VALUE}}`, "one", "two", "/x: data", true),
		Entry("Secret", `{apiVersion: v1, kind: Secret, metadata: {name: x}, type: VALUE, stringData: {k: v}}`, "one/a", "two/b", "/x: type", true),
		Entry("PriorityClass", `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: NAME}, value: VALUE}`, "1", "2", ": value", true),
		Entry("StorageClass", `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: NAME}, provisioner: VALUE}`, "a/b", "c/d", ": provisioner", true),
		Entry("PersistentVolumeClaim", `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x},
			spec: {accessModes: [ReadWriteOnce], storageClassName: VALUE, resources: {requests: {storage: 1Gi}}}}`, "one", "two", "/x: spec.storageClassName", false),
	)
})
