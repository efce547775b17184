// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// labelRing is the label by which the RolloutPolicy of a spec selects the clusters of its first wave.
const labelRing = "example.org/ring"

// catalogued adds a module to the catalogue that a ModuleReleaseMeta releases: version 1.0.0 in channel regular. A new version changes
// the clusters in the ring canary first, and the others after an hour.
func (s *space) catalogued(ctx context.Context, short string) *offer {
	GinkgoHelper()
	o := &offer{s: s, name: s.name + "-" + short}
	o.add(ctx, "1.0.0")
	policy := &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: o.name}}
	policy.Spec.Waves = []v1alpha1.RolloutWave{{
		Name: "canary", Selector: metav1.SetAsLabelSelector(map[string]string{labelRing: "canary"}), Soak: &metav1.Duration{Duration: time.Hour},
	}}
	s.create(ctx, policy)
	release := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: o.name}}
	release.Spec.ModuleName = o.name
	release.Spec.Channels = []v1alpha1.ChannelRelease{{Channel: "regular", Release: v1alpha1.Release{Version: "1.0.0", RolloutPolicy: o.name}}}
	s.create(ctx, release)
	DeferCleanup(func(ctx SpecContext) {
		Expect(env.controlClient.Delete(ctx, release)).To(Succeed())
		Expect(env.controlClient.Delete(ctx, policy)).To(Succeed())
	})
	return o
}

// add adds a version of the module to the catalogue.
func (o *offer) add(ctx context.Context, version string) {
	GinkgoHelper()
	must(env.registry.PushComponent(ctx, modulesRepository, o.component(version)))
	o.s.create(ctx, o.template(version, version))
}

// promote moves channel regular to a version.
func (o *offer) promote(ctx context.Context, version string) {
	GinkgoHelper()
	release := &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: o.name}}
	update(ctx, release, func(r *v1alpha1.ModuleReleaseMeta) { r.Spec.Channels[0].Version = version })
}

// haveModule matches a composite resource or a claim by the version of its only module.
func haveModule(version string) types.GomegaMatcher {
	return WithTransform(onlyModule, SatisfyAll(HaveKeyWithValue("version", version), Not(HaveKey("pendingVersion"))))
}

// haveWaiting matches a composite resource or a claim by the version of its only module, by the version that it waits for, and by its
// message.
func haveWaiting(version, pending, message string) types.GomegaMatcher {
	return WithTransform(onlyModule, SatisfyAll(
		HaveKeyWithValue("version", version), HaveKeyWithValue("pendingVersion", pending), HaveKeyWithValue("message", ContainSubstring(message))))
}

// onlyModule returns the module in the status of a composite resource or a claim, if there is exactly one.
func onlyModule(u *unstructured.Unstructured) map[string]any {
	modules, _, _ := unstructured.NestedSlice(u.Object, "status", "modules")
	if len(modules) != 1 {
		return nil
	}
	m, _ := modules[0].(map[string]any)
	return m
}

var _ = Describe("A new version in a channel", func() {
	var s *space
	var module *offer

	BeforeEach(func(ctx SpecContext) {
		s = newSpace(ctx)
		module = s.catalogued(ctx, "simple")
	})

	It("reaches a cluster in the wave that the labels of its composite resource select", func(ctx SpecContext) {
		first := s.composite(environmentKind, "environment", module)
		first.SetLabels(map[string]string{labelRing: "canary"})
		s.awaitComposite(ctx, first)
		Expect(must(s.composed(ctx)).Labels).To(HaveKeyWithValue(labelRing, "canary"))
		module.add(ctx, "1.1.0")
		module.promote(ctx, "1.1.0")
		Eventually(now(first)).WithContext(ctx).Should(SatisfyAll(haveModule("1.1.0"), beReadyComposite()))
	})

	It("waits for the maintenance window of the claim, which shows it", func(ctx SpecContext) {
		u := s.claim("environment", module)
		// Once a year, for a minute.
		set(u, []any{map[string]any{"schedule": "0 0 29 12 *", "duration": "1m"}}, "spec", "maintenanceWindows")
		u = s.awaitComposite(ctx, u)
		module.add(ctx, "1.1.0")
		module.promote(ctx, "1.1.0")
		Eventually(now(u)).WithContext(ctx).Should(SatisfyAll(haveWaiting("1.0.0", "1.1.0", "maintenance window"), beReadyComposite()))

		By("allowing the upgrade")
		annotate(ctx, u, v1alpha1.AnnotationUpgradeNow, "a security fix")
		Eventually(now(u)).WithContext(ctx).Should(SatisfyAll(haveModule("1.1.0"), beReadyComposite()))
		Expect(must(module.installed(ctx)).Data).To(HaveKeyWithValue("version", "1.1.0"))
	})
})
