// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Share is the part of a profile that belongs to one function.
type Share struct {
	Function string `json:"function"`
	// Value is a number of bytes or goroutines.
	Value float64 `json:"value"`
}

const (
	// module is the path of this repository.
	module = "github.com/crossplane-contrib/provider-kyma/"
	// mostShares is the maximum number of shares in a result.
	mostShares = 20
)

// HeapShares returns the live memory by function, of a heap profile as text, and its sum in bytes. Memory belongs to the innermost
// function outside of the standard library, except that of TLS and HTTP connections, which belongs to their packages.
func HeapShares(profile string) ([]Share, float64, error) {
	return shares(profile, inner, func(header string) (float64, error) {
		var objects, bytes float64
		if _, err := fmt.Sscanf(header, "%g: %g", &objects, &bytes); err != nil || objects == 0 {
			return 0, err //nolint:wrapcheck // The caller wraps it.
		}
		// The profile has a sample of the allocations; see the implementation of runtime/pprof.
		const rate = 512 << 10
		return bytes / (1 - math.Exp(-bytes/objects/rate)), nil
	})
}

// GoroutineShares returns the goroutines by the function that they run, of a profile as text, and their number.
func GoroutineShares(profile string) ([]Share, float64, error) {
	return shares(profile, outer, func(header string) (float64, error) {
		n, _, _ := strings.Cut(header, " ")
		return strconv.ParseFloat(n, 64) //nolint:wrapcheck // The caller wraps it.
	})
}

// shares returns the largest shares of a profile. A record of the profile is a line with values, an @ and addresses, and lines with #
// and a function each, from the innermost one on.
func shares(profile string, owner func(stack []string) string, value func(header string) (float64, error)) ([]Share, float64, error) {
	all, total := map[string]float64{}, 0.0
	lines := slices.DeleteFunc(strings.Split(profile, "\n"), func(l string) bool {
		return !strings.Contains(l, " @ 0x") && !strings.HasPrefix(l, "#\t")
	})
	for i, l := range lines {
		header, _, ok := strings.Cut(l, " @ 0x")
		if !ok {
			continue
		}
		n, err := value(header)
		if err != nil {
			return nil, 0, errors.Wrapf(err, "cannot read the line %q of a profile", l)
		}
		if n > 0 {
			all[owner(stackOf(lines[i+1:]))] += n
			total += n
		}
	}
	out := make([]Share, 0, len(all))
	for f, n := range all {
		out = append(out, Share{Function: f, Value: math.Round(n)})
	}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Function, b.Function))
	})
	return out[:min(len(out), mostShares)], total, nil
}

// stackOf returns the functions of a record, from the innermost one on.
func stackOf(lines []string) []string {
	var out []string
	for _, l := range lines {
		fields := strings.Fields(l)
		if !strings.HasPrefix(l, "#\t") || len(fields) < 3 {
			break
		}
		f, _, _ := strings.Cut(fields[2], "+0x")
		out = append(out, f)
	}
	return out
}

// inner returns the function that memory belongs to.
func inner(stack []string) string {
	for _, f := range stack {
		for _, p := range []string{"crypto/tls.", "net/http.", "golang.org/x/net/http2."} {
			if strings.HasPrefix(f, p) {
				return strings.TrimSuffix(p, ".")
			}
		}
		if first, _, _ := strings.Cut(f, "/"); strings.Contains(first, ".") && strings.Contains(f, "/") {
			return strings.TrimPrefix(f, module)
		}
	}
	if len(stack) == 0 {
		return "unknown"
	}
	return stack[len(stack)-1]
}

// outer returns the function that a goroutine runs.
func outer(stack []string) string {
	if len(stack) == 0 {
		return "unknown"
	}
	return strings.TrimPrefix(stack[len(stack)-1], module)
}
