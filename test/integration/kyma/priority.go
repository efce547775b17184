// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// fleet is the number of Kymas that get a new version at the same time, users the number of those that are edited meanwhile. A
// Kyma has a random place in the queue of the fleet, so it is unlikely that all edited ones have an early one by chance.
const (
	fleet = 40
	users = 6
)

var _ = Describe("A new version for many Kymas", func() {
	It("does not delay changes by users", func(ctx SpecContext) {
		s := NewSpace(ctx)
		m := NewOffer(s, "mod")
		m.Release(ctx, "regular", "1.0.0")
		Push(ctx, m.Component("1.1.0"))
		for i := range fleet {
			// The Kymas share a cluster, so they only plan: a plan is a pass of the same kind, and takes as long.
			k := s.Kyma(fmt.Sprintf("kyma-%d", i), m.Module())
			k.Spec.ForProvider.Mode = v1alpha1.ModePlan
			s.Create(ctx, k)
		}
		planned := func(version string) func(ctx SpecContext) (int, error) {
			return func(ctx SpecContext) (int, error) {
				all, err := s.ListManifests(ctx)
				all = slices.DeleteFunc(all, func(m v1alpha1.Manifest) bool {
					p := m.Status.AtProvider.Plan
					return p == nil || p.ObservedGeneration != m.Generation || m.Spec.ForProvider.Version != version
				})
				return len(all), err
			}
		}
		Eventually(planned("1.0.0")).WithContext(ctx).Should(Equal(fleet))
		// With one worker, reconciles run in the order of the queue.
		WithProvider(ctx, func(p *Provider) { p.Args = append(slices.Clone(p.Args), "--max-reconcile-rate=1") })

		m.Release(ctx, "regular", "1.1.0")
		upgraded := func() ([]string, error) {
			all, err := s.ListManifests(ctx)
			all = slices.DeleteFunc(all, func(m v1alpha1.Manifest) bool { return m.Spec.ForProvider.Version != "1.1.0" })
			names := make([]string, 0, len(all))
			for i := range all {
				names = append(names, all[i].Name)
			}
			return names, err
		}
		Eventually(upgraded).WithContext(ctx).WithPolling(10 * time.Millisecond).ShouldNot(BeEmpty())
		begun := Must(upgraded())
		// Edit Kymas that the rollout has not reached yet. Record how many Manifests were already planned when each of them was
		// edited, because the rollout continues in the meantime.
		edited := map[string]int{}
		for i := range fleet {
			if name := m.Manifest(fmt.Sprintf("kyma-%d", i)); len(edited) < users && !slices.Contains(begun, name) {
				module := m.Module()
				module.Values = Raw(Values{"message": "edited"})
				s.UpdateKyma(ctx, fmt.Sprintf("kyma-%d", i), SetModules(module))
				edited[name] = Must(planned("1.1.0")(ctx))
			}
		}
		Expect(edited).To(HaveLen(users), "the rollout was over before the edits")

		Eventually(planned("1.1.0")).WithContext(ctx).Should(Equal(fleet))
		// The last write of each Manifest is its plan: nothing is written at rest.
		all := Must(s.ListManifests(ctx))
		Expect(all).To(HaveLen(fleet))
		slices.SortFunc(all, func(a, b v1alpha1.Manifest) int {
			return cmp.Compare(Must(strconv.ParseUint(a.ResourceVersion, 10, 64)), Must(strconv.ParseUint(b.ResourceVersion, 10, 64)))
		})
		var places, before []int
		var waited float64
		for i := range all {
			if done, ok := edited[all[i].Name]; ok {
				places, before = append(places, i+1), append(before, done)
				waited += float64(max(i-done, 0)) / float64(max(fleet-done, 1))
			}
		}
		AddReportEntry("places", fmt.Sprintf("%v of %d, edited when %v were planned", places, fleet, before))
		// At the end of the queue, the edited Kymas would wait for almost the whole rest of the fleet.
		Expect(waited/users).To(BeNumerically("<", 0.5), "the edits waited for the fleet: %v of %d, edited when %v were planned", places, fleet, before)
	})
})
