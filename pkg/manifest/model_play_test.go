// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

var (
	modelSeeds = flag.Int("model.seeds", 0, "sequences; the default depends on the test")
	modelSeed  = flag.Uint64("model.seed", 1, "seed of the first sequence")
	modelFor   = flag.Duration("model.for", 0, "continue with new sequences for this long")
)

// runModel runs a sequence of operations of three bytes each. The error describes what differs from the model.
func runModel(t testing.TB, data []byte) (trace []string, err error) {
	t.Helper()
	return newModel(t).run(modelOps(), data)
}

// run performs operations of three bytes each.
func (m *model) run(all []modelOp, data []byte) (trace []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			trace, err = m.trace, errors.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	for op := range slices.Chunk(data, 3) {
		if len(op) < 3 {
			break
		}
		do := all[int(op[0])%len(all)]
		m.sayf("%s %d %d", do.name, op[1], op[2])
		if err := do.do(m, int(op[1]), int(op[2])); err != nil {
			return m.trace, errors.Wrap(err, do.name)
		}
		m.forget()
		// Not every call begins with a step of the model, which would note what was copied or lost its labels while there was no inventory.
		m.world.loseTrack(m)
		for range int(op[1]^op[2]) % 3 {
			if err := m.engine(); err != nil {
				return m.trace, errors.Wrap(err, "a step after "+do.name)
			}
		}
	}
	if err := m.checkpoint(); err != nil {
		return m.trace, errors.Wrap(err, "in the end")
	}
	if len(data)%2 == 0 {
		err = errors.Wrap(m.takeAway(), "in the end")
	}
	return m.trace, err
}

// modelBytes returns the sequence of a seed.
func modelBytes(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 6))
	out := make([]byte, 3*(5+r.IntN(40)))
	for i := range out {
		out[i] = byte(r.UintN(256))
	}
	return out
}

// shrunk returns a shorter sequence that fails as well.
func shrunk(t testing.TB, data []byte, run func(t testing.TB, data []byte) ([]string, error)) []byte {
	t.Helper()
	for size := len(data) / 6 * 3; size >= 3; size = size / 6 * 3 {
		for at := 0; at+size <= len(data); {
			shorter := slices.Delete(slices.Clone(data), at, at+size)
			if _, err := run(t, shorter); err != nil {
				data = shorter
				continue
			}
			at += size
		}
	}
	return data
}

// TestModel performs random operations on an install: changes of the desired state, changes by other clients, faults, restarts.
// In the end the cluster has what the model specifies, the inventory has exactly that, and nothing is left to do.
func TestModel(t *testing.T) {
	t.Parallel()
	begin, done := time.Now(), 0
	defer func() { t.Logf("%d sequences", done) }()
	// These two seeds find what the first ones do not: objects that are created before the inventory has them, and an install
	// that is added again while it is being removed.
	var seeds []uint64
	if *modelSeed == 1 {
		seeds = []uint64{34, 70}
	}
	count := 25
	if raceDetector {
		count = 5
	}
	for seed := *modelSeed; seed < *modelSeed+uint64(cmp.Or(*modelSeeds, count)); seed++ {
		seeds = append(seeds, seed)
	}
	for i := 0; i < len(seeds) || time.Since(begin) < *modelFor; i++ {
		seed := *modelSeed + uint64(i)
		if i < len(seeds) {
			seed = seeds[i]
		}
		if _, err := runModel(t, modelBytes(seed)); err == nil {
			done++
			continue
		}
		data := shrunk(t, modelBytes(seed), runModel)
		trace, err := runModel(t, data)
		t.Fatalf("seed %d, shrunk to %#v:\n%s\n%v\n\nall of it: go test ./pkg/manifest -run TestModel -model.seed=%d -model.seeds=1",
			seed, data, strings.Join(trace, "\n"), modelNothing.ReplaceAllString(fmt.Sprint(err), "$2"), seed)
	}
}

func FuzzModel(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(modelBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 30}, len(data))()
		if trace, err := runModel(t, data[:min(len(data), 3*60)]); err != nil {
			t.Errorf("%s\n%v", strings.Join(trace, "\n"), err)
		}
	})
}
