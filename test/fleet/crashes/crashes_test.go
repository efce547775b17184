// SPDX-License-Identifier: Apache-2.0

package crashes

import (
	"context"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

var (
	every = flag.Bool("crashes.every", false, "kill the provider before and after each write")
	most  = flag.Int("crashes.writes", 20, "the maximum number of writes between two crashes")
	seed  = flag.Uint64("crashes.seed", 1, "the seed of the numbers of writes between crashes")
)

const (
	// limit is the timeout of a rollout without crashes, and of a life of the provider in which it writes nothing.
	limit = 2 * time.Minute
	poll  = 200 * time.Millisecond
	// mostLives limits the number of crashes in a rollout.
	mostLives = 2000
	// broken is how long a version that does not become Ready is tried.
	broken = 5 * time.Second
)

// start starts the provider, and does not wait until it is ready. It uses no leader election, because a process that is killed keeps its
// lease for a while.
func start(t *testing.T) *process.Process {
	t.Helper()
	env := []string{"HOME=" + dir, "KUBECONFIG=" + filepath.Join(dir, "kubeconfig")}
	args := append([]string{
		"--no-leader-election", "--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-addr=127.0.0.1:0",
		"--cache-dir=" + filepath.Join(dir, "cache"),
	}, controlplane.LocalFlags()...)
	p, err := process.Start(dir, "provider", binary, env, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// crashes returns the crash of each life of the provider.
func crashes() func() crash {
	r, n := rand.New(rand.NewPCG(*seed, 0)), 0
	return func() crash {
		n++
		if *every {
			return crash{after: n%2 == 0}
		}
		return crash{writes: r.IntN(*most + 1), after: r.IntN(2) == 0}
	}
}

// survive starts the provider again and again until the fleet is in a state, while each process is killed at a write.
func survive(t *testing.T, s state) {
	t.Helper()
	next := crashes()
	passed, crashed := entrance.counts()
	defer entrance.plan(nil, crash{})
	for range mostLives {
		p := start(t)
		entrance.plan(p, next())
		if live(t, p, s) {
			p.Stop()
			writes, n := entrance.counts()
			t.Logf("%d writes, %d crashes", writes-passed, n-crashed)
			if n == crashed {
				t.Error("the provider was not killed")
			}
			return
		}
	}
	t.Fatalf("after %d crashes, %s", mostLives, s.differs(t.Context()))
}

// live waits until the process was killed, and returns true if the fleet reached a state before.
func live(t *testing.T, p *process.Process, s state) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	differs := "unknown"
	for {
		select {
		case <-p.Done():
			if err := p.Err(); err != nil || !entrance.killed() {
				t.Fatalf("the provider ended without being killed: %v", err)
			}
			return false
		case <-ctx.Done():
			t.Fatalf("the provider wrote nothing for %s, but %s\n%s", limit, differs, p.Tail())
		case <-time.After(poll):
			if differs = s.differs(ctx); differs == "" {
				return true
			}
		}
	}
}

// TestRollouts rolls out a version that works, and then one that never becomes Ready.
func TestRollouts(t *testing.T) {
	prepare(t, "1.0.0")

	h := record(t)
	if err := offer(t.Context(), "1.1.0", false); err != nil {
		t.Fatal(err)
	}
	promote(t, "1.1.0", time.Hour)
	survive(t, state{version: "1.1.0", has: "1.1.0", phase: v1alpha1.RolloutComplete})
	if diff := cmp.Diff(only(clusters, "1.0.0", "1.1.0"), h.end(t)); diff != "" {
		t.Errorf("each Manifest changes once: -want, +got:\n%s", diff)
	}
	checkClusters(t, "1.1.0")

	h = record(t)
	if err := offer(t.Context(), "1.2.0", true); err != nil {
		t.Fatal(err)
	}
	promote(t, "1.2.0", broken)
	survive(t, state{version: "1.2.0", has: "1.1.0", phase: v1alpha1.RolloutRolledBack})
	got := h.end(t)
	want := only(budget, "1.1.0", "1.2.0", "1.1.0")
	want["[1.1.0]"] = clusters - budget
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("as many Manifests as the budget allows have had the version, once: -want, +got:\n%s", diff)
	}
	checkClusters(t, "1.1.0")
}
