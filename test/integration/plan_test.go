// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

const (
	// exitChanges is for scripts that ask whether there is something to change.
	exitChanges = 7
)

// planOnly puts a Manifest into plan mode.
func planOnly(m *v1alpha1.Manifest) { m.Spec.ForProvider.Mode = v1alpha1.ModePlan }

// applied takes it out of it.
func applied(m *v1alpha1.Manifest) { m.Spec.ForProvider.Mode = v1alpha1.ModeApply }

// havePlan matches a Manifest with a plan of its present generation.
func havePlan(create, change, prune int32, objects types.GomegaMatcher) types.GomegaMatcher {
	return SatisfyAll(
		WithTransform(func(m *v1alpha1.Manifest) bool {
			p := m.Status.AtProvider.Plan
			return p != nil && p.ObservedGeneration == m.Generation
		}, BeTrue()),
		HaveField("Status.AtProvider.Plan", gstruct.PointTo(gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
			"Create": Equal(create), "Change": Equal(change), "Prune": Equal(prune), "Objects": objects,
		}))))
}

// objectPlanned matches one object of a plan, which is named as in a message.
func objectPlanned(action, object string, fields ...string) types.GomegaMatcher {
	return gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
		"Action": Equal(action), "ObjectReference": WithTransform(titleOf, Equal(object)), "Fields": ConsistOf(fields),
	})
}

// titleOf returns the kind and name of an object, as messages have it.
func titleOf(r v1alpha1.ObjectReference) string { return cluster.ObjectRef(r).String() }

// shown is what kymactl plan -o json writes.
type shown struct {
	Create int    `json:"create"`
	Change int    `json:"change"`
	Prune  int    `json:"prune"`
	Result string `json:"result"`
}

var _ = Describe("A plan", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	// versions of all objects in the target that can tell of a write of ours.
	versions := func(ctx context.Context) map[string]string {
		GinkgoHelper()
		out := map[string]string{}
		inventories := &corev1.SecretList{}
		Expect(env.targetClient.List(ctx, inventories, client.InNamespace("kyma-system"))).To(Succeed())
		for _, i := range inventories.Items {
			out["inventory "+i.Name] = i.ResourceVersion
		}
		maps := &corev1.ConfigMapList{}
		Expect(env.targetClient.List(ctx, maps, client.InNamespace(s.name))).To(Succeed())
		for _, c := range maps.Items {
			if c.Name != "kube-root-ca.crt" { // The cluster itself publishes it, some time after the namespace is there.
				out["config "+c.Name] = c.ResourceVersion
			}
		}
		return out
	}

	It("of something new creates nothing, not even an inventory, until it is applied", func(ctx SpecContext) {
		own := s.name + "-new"
		DeferCleanup(func(ctx SpecContext) {
			ns := &corev1.Namespace{}
			ns.Name = own
			Expect(client.IgnoreNotFound(env.targetClient.Delete(ctx, ns))).To(Succeed())
		})
		before := versions(ctx)
		in := s.installOf("web", webChart().pushLayer(ctx), nil)
		in.Namespace = own
		m := s.manifest("web", in)
		planOnly(m)
		s.create(ctx, m)
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			synced(), notReady("plan: 4 to create, 0 to change, 0 to prune; nothing is applied"), haveState(v1alpha1.StateProcessing),
			readyBecause(v1alpha1.ReasonPlanned),
			havePlan(4, 0, 0, ContainElement(objectPlanned("Create", "Deployment "+own+"/web"))),
			HaveField("Status.AtProvider.Plan.Message", ContainSubstring("namespace "+own+" would be created"))))
		Eventually(s.events).WithContext(ctx).WithArguments("web").Should(ContainElement(HavePrefix("Normal Planned 4 to create")))
		Expect(versions(ctx)).To(Equal(before))
		Expect(env.targetClient.Get(ctx, client.ObjectKey{Name: own}, &corev1.Namespace{})).To(beNotFound())

		By("applying it, and clearing the plan")
		s.update(ctx, "web", applied)
		Expect(s.awaitReady(ctx, "web").Status.AtProvider.Plan).To(BeNil())
		s.remove(ctx, "web")
	})

	It("of a change names fields and what is pruned, repairs no drift, and asks for nothing at rest", func(ctx SpecContext) {
		s.install(ctx, s.manifest("plain", s.installOf("all", s.inline("one", "k: a", "two", "k: a", "three", "k: a"), nil)))
		s.update(ctx, "plain", func(m *v1alpha1.Manifest) {
			planOnly(m)
			setSource(s.inline("one", "k: hidden-value", "two", "k: a", "four", "k: a"))(m)
		})
		object := func(name string) string { return "ConfigMap " + s.name + "/" + name }
		Eventually(s.get).WithContext(ctx).WithArguments("plain").Should(havePlan(1, 1, 1, ConsistOf(
			objectPlanned("Change", object("one"), "data.k"), objectPlanned("Create", object("four")), objectPlanned("Prune", object("three")))))

		By("seeing drift as something to change")
		edit(ctx, s.mustConfigMap(ctx, "two"), `{"data":{"k":"edited"}}`)
		m := s.awaitPlan(ctx, "plain", havePlan(1, 2, 1, ContainElement(objectPlanned("Change", object("two"), "data.k"))))
		Expect(s.mustConfigMap(ctx, "two")).To(haveData("k", "edited"))
		Expect(m).To(notReady("plan: 1 to create, 2 to change, 1 to prune"))
		m.Spec, m.ManagedFields, m.Annotations = v1alpha1.ManifestSpec{}, nil, nil
		s.expectNowhere(ctx, m, "hidden-value")

		By("asking for nothing while nothing changes")
		awaitSettled(ctx)
		before, version := must(env.provider.scrape(ctx)), must(s.get(ctx, "plain")).ResourceVersion
		Consistently(func(g Gomega) {
			now, err := env.provider.scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now.requestsSince(before, targetRequests)).To(beWatchesOnly())
			// Other spaces may still be on their way out, so that not all writes are counted.
			g.Expect(s.get(ctx, "plain")).To(HaveField("ResourceVersion", version))
		}).WithTimeout(8 * time.Second).WithPolling(time.Second).Should(Succeed())

		By("applying it")
		s.update(ctx, "plain", applied)
		s.awaitReady(ctx, "plain")
		Expect(s.mustConfigMap(ctx, "one")).To(haveData("k", "hidden-value"))
		Expect(s.mustConfigMap(ctx, "two")).To(haveData("k", "a"))
		Expect(gone(s.configMap)(ctx, "three")).To(BeTrue())
	})

	It("says what is in the way, and what the API server refuses", func(ctx SpecContext) {
		foreign := &corev1.ConfigMap{}
		foreign.Namespace, foreign.Name = s.name, "taken"
		Expect(env.targetClient.Create(ctx, foreign)).To(Succeed())
		m := s.manifest("plain", s.installOf("all", v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: `
apiVersion: v1
kind: ConfigMap
metadata: {name: taken}
---
apiVersion: v1
kind: Service
metadata: {name: wrong}
spec: {ports: [{port: 0}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: fine}
`}, nil))
		m.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
		s.create(ctx, m)
		s.awaitPlan(ctx, "plain", SatisfyAll(
			havePlan(1, 0, 0, ConsistOf(objectPlanned("Create", "ConfigMap "+s.name+"/fine"))),
			HaveField("Status.AtProvider.Plan.Problems", BeEquivalentTo(2)),
			notReady("ConfigMap "+s.name+"/taken: exists and does not belong to this module", "Service "+s.name+"/wrong", "spec.ports[0].port")))
		Eventually(s.events).WithContext(ctx).WithArguments("plain").Should(ContainElement(HavePrefix("Warning Planned problems:")))

		By("adopting what is there")
		s.update(ctx, "plain", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt })
		s.awaitPlan(ctx, "plain", havePlan(1, 1, 0, ContainElement(objectPlanned("Change", "ConfigMap "+s.name+"/taken", "metadata.labels"))))
		Expect(must(s.configMap(ctx, "taken")).Labels).To(BeEmpty())
		s.remove(ctx, "plain")
		Expect(must(s.configMap(ctx, "taken")).DeletionTimestamp).To(BeNil())
	})

	It("of objects of a kind that it brings itself waits for nothing", func(ctx SpecContext) {
		m := s.module(ctx, "module")
		planOnly(m)
		s.create(ctx, m)
		s.awaitPlan(ctx, "module", HaveField("Status.AtProvider.Plan.Objects", ContainElements(
			HaveField("Kind", "CustomResourceDefinition"), HaveField("Kind", "Widget"))))
		s.remove(ctx, "module")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("is made by kymactl, which leaves the Manifest as it was unless it is asked to apply", func(ctx SpecContext) {
		p := s.person()
		next := s.manifest("plain", s.installOf("all", s.inline("one", "k: a"), nil))
		next.SetGroupVersionKind(v1alpha1.ManifestGroupVersionKind)
		file := func(m *v1alpha1.Manifest) string { return p.input("plan.yaml", must(yaml.Marshal(m))) }
		Expect(p.ok(ctx, "plan", "-f", file(next))).To(SatisfyAll(
			ContainSubstring("+ create ConfigMap "+s.name+"/one\n"), ContainSubstring("1 to create, 0 to change, 0 to prune. Nothing was applied.")))
		s.awaitGone(ctx, "plain")
		Expect(p.ok(ctx, "plan", "-f", file(next), "--apply")).To(ContainSubstring("The provider is applying it."))
		before := s.awaitReady(ctx, "plain")

		By("planning a change of what is there")
		next.Spec.ForProvider.Installs[0].Source = s.inline("one", "k: b")
		p.fails(ctx, exitChanges, []string{"1 to change"}, "plan", "-f", file(next), "--exit-code")
		m := s.awaitReady(ctx, "plain")
		Expect(m.Spec).To(Equal(before.Spec))
		Expect(s.mustConfigMap(ctx, "one")).To(haveData("k", "a"))
		var r shown
		Expect(json.Unmarshal([]byte(p.ok(ctx, "plan", "manifest/plain", "-o", "json")), &r)).To(Succeed())
		Expect(r).To(Equal(shown{Result: "planned"}))
		p.ok(ctx, "plan", "-f", file(next), "--apply")
		s.awaitMessageOf(ctx, "one", "k", "b")
	})

	It("of a Kyma is that of its modules, and goes without a trace", func(ctx SpecContext) {
		p := s.person()
		o := s.offer("web")
		o.release(ctx, "regular", "1.0.0")
		k := s.kyma("kyma")
		s.create(ctx, k)
		s.awaitKyma(ctx, "kyma")
		k.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: o.name}}
		k.SetGroupVersionKind(v1alpha1.KymaGroupVersionKind)
		k.ManagedFields, k.ResourceVersion = nil, ""
		out := p.ok(ctx, "plan", "-f", p.input("kyma.yaml", must(yaml.Marshal(k))))
		Expect(out).To(SatisfyAll(ContainSubstring("Manifest kyma-"+o.name), ContainSubstring("+ create ")))
		Eventually(func(ctx SpecContext) ([]v1alpha1.Manifest, error) { return s.listManifests(ctx) }).WithContext(ctx).Should(BeEmpty())
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
		Expect(must(s.getKyma(ctx, "kyma")).Spec.ForProvider.Mode).To(Equal(v1alpha1.ModeApply))

		By("planning another version of a module that is there, and going back to it as it is")
		o.release(ctx, "fast", "2.0.0")
		s.updateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules = []v1alpha1.Module{o.module()} })
		s.awaitKyma(ctx, "kyma")
		was := s.mustConfigMap(ctx, o.name)
		k.Spec.ForProvider.Modules[0].Channel = "fast"
		file := p.input("kyma.yaml", must(yaml.Marshal(k)))
		p.fails(ctx, exitChanges, []string{"1 to change"}, "plan", "-f", file, "--exit-code")
		Eventually(s.get).WithContext(ctx).WithArguments("kyma-" + o.name).Should(SatisfyAll(
			HaveField("Spec.ForProvider.Version", "1.0.0"), HaveField("Spec.ForProvider.Mode", v1alpha1.ModeApply)))
		s.awaitKyma(ctx, "kyma")
		Expect(s.mustConfigMap(ctx, o.name).ResourceVersion).To(Equal(was.ResourceVersion))
		Expect(p.ok(ctx, "plan", "-f", file, "--apply")).To(ContainSubstring("~ change ConfigMap " + s.name + "/" + o.name))
		Eventually(s.configMap).WithContext(ctx).WithArguments(o.name).Should(haveData("version", "2.0.0"))
	})
})

// awaitPlan of a Manifest.
func (s *space) awaitPlan(ctx SpecContext, name string, is types.GomegaMatcher) *v1alpha1.Manifest {
	GinkgoHelper()
	Eventually(s.get).WithContext(ctx).WithArguments(name).Should(is, func() string { return "plan of " + name })
	return must(s.get(ctx, name))
}

// awaitMessageOf a ConfigMap in the target.
func (s *space) awaitMessageOf(ctx SpecContext, name, key, value string) {
	GinkgoHelper()
	Eventually(s.configMap).WithContext(ctx).WithArguments(name).Should(haveData(key, value))
}
