// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

const (
	// replaced is the time limit within which other replicas must take the shards of a dead one. It takes at most 15 s on an idle machine.
	replaced = 45 * time.Second
	// shards is the number of shards, and configs the number of ProviderConfigs and of Manifests, one for each.
	shards, configs = 6, 12
	// rolledOut is the number of ConfigMaps of a Manifest after the rollout, and interrupted that of the one whose replica is killed.
	rolledOut, interrupted = 20, 400
	// sharding is a label of the Leases of replicas and shards. Its values are also parts of their names.
	sharding = "kyma.m.crossplane.io/sharding"
)

// A shardedPlane is a control plane whose ProviderConfigs several replicas divide, and the cluster of all of them.
type shardedPlane struct {
	*freshPlane

	target *freshPlane
}

// A shardReplica is a replica with the ID with which it is a member.
type shardReplica struct {
	*process.Process

	id      string
	metrics *Provider
}

func newShardedPlane(ctx context.Context) *shardedPlane {
	GinkgoHelper()
	s := &shardedPlane{freshPlane: newFreshPlane(ctx), target: newFreshPlane(ctx)}
	s.serve(ctx, "providerconfigs", "clusterproviderconfigs", "providerconfigusages", "moduletemplates", "modulereleasemetas", "rolloutpolicies", "kymas", "manifests")
	Expect(s.client.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "target"}, Data: map[string][]byte{KubeconfigKey: s.target.cluster.Kubeconfig()},
	})).To(Succeed())
	for i := range configs {
		c := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name(i)}}
		// Labels spread the configs evenly over the shards. Some have none, so that their shards depend on their names.
		if i >= 2 {
			c.Labels = map[string]string{v1alpha1.LabelShard: strconv.Itoa(i % shards)}
		}
		c.Spec.Credentials = v1alpha1.Credentials{Source: v1alpha1.CredentialsSourceSecret, CredentialSelectors: v1alpha1.CredentialSelectors{
			SecretRef: &v1alpha1.SecretKeySelector{Namespace: "default", Name: "target", Key: KubeconfigKey},
		}}
		Expect(s.client.Create(ctx, c)).To(Succeed())
	}
	return s
}

func name(i int) string { return fmt.Sprintf("c-%d", i) }

// replica starts a replica, and waits until it is a member.
func (s *shardedPlane) replica(ctx context.Context, name string, args ...string) *shardReplica {
	GinkgoHelper()
	before, err := s.members(ctx)
	Expect(err).NotTo(HaveOccurred())
	address, err := FreeAddress(ctx)
	Expect(err).NotTo(HaveOccurred())
	own := &freshPlane{cluster: s.cluster, client: s.client, dir: s.dir + "/" + name}
	p, err := own.start(ctx, s.cluster.KubeconfigFile(), append(args, "--shards="+strconv.Itoa(shards), "--metrics-bind-address="+address)...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(p.Stop)
	r := &shardReplica{Process: p, metrics: &Provider{Metrics: address}}
	Eventually(func() (string, error) {
		now, err := s.members(ctx)
		for _, id := range now {
			if !slices.Contains(before, id) {
				r.id = id
			}
		}
		return r.id, err
	}).WithContext(ctx).ShouldNot(BeEmpty())
	return r
}

func (s *shardedPlane) leases(ctx context.Context, role string) ([]coordinationv1.Lease, error) {
	l := &coordinationv1.LeaseList{}
	err := s.client.List(ctx, l, client.InNamespace("default"), client.MatchingLabels{sharding: role})
	return l.Items, err
}

// members returns the IDs of the replicas.
func (s *shardedPlane) members(ctx context.Context) ([]string, error) {
	l, err := s.leases(ctx, "member")
	out := make([]string, 0, len(l))
	for i := range l {
		out = append(out, l[i].Name)
	}
	return out, err
}

// loads returns the number of shards that each replica holds, by its ID.
func (s *shardedPlane) loads(ctx context.Context) (map[string]int, error) {
	l, err := s.leases(ctx, "shard")
	out := map[string]int{}
	for i := range l {
		if h := l[i].Spec.HolderIdentity; h != nil {
			out[*h]++
		}
	}
	return out, err
}

// holder returns the ID of the replica that holds the shard of a labelled config.
func (s *shardedPlane) holder(ctx context.Context, config int) string {
	GinkgoHelper()
	l := &coordinationv1.Lease{}
	Expect(s.client.Get(ctx, client.ObjectKey{Namespace: "default", Name: fmt.Sprintf("provider-kyma-shard-%d", config%shards)}, l)).To(Succeed())
	Expect(l.Spec.HolderIdentity).NotTo(BeNil())
	return *l.Spec.HolderIdentity
}

// installIn creates or updates the Manifest of a config.
func (s *shardedPlane) installIn(ctx context.Context, config int, text string, count int) {
	GinkgoHelper()
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name(config)}}
	Expect(client.IgnoreNotFound(s.client.Get(ctx, client.ObjectKeyFromObject(m), m))).To(Succeed())
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: name(config)}
	m.Spec.ForProvider.Installs = []v1alpha1.Install{{Name: m.Name, Namespace: "default", Source: configMaps(m.Name, text, count)}}
	write := func() error { return s.client.Update(ctx, m) }
	if m.ResourceVersion == "" {
		write = func() error { return s.client.Create(ctx, m) }
	}
	Expect(write()).To(Succeed())
}

// unready returns the names of the Manifests that are not Ready in their current generation.
func (s *shardedPlane) unready(ctx context.Context) ([]string, error) {
	l := &v1alpha1.ManifestList{}
	if err := s.client.List(ctx, l); err != nil {
		return nil, err
	}
	out := []string{}
	for i := range l.Items {
		c := l.Items[i].GetCondition(xpv2.TypeReady)
		if c.Status != corev1.ConditionTrue || c.ObservedGeneration != l.Items[i].Generation {
			out = append(out, l.Items[i].Name)
		}
	}
	return out, nil
}

// versions returns the resource versions of the objects of some Manifests in the target, and of their inventories.
func (s *shardedPlane) versions(ctx context.Context, manifests ...int) map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	objects, secrets := &corev1.ConfigMapList{}, &corev1.SecretList{}
	Expect(s.target.client.List(ctx, objects, client.InNamespace("default"))).To(Succeed())
	Expect(s.target.client.List(ctx, secrets, client.InNamespace("kyma-system"))).To(Succeed())
	for _, i := range manifests {
		for j := range objects.Items {
			if c := &objects.Items[j]; c.Labels[member] == name(i) {
				out[c.Name] = c.ResourceVersion
			}
		}
		for j := range secrets.Items {
			if c := &secrets.Items[j]; strings.HasSuffix(c.Name, "."+name(i)) {
				out[c.Name] = c.ResourceVersion
			}
		}
	}
	return out
}

// balance waits until some replicas hold all shards, and each of them the same number.
func (s *shardedPlane) balance(ctx context.Context, replicas ...*shardReplica) {
	GinkgoHelper()
	s.balanceWithin(ctx, Patience, replicas...)
}

func (s *shardedPlane) balanceWithin(ctx context.Context, limit time.Duration, replicas ...*shardReplica) {
	GinkgoHelper()
	want := map[string]int{}
	for _, r := range replicas {
		want[r.id] = shards / len(replicas)
	}
	Eventually(s.loads).WithContext(ctx).WithTimeout(limit).Should(Equal(want))
}

// awaitReady waits until all Manifests are Ready.
func (s *shardedPlane) awaitReady(ctx context.Context) {
	GinkgoHelper()
	Eventually(s.unready).WithContext(ctx).WithTimeout(Recovery).Should(BeEmpty())
}

// counted returns the sum of a metric of several replicas.
func counted(replicas []*shardReplica, metric, labels string) func(ctx context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		sum := 0.0
		for _, r := range replicas {
			m, err := r.metrics.Scrape(ctx)
			if err != nil {
				return 0, err
			}
			sum += m.Sum(metric, labels)
		}
		return sum, nil
	}
}

// writes returns the number of requests of a replica that change the target.
func (r *shardReplica) writes(ctx context.Context) float64 {
	GinkgoHelper()
	m, err := r.metrics.Scrape(ctx)
	Expect(err).NotTo(HaveOccurred())
	verbs := m.Requests(TargetRequests)
	return verbs["POST"] + verbs["PUT"] + verbs["PATCH"] + verbs["DELETE"]
}

var _ = Describe("Replicas that divide the ProviderConfigs", func() {
	It("have equal shares, and replace a replica that is killed during a rollout", func(ctx SpecContext) {
		s := newShardedPlane(ctx)
		all := []*shardReplica{s.replica(ctx, "first"), s.replica(ctx, "second"), s.replica(ctx, "third")}
		s.balance(ctx, all...)
		for i := range configs {
			s.installIn(ctx, i, "one", 2)
		}
		s.awaitReady(ctx)
		Eventually(counted(all, "provider_kyma_shards", "")).WithContext(ctx).Should(BeEquivalentTo(shards))
		Eventually(counted(all, "crossplane_managed_resource_exists", "Manifest")).WithContext(ctx).Should(BeEquivalentTo(configs))
		for _, r := range all {
			Expect(counted([]*shardReplica{r}, TargetRequests, `verb="PATCH"`)(ctx)).To(BeNumerically(">", 0), "each replica installs something")
		}

		By("killing a replica while it rolls out a change")
		var kept, changed []int
		for i := range configs {
			if i%shards < shards/2 {
				kept = append(kept, i)
				continue
			}
			changed = append(changed, i)
		}
		dead := all[slices.IndexFunc(all, func(r *shardReplica) bool { return r.id == s.holder(ctx, changed[0]) })]
		before := s.versions(ctx, kept...)
		Expect(before).To(HaveLen(3 * len(kept)))
		s.installIn(ctx, changed[0], "two", interrupted)
		for _, i := range changed[1:] {
			s.installIn(ctx, i, "two", rolledOut)
		}
		Eventually(s.target.texts).WithContext(ctx).WithPolling(5 * time.Millisecond).WithArguments(name(changed[0])).Should(HaveKey("two"))
		dead.Stop()
		begin := time.Now()
		Expect(Must(s.target.texts(ctx, name(changed[0])))["two"]).To(BeNumerically("<", interrupted), "the rollout was interrupted")

		By("taking its shards, and finishing the rollout")
		alive := slices.DeleteFunc(slices.Clone(all), func(r *shardReplica) bool { return r == dead })
		s.balanceWithin(ctx, replaced, alive...)
		GinkgoWriter.Printf("the shards of the dead replica moved after %s\n", time.Since(begin))
		s.awaitReady(ctx)
		GinkgoWriter.Printf("the rollout ended after %s\n", time.Since(begin))
		Expect(s.target.texts(ctx, name(changed[0]))).To(Equal(map[string]int{"two": interrupted}))
		for _, i := range changed[1:] {
			Expect(s.target.texts(ctx, name(i))).To(Equal(map[string]int{"two": rolledOut}))
		}
		Expect(s.versions(ctx, kept...)).To(Equal(before), "nothing else was written")
		Eventually(counted(alive, "crossplane_managed_resource_ready", "Manifest")).WithContext(ctx).Should(BeEquivalentTo(configs))

		By("moving shards to a new replica, and back when it ends, without any write")
		rest := slices.Concat(kept, changed)
		before = s.versions(ctx, rest...)
		fourth := s.replica(ctx, "fourth")
		s.balance(ctx, append(alive[:len(alive):len(alive)], fourth)...)
		s.end(ctx, fourth.Process)
		s.balanceWithin(ctx, replaced, alive...)
		s.awaitReady(ctx)
		Consistently(func() map[string]string { return s.versions(ctx, rest...) }).WithContext(ctx).Should(Equal(before))
		for _, r := range alive {
			Expect(r.Err()).NotTo(HaveOccurred())
		}
	})

	It("change nothing when one resumes that was suspended until others had its shards", func(ctx SpecContext) {
		s := newShardedPlane(ctx)
		first, second := s.replica(ctx, "first"), s.replica(ctx, "second")
		s.balance(ctx, first, second)
		for i := range configs {
			s.installIn(ctx, i, "one", 2)
		}
		s.awaitReady(ctx)
		var own []int
		for i := 2; i < configs; i++ {
			if s.holder(ctx, i) == first.id {
				own = append(own, i)
			}
		}
		Expect(len(own)).To(BeNumerically(">=", 2))
		kept, gone := own[0], own[1]

		By("suspending a replica during an upgrade")
		s.installIn(ctx, gone, "two", 300)
		Eventually(s.target.texts).WithContext(ctx).WithPolling(5 * time.Millisecond).WithArguments(name(gone)).Should(HaveKey("two"))
		first.Signal(syscall.SIGSTOP)
		begin := time.Now()
		s.balanceWithin(ctx, replaced, second)
		GinkgoWriter.Printf("the shards of the suspended replica moved after %s\n", time.Since(begin))

		By("upgrading one Manifest and deleting another one with the other replica")
		s.installIn(ctx, kept, "two", 3)
		Eventually(s.target.texts).WithContext(ctx).WithTimeout(Recovery).WithArguments(name(kept)).Should(Equal(map[string]int{"two": 3}))
		m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name(gone)}}
		Expect(s.client.Delete(ctx, m)).To(Succeed())
		Eventually(func() error { return s.client.Get(ctx, client.ObjectKeyFromObject(m), m) }).WithContext(ctx).WithTimeout(Recovery).Should(BeNotFound())
		s.awaitReady(ctx)
		var rest []int
		for i := range configs {
			if i != gone {
				rest = append(rest, i)
			}
		}
		before := s.versions(ctx, rest...)

		By("resuming the first replica, which changes nothing in the cluster, and becomes a member again")
		known := Must(s.members(ctx))
		first.Signal(syscall.SIGCONT)
		Eventually(s.members).WithContext(ctx).Should(HaveLen(2))
		for _, id := range Must(s.members(ctx)) {
			if !slices.Contains(known, id) {
				first.id = id
			}
		}
		writes := first.writes(ctx)
		s.balance(ctx, first, second)
		s.awaitReady(ctx)
		Consistently(func() map[string]string { return s.versions(ctx, rest...) }).WithContext(ctx).Should(Equal(before))
		Expect(s.target.texts(ctx, name(gone))).To(BeEmpty())
		Expect(s.target.inventories(ctx)).To(HaveLen(configs - 1))
		Expect(first.writes(ctx)).To(Equal(writes))
		Expect(first.Err()).NotTo(HaveOccurred())
		Expect(second.Err()).NotTo(HaveOccurred())
	})
})
