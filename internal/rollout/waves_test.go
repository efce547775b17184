// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"math"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestHash holds the hash, which decides who may have a version while replicas of different versions of the provider run.
func TestHash(t *testing.T) {
	if got, want := hash("0a1b2c3d", "istio", "1.2.3"), uint32(0x440a801f); got != want {
		t.Errorf("the hash has changed: want %#x, got %#x", want, got)
	}
}

// TestHashSpreads checks that each tenth of the range has about a tenth of the Kymas, and that the order differs between versions.
func TestHashSpreads(t *testing.T) {
	const n, parts = 10000, 10
	var counts [parts]int
	both := 0
	for i := range n {
		uid := types.UID(fmt.Sprintf("6f0c6b0e-9a0f-4c0a-8d5e-%012d", i))
		a, b := hash(uid, "istio", "1.0.0"), hash(uid, "istio", "1.1.0")
		counts[uint64(a)*parts>>32]++
		if a < math.MaxUint32/parts && b < math.MaxUint32/parts {
			both++
		}
	}
	for i, c := range counts {
		if c < n/parts*85/100 || c > n/parts*115/100 {
			t.Errorf("part %d has %d of %d Kymas", i, c, n)
		}
	}
	if both > n/parts/parts*2 {
		t.Errorf("%d Kymas are among the first tenth for two versions", both)
	}
}

func TestWavesOf(t *testing.T) {
	withAll := rings()
	withAll.Waves = append(withAll.Waves, v1alpha1.RolloutWave{Name: "others"})
	invalid := &v1alpha1.RolloutPolicySpec{Waves: []v1alpha1.RolloutWave{{Name: "bad", Selector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "ring", Operator: "Like"}},
	}}}}
	cases := map[string]struct {
		reason string
		policy *v1alpha1.RolloutPolicySpec
		labels map[string]string
		want   int
		name   string
	}{
		"First":    {reason: "The first wave that selects the labels counts.", policy: rings(), labels: map[string]string{"ring": "canary"}, want: 0, name: "canary"},
		"Second":   {reason: "A later wave can select them.", policy: rings(), labels: map[string]string{"ring": "early"}, want: 1, name: "early"},
		"None":     {reason: "Other Kymas are in a last wave.", policy: rings(), want: 2, name: "rest"},
		"All":      {reason: "A wave without a selector selects all that are left.", policy: withAll, want: 2, name: "others"},
		"NoPolicy": {reason: "Without a policy, there is one wave.", want: 0},
		"Invalid":  {reason: "A selector that is not valid selects nothing.", policy: invalid, labels: map[string]string{"ring": "canary"}, want: 1, name: "rest"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := WavesOf(tc.policy).Of(tc.labels)
			if got != tc.want || NameOf(tc.policy, got) != tc.name {
				t.Errorf("%s\nwant wave %d %q, got %d %q", tc.reason, tc.want, tc.name, got, NameOf(tc.policy, got))
			}
		})
	}
	if err := Validate(invalid); err == nil || !strings.Contains(err.Error(), "spec.waves[0].selector, of wave bad,") {
		t.Errorf("the error must name the wave, it is: %v", err)
	}
	if err := Validate(withAll); err != nil {
		t.Error(err)
	}
}

func TestShare(t *testing.T) {
	number, percent, none := intstr.FromInt32(3), intstr.FromString("10%"), intstr.FromString("0%")
	cases := map[string]struct {
		reason string
		value  *intstr.IntOrString
		n      int
		want   int
	}{
		"Number":  {reason: "A number is used as it is.", value: &number, n: 100, want: 3},
		"Percent": {reason: "A percentage is rounded up.", value: &percent, n: 101, want: 11},
		"Least":   {reason: "A share is at least 1.", value: &none, n: 100, want: 1},
		"Default": {reason: "Without a value, the default applies.", n: 100, want: 2},
		"Few":     {reason: "The default is at least 1, too.", n: 3, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := share(tc.value, policyBudget, tc.n); got != tc.want {
				t.Errorf("%s\nwant %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}
