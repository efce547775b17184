// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/cached"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

// fixed are objects that do not change.
type fixed[T client.Object] struct{ objects cached.Objects[T] }

func (f fixed[T]) Objects(context.Context) (cached.Objects[T], error) { return f.objects, nil }

func newFixed[T client.Object](tb testing.TB, all []T) fixed[T] {
	tb.Helper()
	i := newIndexer()
	for _, o := range all {
		if err := i.Add(o); err != nil {
			tb.Fatal(err)
		}
	}
	return fixed[T]{cached.NewObjects[T](i)}
}

// newPass returns a function that decides about a rollout to a number of Kymas, each with a cluster of its own. A third of those of the first wave have
// the version, a third had their turn, and a third wait. Every fifth Kyma is in another wave.
func newPass(tb testing.TB, n int) func() error {
	tb.Helper()
	policy := newPolicy()
	m := newRelease("2.0.0", "regular")
	t := target{channel: "regular", release: m.Spec.Channels[0].Release, policy: &policy.Spec}
	var kymas []*v1alpha1.Kyma
	var configs []*v1alpha1.ProviderConfig
	for i := range n {
		k := newKyma(fmt.Sprintf("k%05d", i), "regular")
		if i%5 > 0 {
			canary(k)
		}
		k.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
		c := newConfig()
		c.Name = k.Name
		k.Spec.ProviderConfigReference.Name = c.Name
		kymas, configs = append(kymas, k), append(configs, c)
	}
	begun := v1alpha1.ChannelRollout{
		Channel: "regular", Version: "2.0.0", Phase: v1alpha1.RolloutProgressing, Threshold: rollout.All / 3 * 2, WavesDigest: rollout.DigestOf(t.policy),
	}
	for i, k := range kymas {
		if i%2 == 0 && rollout.WavesOf(t.policy).Position(istio, "2.0.0", rollout.Kyma{UID: k.UID, Labels: k.Labels}).IsReached(&begun) {
			k.Status.AtProvider.Modules[0].Version = "2.0.0"
		}
	}
	r := &reconciler{now: func() time.Time { return noon }, fleet: fleet{
		kymas: newFixed(tb, kymas), configs: newFixed(tb, configs), clusterConfigs: newFixed[*v1alpha1.ClusterProviderConfig](tb, nil),
	}}
	return func() error {
		next, _, err := r.next(tb.Context(), m, t, &begun)
		if err != nil || int(next.Total) != n || next.Updated == 0 || next.Phase != v1alpha1.RolloutProgressing {
			return errors.Errorf("want that the rollout to %d Kymas is in progress, got %+v, %v", n, next, err)
		}
		return nil
	}
}

// TestPassAllocates checks that a pass allocates little for each Kyma, because it considers the whole fleet, about each second: what it
// copies from the cache would soon be most of the garbage of the process.
func TestPassAllocates(t *testing.T) {
	const few, many = 300, 1300
	count := func(n int) (allocations float64, bytes uint64) {
		pass := newPass(t, n)
		if err := pass(); err != nil {
			t.Fatal(err)
		}
		result := testing.Benchmark(func(b *testing.B) {
			b.Helper()
			b.ReportAllocs()
			for range b.N {
				_ = pass() // It succeeded above.
			}
		})
		return float64(result.AllocsPerOp()), uint64(result.AllocedBytesPerOp())
	}
	a, x := count(few)
	b, y := count(many)
	if per := (b - a) / (many - few); per > 1.5 {
		t.Errorf("want one allocation for each Kyma, its key, got %.1f", per)
	}
	if per := (y - x) / (many - few); per > 512 {
		t.Errorf("want at most 512 bytes for each Kyma, got %d", per)
	}
}

func BenchmarkPass(b *testing.B) {
	pass := newPass(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if err := pass(); err != nil {
			b.Fatal(err)
		}
	}
}
