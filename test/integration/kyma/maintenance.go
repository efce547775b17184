// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"fmt"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("The upgrade of a module", func() {
	var (
		s *Space
		m *Offer
	)

	// setWindow returns an edit that sets a maintenance window of one minute.
	setWindow := func(schedule string) func(*v1alpha1.Kyma) {
		return func(k *v1alpha1.Kyma) {
			k.Spec.ForProvider.MaintenanceWindows = []v1alpha1.MaintenanceWindow{{
				Schedule: schedule, TimeZone: "Europe/Berlin", Duration: metav1.Duration{Duration: time.Minute},
			}}
		}
	}
	// closed returns a schedule that begins half a year from now.
	closed := func() string { return fmt.Sprintf("0 2 1 %d *", time.Now().AddDate(0, 0, 180).Month()) }

	BeforeEach(func(ctx SpecContext) {
		s = NewSpace(ctx)
		m = NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
	})

	It("waits for the maintenance window, or for a reason to upgrade now", func(ctx SpecContext) {
		k := s.Kyma("kyma", m.Module())
		setWindow(closed())(k)
		Expect(s.Enable(ctx, k)).To(HaveVersion(m.Name, "1.0.0", "regular"))

		m.Release(ctx, "regular", "1.1.0")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(m.Name, v1alpha1.StateReady,
			"upgrade to 1.1.0 waits for the maintenance window at ", " 02:00 Europe/Berlin"))
		waiting := s.AwaitKyma(ctx, "kyma")
		Expect(waiting.Status.AtProvider.Modules).To(ConsistOf(HaveField("PendingVersion", "1.1.0")))

		By("writing nothing while it waits")
		Consistently(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveField("ResourceVersion", waiting.ResourceVersion))
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.0"))

		By("upgrading for a reason")
		s.AnnotateKyma(ctx, "kyma", v1alpha1.AnnotationUpgradeNow, "CVE-2026-1")
		m.AwaitVersion(ctx, "1.1.0")
		Eventually(s.KymaEvents).WithContext(ctx).WithArguments("kyma").Should(ContainElement(BeEvent("Normal ModuleUpgraded", m.Name, "1.1.0", "CVE-2026-1")))
		Expect(s.AwaitKyma(ctx, "kyma").Status.AtProvider.Modules).To(ConsistOf(HaveField("PendingVersion", "")))
	})

	It("begins at once in an open window, and when a window is removed", func(ctx SpecContext) {
		k := s.Kyma("kyma", m.Module())
		setWindow("* * * * *")(k)
		s.Enable(ctx, k)
		m.Release(ctx, "regular", "1.1.0")
		m.AwaitVersion(ctx, "1.1.0")

		s.UpdateKyma(ctx, "kyma", setWindow(closed()))
		m.Release(ctx, "regular", "1.2.0")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(m.Name, v1alpha1.StateReady, "upgrade to 1.2.0 waits"))
		s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.MaintenanceWindows = nil })
		m.AwaitVersion(ctx, "1.2.0")
	})

	It("begins when a deferral ends", func(ctx SpecContext) {
		s.Enable(ctx, s.Kyma("kyma", m.Module()))
		deferUntil := func(t time.Time) {
			s.UpdateKyma(ctx, "kyma", func(k *v1alpha1.Kyma) { k.Spec.ForProvider.DeferUpgradesUntil = &metav1.Time{Time: t} })
		}
		later := time.Now().Add(time.Hour).Truncate(time.Second)
		deferUntil(later)
		m.Release(ctx, "regular", "1.1.0")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(m.Name, v1alpha1.StateReady,
			"upgrade to 1.1.0 is deferred until "+later.UTC().Format(time.RFC3339)))
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.0"))

		By("ending it in a few seconds")
		until := time.Now().Add(4 * time.Second).Truncate(time.Second)
		deferUntil(until)
		m.AwaitVersion(ctx, "1.1.0")
		Expect(time.Now()).To(BeTemporally(">=", until))
		Expect(time.Now()).To(BeTemporally("<", until.Add(30*time.Second)))
	})

	It("does not begin while a window is invalid, and the Kyma says what to correct", func(ctx SpecContext) {
		k := s.Kyma("kyma", m.Module())
		setWindow("0 2 31 2 *")(k)
		Expect(s.Enable(ctx, k).Status.GetCondition(v1alpha1.TypeStalled)).To(SatisfyAll(
			HaveField("Message", ContainSubstring("spec.forProvider.maintenanceWindows[0]: schedule")), HaveField("Reason", v1alpha1.ReasonBlocked)))
		m.Release(ctx, "regular", "1.1.0")
		Eventually(s.GetKyma).WithContext(ctx).WithArguments("kyma").Should(HaveModule(m.Name, v1alpha1.StateError, "upgrade to 1.1.0 waits", "maintenanceWindows[0]"))
		Expect(Must(m.Installed(ctx))).To(HaveData("version", "1.0.0"))

		s.UpdateKyma(ctx, "kyma", setWindow("* * * * *"))
		m.AwaitVersion(ctx, "1.1.0")
		Expect(s.AwaitKyma(ctx, "kyma").Status.GetCondition(v1alpha1.TypeStalled)).To(Equal(xpv2.Condition{Type: v1alpha1.TypeStalled, Status: "Unknown"}))
	})
})
