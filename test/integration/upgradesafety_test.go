// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// strictOperator is operatorChart in a version whose Widgets need a size of three values, and a mode by a rule.
func strictOperator(group string) chart {
	strict := strings.Replace(controlplane.WidgetDefinition(group), "spec: {type: object, x-kubernetes-preserve-unknown-fields: true}",
		`spec:
            type: object
            required: [size]
            properties: {size: {type: string, enum: [small, medium, large]}, mode: {type: string, default: auto}, nodes: {type: integer, default: 1}}
            x-kubernetes-validations: [{rule: "self.mode != 'manual' || self.nodes > 1", message: manual mode needs two nodes}]`, 1)
	return operatorChart(group).version("2.0.0").with("crds/widgets.yaml", strict).with("templates/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n")
}

var _ = Describe("Upgrade safety", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	widget := func(ctx SpecContext, name string, spec values) {
		GinkgoHelper()
		Expect(env.targetClient.Create(ctx, &unstructured.Unstructured{Object: s.widget(s.group(), name, spec)})).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			if u, err := s.getWidget(ctx, name); err == nil && u != nil {
				Expect(env.targetClient.Delete(ctx, u)).To(Succeed())
			}
		})
	}

	It("refuses a CRD that would make live objects invalid, and applies it once they are changed", func(ctx SpecContext) {
		s.install(ctx, s.manifest("module", s.installOf("operator", operatorChart(s.group()).pushLayer(ctx), nil)))
		widget(ctx, "good", values{"size": "small"})
		widget(ctx, "huge", values{"size": "huge"})
		widget(ctx, "bare", values{})
		widget(ctx, "lone", values{"size": "large", "mode": "manual", "nodes": 1})
		s.update(ctx, "module", setSource(strictOperator(s.group()).pushLayer(ctx)))
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(SatisfyAll(
			haveState(v1alpha1.StateError, "operator: CustomResourceDefinition widgets."+s.group(), "3 of 4 objects would be invalid", "version v1",
				"Widget "+s.name+"/huge (spec.size: unsupported value: supported values: \"small\", \"medium\", \"large\")",
				"Widget "+s.name+"/bare (spec.size: required value)",
				"Widget "+s.name+"/lone (spec: invalid value: manual mode needs two nodes)"),
			notSynced("3 of 4 objects would be invalid")))
		Expect(gone(s.configMap)(ctx, "more")).To(BeTrue())

		By("being applied once they are changed")
		edit(ctx, s.mustWidget(ctx, "huge"), `{"spec":{"size":"large"}}`)
		edit(ctx, s.mustWidget(ctx, "bare"), `{"spec":{"size":"small"}}`)
		edit(ctx, s.mustWidget(ctx, "lone"), `{"spec":{"nodes":2}}`)
		s.awaitReady(ctx, "module")
		s.mustConfigMap(ctx, "more")
		Expect(env.targetClient.Create(ctx, &unstructured.Unstructured{Object: s.widget(s.group(), "late", values{"size": "huge"})})).NotTo(Succeed())
	})

	It("does not put a CRD back over objects that would be invalid then, and repairs all else", func(ctx SpecContext) {
		m := s.manifest("module", s.installOf("operator", strictOperator(s.group()).pushLayer(ctx), nil))
		m.Spec.ForProvider.Drift = v1alpha1.DriftPolicyReport
		s.install(ctx, m)
		crd := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(controlplane.WidgetDefinition(s.group())), &crd.Object)).To(Succeed())
		edit(ctx, crd.DeepCopy(), string(must(json.Marshal(values{"spec": values{"versions": crd.Object["spec"].(map[string]any)["versions"]}}))))
		create := func(name string) error {
			return env.targetClient.Create(ctx, &unstructured.Unstructured{Object: s.widget(s.group(), name, values{"size": "huge"})})
		}
		Eventually(create).WithArguments("huge").Should(Succeed())
		Expect(env.targetClient.Delete(ctx, s.mustConfigMap(ctx, "more"))).To(Succeed())

		s.update(ctx, "module", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Drift = v1alpha1.DriftPolicyRepair })
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(haveState(v1alpha1.StateError,
			"operator: CustomResourceDefinition widgets."+s.group()+": was changed, and is not restored: 1 of 1 objects would be invalid",
			"Widget "+s.name+"/huge (spec.size"))
		Eventually(gone(s.configMap)).WithContext(ctx).WithArguments("more").Should(BeFalse())
		Expect(env.targetClient.Delete(ctx, s.mustWidget(ctx, "huge"))).To(Succeed())
		s.awaitReady(ctx, "module")
		Eventually(create).WithArguments("late").ShouldNot(Succeed())
	})

	It("refuses a CRD without a version that is stored", func(ctx SpecContext) {
		s.install(ctx, s.manifest("module", s.installOf("operator", operatorChart(s.group()).pushLayer(ctx), nil)))
		renamed := strings.Replace(controlplane.WidgetDefinition(s.group()), "name: v1\n", "name: v2\n", 1)
		s.update(ctx, "module", setSource(operatorChart(s.group()).version("2.0.0").with("crds/widgets.yaml", renamed).pushLayer(ctx)))
		Eventually(s.get).WithContext(ctx).WithArguments("module").Should(
			haveState(v1alpha1.StateError, "CustomResourceDefinition widgets."+s.group(), "objects may be stored in version v1"))
		s.update(ctx, "module", setSource(operatorChart(s.group()).pushLayer(ctx)))
		s.awaitReady(ctx, "module")
	})

	It("names a field that cannot be changed, and creates the object again only if it is asked to", func(ctx SpecContext) {
		job := func(image string) chart {
			return newChart("job", "1.0.0").with("templates/job.yaml", `
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  suspend: true
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: `+image+`}]}
`).with("templates/sts.yaml", `
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
		getJob := func(ctx SpecContext) *batchv1.Job { return must(fetched(ctx, s.key("once"), &batchv1.Job{})) }
		s.create(ctx, s.manifest("job", s.installOf("job", job("one").pushLayer(ctx), nil)))
		Eventually(func() error { _, err := fetched(ctx, s.key("once"), &batchv1.Job{}); return err }).Should(Succeed())
		uid := getJob(ctx).UID
		s.update(ctx, "job", setSource(job("two").pushLayer(ctx)))
		Eventually(s.get).WithContext(ctx).WithArguments("job").Should(
			haveState(v1alpha1.StateError, "cannot be changed", "set immutableFields: Recreate"))
		Eventually(s.get).WithContext(ctx).WithArguments("job").Should(SatisfyAny(
			haveState(v1alpha1.StateError, "Job "+s.name+"/once: spec.template cannot be changed (field is immutable)"),
			haveState(v1alpha1.StateError, "StatefulSet "+s.name+"/set: spec.serviceName cannot be changed (updates to statefulset spec")))
		Expect(getJob(ctx).UID).To(Equal(uid))

		By("asking for it")
		s.update(ctx, "job", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.ImmutableFields = v1alpha1.ImmutableFieldsPolicyRecreate
		})
		Eventually(s.get).WithContext(ctx).WithArguments("job").Should(synced())
		Eventually(func() bool { j, err := fetched(ctx, s.key("once"), &batchv1.Job{}); return err == nil && j.UID != uid }).Should(BeTrue())
		Expect(getJob(ctx).Spec.Template.Spec.Containers[0].Image).To(Equal("two"))
		Eventually(s.events).WithContext(ctx).WithArguments("job").Should(ContainElement(SatisfyAll(
			ContainSubstring("Recreated"), ContainSubstring("Job "+s.name+"/once"))))
	})
})

var _ = Describe("A field that cannot be changed", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	DescribeTable("is named, whatever kind it is of", func(ctx SpecContext, text, from, to, message string, anew bool) {
		source := func(value string) v1alpha1.Source {
			return v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: strings.NewReplacer("VALUE", value, "NAME", s.name).Replace(text)}
		}
		s.create(ctx, s.manifest("fixed", s.installOf("all", source(from), nil)))
		Eventually(s.get).WithContext(ctx).WithArguments("fixed").Should(synced())
		s.update(ctx, "fixed", setSource(source(to)))
		Eventually(s.get).WithContext(ctx).WithArguments("fixed").Should(haveState(v1alpha1.StateError, message+" cannot be changed ("))
		s.update(ctx, "fixed", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.ImmutableFields = v1alpha1.ImmutableFieldsPolicyRecreate
		})
		if anew {
			Eventually(s.get).WithContext(ctx).WithArguments("fixed").Should(SatisfyAll(synced(), Not(haveState(v1alpha1.StateError))))
			return
		}
		Eventually(s.get).WithContext(ctx).WithArguments("fixed").Should(haveState(v1alpha1.StateError, "its content would be lost"))
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
