// SPDX-License-Identifier: Apache-2.0

package share

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAdmits(t *testing.T) {
	cases := map[string]struct {
		reason string
		load   load
		// pass is what is expected of the pass.
		pass expectation
		want admission
	}{
		"Free":           {reason: "Nothing is in use.", pass: quick, want: admitted},
		"FreeSlow":       {reason: "Nothing is in use.", pass: slow, want: admitted},
		"Share":          {reason: "A ProviderConfig can always use its share.", load: load{total: 15, ofConfig: 1}, pass: quick, want: admitted},
		"MoreThanShare":  {reason: "A ProviderConfig can use more than its share while half of the workers are free.", load: load{total: 7, ofConfig: 7}, pass: quick, want: admitted},
		"MoreThanHalf":   {reason: "A ProviderConfig cannot use more than its share if half of the workers are in use.", load: load{total: 8, ofConfig: 2}, pass: quick},
		"Quick":          {reason: "Slow passes do not count for others.", load: load{total: 8, slow: 8, slowOfNamespace: 8, contenders: 9}, pass: quick, want: admitted},
		"Namespace":      {reason: "The last quarter is for other namespaces.", load: load{total: 12, ofConfig: 1, ofNamespace: 12}, pass: quick},
		"SlowHalf":       {reason: "Slow passes use half of the workers.", load: load{total: 8, slow: 8}, pass: slow},
		"SlowQuarter":    {reason: "Slow passes of one namespace use a quarter.", load: load{total: 4, slow: 4, slowOfNamespace: 4}, pass: slow},
		"SlowRest":       {reason: "The rest of the workers for slow passes is for other namespaces.", load: load{total: 4, slow: 4}, pass: slow, want: admitted},
		"Contended":      {reason: "Namespaces that wait get equal parts.", load: load{total: 2, slow: 2, slowOfNamespace: 2, contenders: 3}, pass: slow},
		"ContendedPart":  {reason: "Each namespace that waits has a part.", load: load{total: 2, slow: 2, slowOfNamespace: 1, contenders: 3}, pass: slow, want: admitted},
		"ContendedFirst": {reason: "Each namespace that waits can use one worker.", load: load{total: 2, slow: 2, contenders: 100}, pass: slow, want: admitted},
		"First":          {reason: "The first pass of a namespace counts as slow.", load: load{total: 4, slow: 4}, want: admitted},
		"Newcomer":       {reason: "The first pass of a namespace does not wait for slow passes of others.", load: load{total: 8, slow: 8}, want: newcomer},
		"Newcomers":      {reason: "Newcomers use a quarter of the workers.", load: load{total: 12, slow: 8, newcomers: 4}},
		"NewcomerSecond": {reason: "A namespace has one newcomer at a time.", load: load{total: 9, slow: 8, ofNamespace: 1, newcomers: 1}},
		"NewcomerConfig": {reason: "The limit of a ProviderConfig applies to a newcomer.", load: load{total: 8, slow: 8, ofConfig: 2}},
		"All":            {reason: "All workers are in use.", load: load{total: 16}, pass: quick},
		"SlowNewcomers":  {reason: "Slow passes do not count newcomers.", load: load{total: 11, slow: 7, newcomers: 4}, pass: slow, want: admitted},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := limitsOf(16).admit(tc.load, tc.pass); got != tc.want {
				t.Errorf("\n%s\nadmit(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

func TestLimitsOf(t *testing.T) {
	cases := map[string]struct {
		reason  string
		workers int
		want    limits
	}{
		"One":     {reason: "Everything needs at least one worker.", workers: 1, want: limits{workers: 1, share: 1, half: 1, quarter: 1, most: 1, spare: 3, spareOfNamespace: 3}},
		"Two":     {reason: "Newcomers never use the last worker.", workers: 2, want: limits{workers: 2, share: 1, half: 1, quarter: 1, most: 1, spare: 6, spareOfNamespace: 5}},
		"Default": {reason: "These are the parts of the default.", workers: 10, want: limits{workers: 10, share: 1, half: 5, quarter: 2, most: 8, newcomers: 2, spare: 30, spareOfNamespace: 23}},
		"Many":    {reason: "These are the parts of many workers.", workers: 64, want: limits{workers: 64, share: 8, half: 32, quarter: 16, most: 48, newcomers: 16, spare: 192, spareOfNamespace: 144}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, limitsOf(tc.workers), cmp.AllowUnexported(limits{})); diff != "" {
				t.Errorf("\n%s\nlimitsOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPace(t *testing.T) {
	const ms = time.Millisecond
	type passed struct {
		config         string
		response, took time.Duration
	}
	several := func(n int, p passed) []passed { return slices.Repeat([]passed{p}, n) }
	cases := map[string]struct {
		reason string
		passes []passed
		// response is the response time of the cluster if it is known, and later is the time since the last pass.
		response, later time.Duration
		want            expectation
	}{
		"Unknown":     {reason: "Nothing is known."},
		"Connecting":  {reason: "A pass before the first response proves nothing.", passes: []passed{{"a", 0, ms}}},
		"Quick":       {reason: "The cluster and all passes are quick.", passes: several(3, passed{"a", ms, 5 * ms}), want: quick},
		"Responses":   {reason: "The cluster responds slowly, although the passes sent no requests.", passes: several(99, passed{"a", 600 * ms, ms}), want: slow},
		"Probed":      {reason: "Only the probe of a new connection has a response yet.", response: 600 * ms, want: slow},
		"ProbedQuick": {reason: "The probe of a new connection was quick.", response: 5 * ms, want: quick},
		"Lost":        {reason: "A pass took long, but the response time is not known any more.", passes: []passed{{"a", 0, 20_000 * ms}}, want: slow},
		"Passes":      {reason: "A pass took long for another reason, and passes that only wait don't change that.", passes: append([]passed{{"a", ms, 20_000 * ms}}, several(99, passed{"a", ms, ms})...), want: slow},
		"Once":        {reason: "A single long pass is forgotten.", passes: append([]passed{{"a", ms, 15_000 * ms}}, several(9, passed{"b", ms, ms})...), later: time.Minute, want: quick},
		"Always":      {reason: "A long pass is not forgotten while most passes of the namespace are slow.", passes: []passed{{"a", ms, 15_000 * ms}}, later: time.Hour, want: slow},
		"Neighbor":    {reason: "Other clusters of the namespace are quick.", passes: []passed{{"b", ms, 5 * ms}}, want: quick},
		"Neighbors":   {reason: "Most other passes of the namespace are slow.", passes: append([]passed{{"b", ms, 5 * ms}}, several(9, passed{"c", 600 * ms, ms})...), want: slow},
		"Few":         {reason: "Few passes of the namespace are slow.", passes: append(several(9, passed{"b", ms, ms}), several(2, passed{"c", 600 * ms, ms})...), want: quick},
		"Own":         {reason: "What is known about the ProviderConfig itself counts.", passes: append([]passed{{"a", ms, ms}}, several(9, passed{"b", 600 * ms, ms})...), want: quick},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, now := newPace(), time.Now()
			for _, passed := range tc.passes {
				p.record(place{namespace: "n", config: passed.config}, passed.response, passed.took, now)
			}
			if got := p.expect(place{namespace: "n", config: "a"}, tc.response, now.Add(tc.later)); got != tc.want {
				t.Errorf("\n%s\nexpect(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}
