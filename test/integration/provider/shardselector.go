// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// relabel sets the shard of a config.
func (s *shardedPlane) relabel(ctx context.Context, config int, shard string) {
	GinkgoHelper()
	c := &v1alpha1.ProviderConfig{}
	Expect(s.client.Get(ctx, client.ObjectKey{Namespace: "default", Name: name(config)}, c)).To(Succeed())
	before := c.DeepCopy()
	c.Labels = map[string]string{v1alpha1.LabelShard: shard}
	Expect(s.client.Patch(ctx, c, client.MergeFrom(before))).To(Succeed())
}

var _ = Describe("Replicas with selected shards", func() {
	It("hold no other shards, also when nothing else holds them", func(ctx SpecContext) {
		s := newShardedPlane(ctx)
		left, right := s.replica(ctx, "left", "--shard-selector=0-2"), s.replica(ctx, "right", "--shard-selector=3,4-5")
		s.balance(ctx, left, right)
		for i := range configs {
			s.installIn(ctx, i, "one", 2)
		}
		s.awaitReady(ctx)
		// Without a label, the shard of a config depends on its name.
		for i := 2; i < configs; i++ {
			want := left.id
			if i%shards > 2 {
				want = right.id
			}
			Expect(s.holder(ctx, i)).To(Equal(want), name(i))
		}
		for _, r := range []*shardReplica{left, right} {
			Expect(counted([]*shardReplica{r}, TargetRequests, `verb="PATCH"`)(ctx)).To(BeNumerically(">", 0), "each replica installs something")
		}

		By("replacing a replica by another one with the same selection")
		spare := s.replica(ctx, "spare", "--shard-selector=3-5")
		s.end(ctx, right.Process)
		s.balanceWithin(ctx, replaced, left, spare)
		s.awaitReady(ctx)

		By("ending the last replica that can hold some shards")
		const kept, stranded = 2, 3
		s.end(ctx, spare.Process)
		Eventually(s.members).WithContext(ctx).WithTimeout(replaced).Should(Equal([]string{left.id}))
		before := s.versions(ctx, stranded)
		s.installIn(ctx, stranded, "two", 3)
		s.installIn(ctx, kept, "two", 3)
		Eventually(s.target.texts).WithContext(ctx).WithTimeout(Recovery).WithArguments(name(kept)).Should(Equal(map[string]int{"two": 3}))
		Consistently(func() map[string]string { return s.versions(ctx, stranded) }).WithContext(ctx).Should(Equal(before))
		Expect(s.loads(ctx)).To(HaveKeyWithValue(left.id, shards/2))

		By("moving a config to a shard that a replica holds")
		s.relabel(ctx, stranded, "0")
		Eventually(s.target.texts).WithContext(ctx).WithTimeout(Recovery).WithArguments(name(stranded)).Should(Equal(map[string]int{"two": 3}))
		s.awaitReady(ctx)
		Expect(left.Err()).NotTo(HaveOccurred())
	})
})
