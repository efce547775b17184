// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// fleet is how many Kymas get a new version at the same time, and users is how many of them are edited meanwhile. A Kyma has
// a place of its own in the queue of the fleet, at random: that all of several have an early one by chance is unlikely.
const (
	fleet = 40
	users = 6
)

var _ = Describe("A new version for a fleet", func() {
	It("does not keep the edits of users waiting", func(ctx SpecContext) {
		s := newSpace(ctx)
		m := s.offer("mod")
		m.release(ctx, "regular", "1.0.0")
		push(ctx, m.component("1.1.0"))
		for i := range fleet {
			// They share a cluster, so that they only plan: a plan is a pass of the same kind, and takes as long.
			k := s.kyma(fmt.Sprintf("kyma-%d", i), m.module())
			k.Spec.ForProvider.Mode = v1alpha1.ModePlan
			s.create(ctx, k)
		}
		planned := func(version string) func(ctx SpecContext) (int, error) {
			return func(ctx SpecContext) (int, error) {
				all, err := s.listManifests(ctx)
				all = slices.DeleteFunc(all, func(m v1alpha1.Manifest) bool {
					p := m.Status.AtProvider.Plan
					return p == nil || p.ObservedGeneration != m.Generation || m.Spec.ForProvider.Version != version
				})
				return len(all), err
			}
		}
		Eventually(planned("1.0.0")).WithContext(ctx).Should(Equal(fleet))
		// With one worker what is queued is done in the order of the queue.
		withProvider(ctx, func(p *provider) { p.args = append(slices.Clone(p.args), "--max-reconcile-rate=1") })

		m.release(ctx, "regular", "1.1.0")
		upgraded := func() ([]string, error) {
			all, err := s.listManifests(ctx)
			all = slices.DeleteFunc(all, func(m v1alpha1.Manifest) bool { return m.Spec.ForProvider.Version != "1.1.0" })
			names := make([]string, 0, len(all))
			for i := range all {
				names = append(names, all[i].Name)
			}
			return names, err
		}
		Eventually(upgraded).WithContext(ctx).WithPolling(10 * time.Millisecond).ShouldNot(BeEmpty())
		begun := must(upgraded())
		// Those that are edited are some that the rollout has not come to.
		var edited []string
		for i := range fleet {
			if name := m.manifest(fmt.Sprintf("kyma-%d", i)); len(edited) < users && !slices.Contains(begun, name) {
				module := m.module()
				module.Values = raw(values{"message": "edited"})
				s.updateKyma(ctx, fmt.Sprintf("kyma-%d", i), setModules(module))
				edited = append(edited, name)
			}
		}
		Expect(edited).To(HaveLen(users), "the rollout was over before the edits")

		Eventually(planned("1.1.0")).WithContext(ctx).Should(Equal(fleet))
		// The last write of each Manifest is that of its plan: nothing is written at rest.
		all := must(s.listManifests(ctx))
		Expect(all).To(HaveLen(fleet))
		slices.SortFunc(all, func(a, b v1alpha1.Manifest) int {
			return cmp.Compare(must(strconv.ParseUint(a.ResourceVersion, 10, 64)), must(strconv.ParseUint(b.ResourceVersion, 10, 64)))
		})
		var places []int
		for i := range all {
			if slices.Contains(edited, all[i].Name) {
				places = append(places, i+1)
			}
		}
		AddReportEntry("places", fmt.Sprintf("%v of %d, edited when %d were changed", places, fleet, len(begun)))
		Expect(slices.Max(places)).To(BeNumerically("<", len(begun)+(fleet-len(begun))/2), "the edits waited for the fleet: %v of %d", places, fleet)
	})
})
