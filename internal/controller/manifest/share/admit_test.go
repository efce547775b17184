// SPDX-License-Identifier: Apache-2.0

package share

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAdmits(t *testing.T) {
	cases := map[string]struct {
		reason string
		load   load
		slow   bool
		want   bool
	}{
		"Free":           {reason: "Nothing is in use.", want: true},
		"FreeSlow":       {reason: "Nothing is in use.", slow: true, want: true},
		"Share":          {reason: "A ProviderConfig can always use its share.", load: load{total: 15, ofConfig: 1}, want: true},
		"MoreThanShare":  {reason: "It can use more while half of the workers are free.", load: load{total: 7, ofConfig: 7}, want: true},
		"MoreThanHalf":   {reason: "It cannot use more if they are not.", load: load{total: 8, ofConfig: 2}},
		"Quick":          {reason: "Slow passes do not count for others.", load: load{total: 8, slow: 8, slowOfNamespace: 8, contenders: 9}, want: true},
		"SlowHalf":       {reason: "Slow passes use half of the workers.", load: load{total: 8, slow: 8}, slow: true},
		"SlowQuarter":    {reason: "Slow passes of one namespace use a quarter.", load: load{total: 4, slow: 4, slowOfNamespace: 4}, slow: true},
		"SlowRest":       {reason: "The rest is for other namespaces.", load: load{total: 4, slow: 4}, slow: true, want: true},
		"Contended":      {reason: "Namespaces that wait get equal parts.", load: load{total: 2, slow: 2, slowOfNamespace: 2, contenders: 3}, slow: true},
		"ContendedPart":  {reason: "Each of them has a part.", load: load{total: 2, slow: 2, slowOfNamespace: 1, contenders: 3}, slow: true, want: true},
		"ContendedFirst": {reason: "Each of them can use one worker.", load: load{total: 2, slow: 2, contenders: 100}, slow: true, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := limitsOf(16).admits(tc.load, tc.slow); got != tc.want {
				t.Errorf("\n%s\nadmits(...): want %t, got %t", tc.reason, tc.want, got)
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
		"One":     {reason: "Everything needs at least one worker.", workers: 1, want: limits{share: 1, half: 1, quarter: 1}},
		"Default": {reason: "These are the parts of the default.", workers: 10, want: limits{share: 1, half: 5, quarter: 2}},
		"Many":    {reason: "These are the parts of many workers.", workers: 64, want: limits{share: 8, half: 32, quarter: 16}},
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
	at := place{namespace: "n", config: "a"}
	cases := map[string]struct {
		reason string
		// own are the durations of passes of the ProviderConfig, and others are those of another one in the namespace.
		own, others []time.Duration
		want        bool
	}{
		"Unknown":   {reason: "Nothing is known.", want: true},
		"Quick":     {reason: "The first pass was quick.", own: []time.Duration{5 * ms}},
		"Slow":      {reason: "The first pass was slow.", own: []time.Duration{time.Minute}, want: true},
		"Neighbor":  {reason: "Other clusters of the namespace are quick.", others: []time.Duration{5 * ms}},
		"Neighbors": {reason: "Other clusters of the namespace are slow.", others: []time.Duration{5 * ms, time.Minute}, want: true},
		"Own":       {reason: "What is known about the ProviderConfig counts.", own: []time.Duration{5 * ms}, others: []time.Duration{time.Minute}},
		"Once":      {reason: "A single long pass, for example an install, is forgotten soon.", own: []time.Duration{3000 * ms, 5 * ms, 5 * ms}},
		"Often":     {reason: "A cluster that is sometimes slow is slow.", own: []time.Duration{20000 * ms, 5 * ms, 5 * ms, 5 * ms}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPace()
			for _, d := range tc.own {
				p.record(at, d)
			}
			for _, d := range tc.others {
				p.record(place{namespace: "n", config: "b"}, d)
			}
			if got := p.isSlow(at); got != tc.want {
				t.Errorf("\n%s\nisSlow(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
