// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"math"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxCount bounds the number of items, or bytes, that one call of a function with a count may create.
const maxCount = 16 << 20

// countedFuncs returns the functions of sprig whose output size is an argument, with a limit. One wrong value would
// otherwise take all memory of the process.
func countedFuncs() template.FuncMap {
	f, out := sprig.TxtFuncMap(), template.FuncMap{}
	for name, fn := range f {
		switch fn := fn.(type) {
		case func(int) string: // randAlphaNum and the like
			out[name] = func(n int) (string, error) { return limited(n, 1, func() string { return fn(n) }) }
		case func(int) []int: // until
			out[name] = func(n int) ([]int, error) { return limited(n, 1, func() []int { return fn(n) }) }
		}
	}

	randBytes := f["randBytes"].(func(int) (string, error)) //nolint:forcetypeassert // A test calls it.
	out["randBytes"] = func(n int) (string, error) {
		if err := checkCount(float64(n)); err != nil {
			return "", err
		}
		return randBytes(n)
	}

	out["repeat"] = func(n int, s string) (string, error) {
		return limited(n, len(s), func() string { return strings.Repeat(s, max(n, 0)) })
	}
	for _, name := range []string{"indent", "nindent"} {
		fn := f[name].(func(int, string) string) //nolint:forcetypeassert // A test calls it.
		out[name] = func(n int, s string) (string, error) {
			return limited(n, strings.Count(s, "\n")+1, func() string { return fn(n, s) })
		}
	}

	untilStep := f["untilStep"].(func(int, int, int) []int) //nolint:forcetypeassert // A test calls it.
	out["untilStep"] = func(start, stop, step int) ([]int, error) {
		return limited(steps(start, stop, step), 1, func() []int { return untilStep(start, stop, step) })
	}
	seq := f["seq"].(func(...int) string) //nolint:forcetypeassert // A test calls it.
	out["seq"] = func(p ...int) (string, error) {
		return limited(seqSteps(p), 1, func() string { return seq(p...) })
	}
	return out
}

// limited calls fn, or fails if n times size exceeds the limit of one call.
func limited[T any](n, size int, fn func() T) (T, error) {
	if err := checkCount(float64(n) * float64(size)); err != nil {
		var none T
		return none, err
	}
	return fn(), nil
}

func checkCount(n float64) error {
	if math.Abs(n) > maxCount {
		return errors.Errorf("%.0f exceeds the maximum of %d", n, maxCount)
	}
	return nil
}

// steps returns how many steps of size step lead from start to stop, at most math.MaxInt32.
func steps(start, stop, step int) int {
	if step == 0 {
		step = 1
	}
	n := math.Abs((float64(stop) - float64(start)) / float64(step))
	return int(min(n, math.MaxInt32))
}

// seqSteps returns how many numbers sprig's seq prints for the arguments p: an end, a start and an end, or a start, a
// step and an end.
func seqSteps(p []int) int {
	switch len(p) {
	case 1:
		return steps(1, p[0], 1)
	case 2:
		return steps(p[0], p[1], 1)
	case 3:
		return steps(p[0], p[2], p[1])
	default:
		return 0
	}
}
