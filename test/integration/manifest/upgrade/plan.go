// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	// exitChanges is the exit code of kymactl plan if there are changes.
	exitChanges = 7
)

// planOnly sets the mode of a Manifest to Plan.
func planOnly(m *v1alpha1.Manifest) { m.Spec.ForProvider.Mode = v1alpha1.ModePlan }

// applied sets the mode of a Manifest to Apply.
func applied(m *v1alpha1.Manifest) { m.Spec.ForProvider.Mode = v1alpha1.ModeApply }

// havePlan matches a Manifest by the plan of its current generation.
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

// objectPlanned matches one object of a plan, named as in messages.
func objectPlanned(action, object string, fields ...string) types.GomegaMatcher {
	return gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
		"Action": Equal(action), "ObjectReference": WithTransform(TitleOf, Equal(object)), "Fields": ConsistOf(fields),
	})
}

// shown is the output of kymactl plan -o json.
type shown struct {
	Create int    `json:"create"`
	Change int    `json:"change"`
	Prune  int    `json:"prune"`
	Result string `json:"result"`
}

var _ = Describe("A plan", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	// versions returns the resource versions of all objects in the target that show writes of the provider.
	versions := func(ctx context.Context) map[string]string {
		GinkgoHelper()
		out := map[string]string{}
		inventories := &corev1.SecretList{}
		Expect(Env.TargetClient.List(ctx, inventories, client.InNamespace("kyma-system"))).To(Succeed())
		for _, i := range inventories.Items {
			out["inventory "+i.Name] = i.ResourceVersion
		}
		maps := &corev1.ConfigMapList{}
		Expect(Env.TargetClient.List(ctx, maps, client.InNamespace(s.Name))).To(Succeed())
		for _, c := range maps.Items {
			if c.Name != "kube-root-ca.crt" { // The cluster itself publishes it, some time after the namespace is there.
				out["config "+c.Name] = c.ResourceVersion
			}
		}
		return out
	}

	It("of a new Manifest creates nothing, not even an inventory, until it is applied", func(ctx SpecContext) {
		own := s.Name + "-new"
		DeferCleanup(func(ctx SpecContext) {
			ns := &corev1.Namespace{}
			ns.Name = own
			Expect(client.IgnoreNotFound(Env.TargetClient.Delete(ctx, ns))).To(Succeed())
		})
		before := versions(ctx)
		in := s.InstallOf("web", WebChart().PushLayer(ctx), nil)
		in.Namespace = own
		m := s.Manifest("web", in)
		planOnly(m)
		s.Create(ctx, m)
		Eventually(s.Get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(
			Synced(), NotReady("plan only, nothing is applied: 4 to create, 0 to change, 0 to prune"), HaveState(v1alpha1.StateProcessing),
			ReadyBecause(v1alpha1.ReasonPlanned),
			havePlan(4, 0, 0, ContainElement(objectPlanned("Create", "Deployment "+own+"/web"))),
			HaveField("Status.AtProvider.Plan.Message", ContainSubstring("namespace "+own+" would be created"))))
		Eventually(Events).WithContext(ctx).WithArguments(s, "web").Should(ContainElement(HavePrefix("Normal Planned 4 to create")))
		Expect(versions(ctx)).To(Equal(before))
		Expect(Env.TargetClient.Get(ctx, client.ObjectKey{Name: own}, &corev1.Namespace{})).To(BeNotFound())

		By("applying it, and clearing the plan")
		s.Update(ctx, "web", applied)
		Expect(s.AwaitReady(ctx, "web").Status.AtProvider.Plan).To(BeNil())
		s.Remove(ctx, "web")
	})

	It("of a change lists fields and pruned objects, repairs no drift, and sends no requests while nothing changes", func(ctx SpecContext) {
		s.Install(ctx, s.Manifest("plain", s.InstallOf("all", s.Inline("one", "k: a", "two", "k: a", "three", "k: a"), nil)))
		s.Update(ctx, "plain", func(m *v1alpha1.Manifest) {
			planOnly(m)
			SetSource(s.Inline("one", "k: hidden-value", "two", "k: a", "four", "k: a"))(m)
		})
		object := func(name string) string { return "ConfigMap " + s.Name + "/" + name }
		Eventually(s.Get).WithContext(ctx).WithArguments("plain").Should(havePlan(1, 1, 1, ConsistOf(
			objectPlanned("Change", object("one"), "data.k"), objectPlanned("Create", object("four")), objectPlanned("Prune", object("three")))))

		By("including drift as a change")
		Edit(ctx, s.MustConfigMap(ctx, "two"), `{"data":{"k":"edited"}}`)
		m := awaitPlan(ctx, s, "plain", havePlan(1, 2, 1, ContainElement(objectPlanned("Change", object("two"), "data.k"))))
		Expect(s.MustConfigMap(ctx, "two")).To(HaveData("k", "edited"))
		Expect(m).To(NotReady("plan only, nothing is applied: 1 to create, 2 to change, 1 to prune"))
		m.Spec, m.ManagedFields, m.Annotations = v1alpha1.ManifestSpec{}, nil, nil
		ExpectNowhere(ctx, s, m, "hidden-value")

		By("sending no requests while nothing changes")
		AwaitIdle(ctx)
		before, version := Must(Env.Provider.Scrape(ctx)), Must(s.Get(ctx, "plain")).ResourceVersion
		Consistently(func(g Gomega) {
			now, err := Env.Provider.Scrape(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now.RequestsSince(before, TargetRequests)).To(BeWatchesOnly())
			// Other spaces may still be in deletion, so the spec does not count all writes.
			g.Expect(s.Get(ctx, "plain")).To(HaveField("ResourceVersion", version))
		}).WithTimeout(8 * time.Second).WithPolling(time.Second).Should(Succeed())

		By("applying it")
		s.Update(ctx, "plain", applied)
		s.AwaitReady(ctx, "plain")
		Expect(s.MustConfigMap(ctx, "one")).To(HaveData("k", "hidden-value"))
		Expect(s.MustConfigMap(ctx, "two")).To(HaveData("k", "a"))
		Expect(Gone(s.ConfigMap)(ctx, "three")).To(BeTrue())
	})

	It("reports existing objects, and objects that the API server rejects", func(ctx SpecContext) {
		foreign := &corev1.ConfigMap{}
		foreign.Namespace, foreign.Name = s.Name, "taken"
		Expect(Env.TargetClient.Create(ctx, foreign)).To(Succeed())
		m := s.Manifest("plain", s.InstallOf("all", v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: `
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
		s.Create(ctx, m)
		awaitPlan(ctx, s, "plain", SatisfyAll(
			havePlan(1, 0, 0, ConsistOf(objectPlanned("Create", "ConfigMap "+s.Name+"/fine"))),
			HaveField("Status.AtProvider.Plan.Problems", BeEquivalentTo(2)),
			NotReady("ConfigMap "+s.Name+"/taken: already exists and does not belong to this module", "Service "+s.Name+"/wrong", "spec.ports[0].port")))
		Eventually(Events).WithContext(ctx).WithArguments(s, "plain").Should(ContainElement(HavePrefix("Warning Planned problems:")))

		By("adopting existing objects")
		s.Update(ctx, "plain", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt })
		awaitPlan(ctx, s, "plain", havePlan(1, 1, 0, ContainElement(objectPlanned("Change", "ConfigMap "+s.Name+"/taken", "metadata.labels"))))
		Expect(Must(s.ConfigMap(ctx, "taken")).Labels).To(BeEmpty())
		s.Remove(ctx, "plain")
		Expect(Must(s.ConfigMap(ctx, "taken")).DeletionTimestamp).To(BeNil())
	})

	It("does not wait for the CRDs of its own custom resources", func(ctx SpecContext) {
		m := s.Module(ctx, "module")
		planOnly(m)
		s.Create(ctx, m)
		awaitPlan(ctx, s, "module", HaveField("Status.AtProvider.Plan.Objects", ContainElements(
			HaveField("Kind", "CustomResourceDefinition"), HaveField("Kind", "Widget"))))
		s.Remove(ctx, "module")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("by kymactl restores the Manifest, unless it is told to apply the plan", func(ctx SpecContext) {
		p := NewPerson(s)
		next := s.Manifest("plain", s.InstallOf("all", s.Inline("one", "k: a"), nil))
		next.SetGroupVersionKind(v1alpha1.ManifestGroupVersionKind)
		file := func(m *v1alpha1.Manifest) string { return p.Input("plan.yaml", Must(yaml.Marshal(m))) }
		Expect(p.Ok(ctx, "plan", "-f", file(next))).To(SatisfyAll(
			ContainSubstring("+ create ConfigMap "+s.Name+"/one\n"), ContainSubstring("1 to create, 0 to change, 0 to prune. Nothing was applied.")))
		s.AwaitGone(ctx, "plain")
		Expect(p.Ok(ctx, "plan", "-f", file(next), "--apply")).To(ContainSubstring("The provider is applying it."))
		before := s.AwaitReady(ctx, "plain")

		By("planning a change of an existing Manifest")
		next.Spec.ForProvider.Installs[0].Source = s.Inline("one", "k: b")
		p.Fails(ctx, exitChanges, []string{"1 to change"}, "plan", "-f", file(next), "--exit-code")
		m := s.AwaitReady(ctx, "plain")
		Expect(m.Spec).To(Equal(before.Spec))
		Expect(s.MustConfigMap(ctx, "one")).To(HaveData("k", "a"))
		var r shown
		Expect(json.Unmarshal([]byte(p.Ok(ctx, "plan", "manifest/plain", "-o", "json")), &r)).To(Succeed())
		Expect(r).To(Equal(shown{Result: "planned"}))
		p.Ok(ctx, "plan", "-f", file(next), "--apply")
		awaitMessageOf(ctx, s, "one", "k", "b")
	})

	It("of a Kyma contains those of its modules, and can be discarded", func(ctx SpecContext) {
		p := NewPerson(s)
		o := NewOffer(s, "web")
		o.Release(ctx, "regular", "1.0.0")
		k := s.Kyma("kyma")
		s.Create(ctx, k)
		s.AwaitKyma(ctx, "kyma")
		k.Spec.ForProvider.Modules = []v1alpha1.Module{{Name: o.Name}}
		k.SetGroupVersionKind(v1alpha1.KymaGroupVersionKind)
		k.ManagedFields, k.ResourceVersion = nil, ""
		out := p.Ok(ctx, "plan", "-f", p.Input("kyma.yaml", Must(yaml.Marshal(k))))
		Expect(out).To(SatisfyAll(ContainSubstring("Manifest kyma-"+o.Name), ContainSubstring("+ create ")))
		Eventually(func(ctx SpecContext) ([]v1alpha1.Manifest, error) { return s.ListManifests(ctx) }).WithContext(ctx).Should(BeEmpty())
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
		Expect(Must(s.GetKyma(ctx, "kyma")).Spec.ForProvider.Mode).To(Equal(v1alpha1.ModeApply))

		By("planning another version of an installed module, and discarding the plan")
		o.Release(ctx, "fast", "2.0.0")
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules = []v1alpha1.Module{o.Module()} })
		s.AwaitKyma(ctx, "kyma")
		was := s.MustConfigMap(ctx, o.Name)
		k.Spec.ForProvider.Modules[0].Channel = "fast"
		file := p.Input("kyma.yaml", Must(yaml.Marshal(k)))
		p.Fails(ctx, exitChanges, []string{"1 to change"}, "plan", "-f", file, "--exit-code")
		Eventually(s.Get).WithContext(ctx).WithArguments("kyma-" + o.Name).Should(SatisfyAll(
			HaveField("Spec.ForProvider.Version", "1.0.0"), HaveField("Spec.ForProvider.Mode", v1alpha1.ModeApply)))
		s.AwaitKyma(ctx, "kyma")
		Expect(s.MustConfigMap(ctx, o.Name).ResourceVersion).To(Equal(was.ResourceVersion))
		Expect(p.Ok(ctx, "plan", "-f", file, "--apply")).To(ContainSubstring("~ change ConfigMap " + s.Name + "/" + o.Name))
		Eventually(s.ConfigMap).WithContext(ctx).WithArguments(o.Name).Should(HaveData("version", "2.0.0"))
	})
})

// awaitPlan waits until a Manifest matches, and returns it.
func awaitPlan(ctx SpecContext, s *Space, name string, is types.GomegaMatcher) *v1alpha1.Manifest {
	GinkgoHelper()
	Eventually(s.Get).WithContext(ctx).WithArguments(name).Should(is, func() string { return "plan of " + name })
	return Must(s.Get(ctx, name))
}

// awaitMessageOf waits until a ConfigMap in the target has a value for a key.
func awaitMessageOf(ctx SpecContext, s *Space, name, key, value string) {
	GinkgoHelper()
	Eventually(s.ConfigMap).WithContext(ctx).WithArguments(name).Should(HaveData(key, value))
}
