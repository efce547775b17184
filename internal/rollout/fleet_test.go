// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A simKyma is a Kyma in a simulated fleet. A change of its version takes a while, in which it is not Ready.
type simKyma struct {
	uid     types.UID
	labels  map[string]string
	version string
	readyAt time.Time
	offline bool
	// passed is true if the Kyma was Ready in its version, and unready since when it is not Ready.
	passed  bool
	unready time.Time
	// saw contains each version that the Kyma has ever had.
	saw map[string]bool
}

// A simFleet is a fleet with one release, of which one version can be broken.
type simFleet struct {
	kymas   []*simKyma
	policy  *v1alpha1.RolloutPolicySpec
	release v1alpha1.Release
	status  *v1alpha1.ChannelRollout
	broken  string
	now     time.Time
}

const (
	simModule = "istio"
	// seeds is the number of random fleets of each test.
	seeds = uint64(25)
)

func newFleet(r *rand.Rand) *simFleet {
	f := &simFleet{now: noon, release: v1alpha1.Release{Version: "1.0.0"}}
	rings := []string{"canary", "early", "", ""}
	for i := range 1 + r.IntN(60) {
		f.kymas = append(f.kymas, &simKyma{
			uid: types.UID(fmt.Sprintf("%d-%d", r.Uint64(), i)), labels: map[string]string{"ring": rings[r.IntN(len(rings))]},
			version: "1.0.0", offline: r.IntN(8) == 0, saw: map[string]bool{"1.0.0": true},
		})
	}
	values := []intstr.IntOrString{
		intstr.FromInt32(1), intstr.FromInt32(3), intstr.FromString("10%"), intstr.FromString("50%"), intstr.FromString("100%"),
	}
	if r.IntN(4) > 0 {
		f.policy = ringPolicy(values[r.IntN(len(values))], values[r.IntN(3)], time.Duration(r.IntN(40))*time.Second)
		if r.IntN(2) == 0 {
			f.policy.OnFailure = v1alpha1.FailurePolicyRollback
		}
	}
	f.step()
	return f
}

func ringPolicy(batch, budget intstr.IntOrString, soak time.Duration) *v1alpha1.RolloutPolicySpec {
	p := rings()
	for i := range p.Waves {
		p.Waves[i].Batch, p.Waves[i].Soak = &batch, &metav1.Duration{Duration: soak}
	}
	p.FailureBudget, p.ProgressDeadline = &budget, &metav1.Duration{Duration: time.Minute}
	return p
}

// members returns the state of the fleet.
func (f *simFleet) members() []Member {
	var out []Member
	for i, k := range f.kymas {
		k.look(f)
		out = append(out, Member{
			Namespace: "n", Name: fmt.Sprintf("%03d", i), Wave: WavesOf(f.policy).Of(k.labels), Hash: hash(k.uid, simModule, f.release.Version),
			Installed: true, Updated: k.version == f.release.Version, Ready: !f.now.Before(k.readyAt) && k.version != f.broken, Offline: k.offline,
			Since: k.readyAt.Add(-7 * time.Second), Passed: k.passed, Unready: k.unready,
		})
	}
	return out
}

// look remembers whether the Kyma was Ready.
func (k *simKyma) look(f *simFleet) {
	switch ready := !f.now.Before(k.readyAt) && k.version != f.broken; {
	case ready:
		k.passed, k.unready = true, time.Time{}
	case k.unready.IsZero():
		k.unready = f.now
	}
}

// step computes the next state of the rollout, which is all that is kept, and lets each Kyma that can be reached act on it.
func (f *simFleet) step() {
	next, _ := Next(Input{
		Channel: "regular", Release: f.release, Status: f.status, Policy: f.policy, Spread: 5 * time.Minute, Members: f.members(), Now: f.now,
	})
	f.status = &next
	for _, k := range f.kymas {
		d := Decide(simModule, f.status, f.policy, Kyma{UID: k.uid, Labels: k.labels, Installed: k.version})
		if !k.offline && d.Version != k.version {
			k.version, k.readyAt, k.passed = d.Version, f.now.Add(7*time.Second), false
			k.saw[d.Version] = true
		}
	}
	f.now = f.now.Add(5 * time.Second)
}

// run steps until the rollout ends, and returns false if it does not.
func (f *simFleet) run(each func()) bool {
	for range 5000 {
		f.step()
		each()
		switch f.status.Phase {
		case v1alpha1.RolloutComplete, v1alpha1.RolloutFailed, v1alpha1.RolloutRolledBack:
			return true
		case v1alpha1.RolloutProgressing, v1alpha1.RolloutPaused, v1alpha1.RolloutRollingBack:
		}
	}
	return false
}

// unready returns the number of Kymas in a wave that can be reached and have the version of the release, but are not Ready, and the
// number of Kymas in the wave.
func (f *simFleet) unready(wave int) (unready, all int) {
	for _, m := range f.members() {
		if m.Wave != wave {
			continue
		}
		all++
		if m.Updated && !m.Ready && !m.Offline {
			unready++
		}
	}
	return unready, all
}

func (f *simFleet) budget(members int) int {
	if f.policy == nil {
		return share(nil, spreadBudget, members)
	}
	return share(f.policy.FailureBudget, policyBudget, members)
}

// TestOwnersChangeKymas checks that a rollout ends although at any time, an owner changes a Kyma, which is not Ready then.
func TestOwnersChangeKymas(t *testing.T) {
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 5))
		f := newFleet(r)
		f.release.Version = "2.0.0"
		done := f.run(func() {
			for range 2 {
				if k := f.kymas[r.IntN(len(f.kymas))]; !f.now.Before(k.readyAt) {
					k.readyAt = f.now.Add(7 * time.Second)
				}
			}
		})
		if !done || f.status.Phase != v1alpha1.RolloutComplete {
			t.Errorf("seed %d: %d Kymas, phase %s: %+v", seed, len(f.kymas), f.status.Phase, f.status)
		}
	}
}

// TestGoodVersion checks in random fleets that a good version reaches each Kyma that can be reached, that no more Kymas are exposed than
// the budget allows, and that a Kyma that has it keeps it.
func TestGoodVersion(t *testing.T) {
	for seed := range seeds {
		f := newFleet(rand.New(rand.NewPCG(seed, 1)))
		f.release.Version = "1.1.0"
		had := map[*simKyma]bool{}
		done := f.run(func() {
			for wave := range 3 {
				if n, all := f.unready(wave); n > f.budget(all) {
					t.Fatalf("seed %d: %d of %d Kymas in wave %d are exposed, the budget is %d", seed, n, all, wave, f.budget(all))
				}
			}
			for _, k := range f.kymas {
				if had[k] && k.version != "1.1.0" {
					t.Fatalf("seed %d: a Kyma lost the version", seed)
				}
				had[k] = k.version == "1.1.0"
			}
		})
		if !done || f.status.Phase != v1alpha1.RolloutComplete {
			t.Fatalf("seed %d: the rollout is not complete: %+v", seed, f.status)
		}
		for _, k := range f.kymas {
			if k.offline == (k.version == "1.1.0") {
				t.Fatalf("seed %d: a Kyma, offline %t, has version %s", seed, k.offline, k.version)
			}
			k.offline = false
		}
		f.step()
		for _, k := range f.kymas {
			if k.version != "1.1.0" {
				t.Fatalf("seed %d: a cluster that returned did not catch up", seed)
			}
		}
	}
}

// TestBrokenVersion checks in random fleets that no more Kymas than the budget ever have a version that never becomes Ready, that these go
// back if the policy says so, and that a version that fixes it reaches all.
func TestBrokenVersion(t *testing.T) {
	for seed := range seeds {
		f := newFleet(rand.New(rand.NewPCG(seed, 2)))
		reachable := 0
		for _, k := range f.kymas {
			if !k.offline {
				reachable++
			}
		}
		f.release.Version, f.broken = "1.1.0", "1.1.0"
		if done := f.run(func() {}); !done || reachable > 0 && !HasFailed(f.status.Phase) {
			t.Fatalf("seed %d: the rollout has not failed: %+v", seed, f.status)
		}
		saw, has := 0, 0
		for _, k := range f.kymas {
			if k.saw["1.1.0"] {
				saw++
			}
			if k.version == "1.1.0" {
				has++
			}
		}
		_, all := f.unready(int(f.status.Wave))
		if saw > f.budget(all) {
			t.Fatalf("seed %d: %d Kymas had the broken version, the budget is %d", seed, saw, f.budget(all))
		}
		if back := f.policy != nil && f.policy.OnFailure == v1alpha1.FailurePolicyRollback; back && has > 0 {
			t.Fatalf("seed %d: %d Kymas still have the broken version", seed, has)
		}
		f.release.Version = "1.2.0"
		if done := f.run(func() {}); !done || f.status.Phase != v1alpha1.RolloutComplete {
			t.Fatalf("seed %d: the next version is not complete: %+v", seed, f.status)
		}
		if reachable > 0 && f.status.Previous != "1.0.0" {
			t.Fatalf("seed %d: the version to return to is %s, which must be one that was complete", seed, f.status.Previous)
		}
	}
}

// TestLabelsChange checks that a rollout ends, and leaves no Kyma out, if labels change at any time.
func TestLabelsChange(t *testing.T) {
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		f := newFleet(r)
		f.release.Version = "1.1.0"
		rings, changes := []string{"canary", "early", ""}, 50
		done := f.run(func() {
			if changes--; changes > 0 {
				f.kymas[r.IntN(len(f.kymas))].labels["ring"] = rings[r.IntN(len(rings))]
			}
		})
		if !done || f.status.Phase != v1alpha1.RolloutComplete {
			t.Fatalf("seed %d: the rollout is not complete: %+v", seed, f.status)
		}
		f.step()
		for _, k := range f.kymas {
			if !k.offline && k.version != "1.1.0" {
				t.Fatalf("seed %d: a Kyma was left out", seed)
			}
		}
	}
}

// TestWavesChange checks that a change of the waves in mid-rollout, or of the whole policy, exposes no more Kymas than the budget allows.
func TestWavesChange(t *testing.T) {
	changes := map[string]func(f *simFleet){
		"Remove": func(f *simFleet) { f.policy.Waves = f.policy.Waves[1:] },
		"Insert": func(f *simFleet) {
			f.policy.Waves = append([]v1alpha1.RolloutWave{{Name: "new", Selector: metav1.SetAsLabelSelector(map[string]string{"ring": "new"})}}, f.policy.Waves...)
		},
		"Widen":    func(f *simFleet) { f.policy.Waves[0].Selector = &metav1.LabelSelector{} },
		"NoPolicy": func(f *simFleet) { f.policy = nil },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			f := newFleet(rand.New(rand.NewPCG(1, 5)))
			for i, k := range f.kymas {
				k.offline, k.labels["ring"] = false, []string{"canary", "early", ""}[i%3]
			}
			f.policy, f.release.Version = ringPolicy(intstr.FromInt32(1), intstr.FromInt32(1), 0), "1.1.0"
			for f.step(); f.status.Wave < 2; {
				f.step()
			}
			change(f)
			f.policy = f.policy.DeepCopy()
			for _, k := range f.kymas {
				if !Fits(f.status, f.policy) || !WavesOf(f.policy).Position(simModule, f.status.Version, Kyma{UID: k.uid, Labels: k.labels}).IsReached(f.status) {
					continue
				}
				t.Fatalf("a Kyma is allowed by a state of other waves")
			}
			done := f.run(func() {
				for wave := range 4 {
					if n, all := f.unready(wave); n > f.budget(all) {
						t.Fatalf("%d of %d Kymas in wave %d are exposed, the budget is %d", n, all, wave, f.budget(all))
					}
				}
			})
			if !done || f.status.Phase != v1alpha1.RolloutComplete {
				t.Fatalf("the rollout is not complete: %+v", f.status)
			}
		})
	}
}

// TestSuperseded checks that Kymas go to the newest version directly if it replaces another one in mid-rollout.
func TestSuperseded(t *testing.T) {
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 4))
		f := newFleet(r)
		f.release.Version = "1.1.0"
		for range r.IntN(10) {
			f.step()
		}
		f.release.Version = "1.2.0"
		before := map[*simKyma]bool{}
		for _, k := range f.kymas {
			before[k] = k.saw["1.1.0"]
		}
		if done := f.run(func() {}); !done || f.status.Phase != v1alpha1.RolloutComplete {
			t.Fatalf("seed %d: the rollout is not complete: %+v", seed, f.status)
		}
		for _, k := range f.kymas {
			if k.saw["1.1.0"] != before[k] || !k.offline && k.version != "1.2.0" {
				t.Fatalf("seed %d: a Kyma has version %s, and had the replaced one: %t", seed, k.version, k.saw["1.1.0"])
			}
		}
	}
}
