// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestSelection(t *testing.T) {
	label := func(v string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"a": v}}
	}
	invalid := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}
	cases := map[string]struct {
		reason string
		spec   v1alpha1.KymaSetSpec
		want   bool
		err    string
	}{
		"All":              {reason: "Without selectors, all ProviderConfigs are selected.", spec: v1alpha1.KymaSetSpec{ProviderConfigs: &v1alpha1.ProviderConfigSelection{}}, want: true},
		"Cluster":          {reason: "The labels of the cluster match.", spec: v1alpha1.KymaSetSpec{ProviderConfigs: &v1alpha1.ProviderConfigSelection{Selector: label("cluster")}}, want: true},
		"OtherCluster":     {reason: "The labels of the cluster do not match.", spec: v1alpha1.KymaSetSpec{ProviderConfigs: &v1alpha1.ProviderConfigSelection{Selector: label("x")}}},
		"Namespace":        {reason: "The labels of the namespace match.", spec: v1alpha1.KymaSetSpec{ClusterAPI: &v1alpha1.ClusterAPISelection{NamespaceSelector: label("namespace")}}, want: true},
		"OtherNamespace":   {reason: "Both selectors must match.", spec: v1alpha1.KymaSetSpec{ClusterAPI: &v1alpha1.ClusterAPISelection{NamespaceSelector: label("x"), Selector: label("cluster")}}},
		"Invalid":          {reason: "The message names the field.", spec: v1alpha1.KymaSetSpec{ProviderConfigs: &v1alpha1.ProviderConfigSelection{Selector: invalid}}, err: "spec.providerConfigs.selector is invalid"},
		"InvalidNamespace": {reason: "The message names the field.", spec: v1alpha1.KymaSetSpec{ClusterAPI: &v1alpha1.ClusterAPISelection{NamespaceSelector: invalid}}, err: "spec.clusterAPI.namespaceSelector is invalid"},
		"None":             {reason: "The schema requires one of both.", err: "set providerConfigs or clusterAPI"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := SelectionOf(&v1alpha1.KymaSet{Spec: tc.spec})
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%s\nSelectionOf(...): want error %q, got %v", tc.reason, tc.err, err)
			}
			if got := err == nil && s.Matches(map[string]string{"a": "namespace"}, map[string]string{"a": "cluster"}); got != tc.want {
				t.Errorf("%s\nMatches(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestDecide checks who manages the Kyma of a cluster.
func TestDecide(t *testing.T) {
	set := func(name string, age time.Duration) *v1alpha1.KymaSet {
		return &v1alpha1.KymaSet{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(time.Unix(1000, 0).Add(-age))}}
	}
	old, young := set("old", time.Hour), set("young", 0)
	kyma := func(owner, uid string) *v1alpha1.Kyma {
		k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "one", Labels: map[string]string{}, Annotations: map[string]string{}}}
		k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "one"}
		if owner != "" {
			k.Labels[v1alpha1.LabelKymaSet], k.Annotations[v1alpha1.AnnotationKymaSetUID] = owner, uid
		}
		return k
	}
	copied := kyma("old", "old")
	copied.Name = "two"
	selects := func(s *v1alpha1.KymaSet) Candidate { return Candidate{Set: s, Selects: true} }
	leaves := func(s *v1alpha1.KymaSet) Candidate { return Candidate{Set: s} }
	unknown := func(s *v1alpha1.KymaSet) Candidate { return Candidate{Set: s, Unknown: true} }
	cases := map[string]struct {
		reason     string
		candidates []Candidate
		live       *v1alpha1.Kyma
		holder     string
		former     string
		refused    []string
	}{
		"New":         {reason: "The KymaSet creates the Kyma.", candidates: []Candidate{selects(old)}, holder: "old"},
		"Oldest":      {reason: "Of two KymaSets, the older one creates the Kyma.", candidates: []Candidate{selects(young), selects(old)}, holder: "old", refused: []string{"young"}},
		"Keeps":       {reason: "A KymaSet keeps its Kyma, also if an older one selects the cluster later.", candidates: []Candidate{selects(old), selects(young)}, live: kyma("young", "young"), holder: "young", refused: []string{"old"}},
		"Foreign":     {reason: "A Kyma of a user is never taken over.", candidates: []Candidate{selects(old)}, live: kyma("", ""), refused: []string{"old"}},
		"Gone":        {reason: "A Kyma of a KymaSet that does not exist is not taken over.", candidates: []Candidate{selects(old)}, live: kyma("gone", "gone"), refused: []string{"old"}},
		"Handed":      {reason: "A user can hand a Kyma to a KymaSet with its label.", candidates: []Candidate{selects(old)}, live: kyma("old", ""), holder: "old"},
		"Restored":    {reason: "A KymaSet that was restored has another UID, and its Kymas belong to it.", candidates: []Candidate{selects(old)}, live: kyma("old", "earlier"), holder: "old"},
		"TakesOver":   {reason: "A cluster moves to another KymaSet without an uninstallation.", candidates: []Candidate{leaves(old), selects(young)}, live: kyma("old", "old"), holder: "young"},
		"Unknown":     {reason: "As long as it is not known what its KymaSet selects, a Kyma stays as it is.", candidates: []Candidate{unknown(old), selects(young)}, live: kyma("old", "old"), refused: []string{"young"}},
		"Leaves":      {reason: "The KymaSet no longer selects the cluster.", candidates: []Candidate{leaves(old), leaves(young)}, live: kyma("old", "old"), former: "old"},
		"LeavesOther": {reason: "An earlier KymaSet applied the Kyma, so nothing says that this one may remove it.", candidates: []Candidate{leaves(old)}, live: kyma("old", "earlier")},
		"UnknownOnly": {reason: "It is not known whether the cluster leaves.", candidates: []Candidate{unknown(old)}, live: kyma("old", "old")},
		"Copy":        {reason: "A copy of a Kyma with another name belongs to the user who made it.", candidates: []Candidate{leaves(old)}, live: copied},
		"Nothing":     {reason: "No KymaSet is interested.", candidates: []Candidate{leaves(old)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var live metav1.Object
			if tc.live != nil {
				live = tc.live
			}
			got := Decide(tc.candidates, "Kyma", live)
			nameOf := func(s *v1alpha1.KymaSet) string {
				if s == nil {
					return ""
				}
				return s.Name
			}
			if nameOf(got.Holder) != tc.holder || nameOf(got.Former) != tc.former {
				t.Errorf("%s\nDecide(...): want holder %q and former %q, got %q and %q", tc.reason, tc.holder, tc.former, nameOf(got.Holder), nameOf(got.Former))
			}
			if diff := cmp.Diff(tc.refused, slices.Sorted(maps.Keys(got.Refused))); diff != "" {
				t.Errorf("%s\nDecide(...): refused: -want, +got:\n%s\n%v", tc.reason, diff, got.Refused)
			}
		})
	}
}

func TestTally(t *testing.T) {
	key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "n", Name: name} }
	keys := []types.NamespacedName{key("a"), key("b"), key("c")}
	tally := NewTally()
	tally.Begin(1, keys)
	check := func(reason string, complete bool, want v1alpha1.KymaSetStatus) {
		t.Helper()
		got := v1alpha1.KymaSetStatus{}
		if c := tally.Report(&got, 1); c != complete {
			t.Errorf("%s\nReport(...): want %t, got %t", reason, complete, c)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\nReport(...): -want, +got:\n%s", reason, diff)
		}
	}
	check("Nothing is known at the start.", false, v1alpha1.KymaSetStatus{Clusters: 3})
	tally.Set(key("a"), Outcome{Applied: true, Ready: true})
	tally.Set(key("c"), Outcome{Failure: "later"})
	tally.Set(key("b"), Outcome{Applied: true, Failure: "first"})
	failures := []v1alpha1.KymaSetFailure{{Namespace: "n", Name: "b", Message: "first"}}
	check("Failures are sorted and limited.", true, v1alpha1.KymaSetStatus{Clusters: 3, Applied: 2, Ready: 1, Failed: 2, Failures: failures})
	if tally.Set(key("a"), Outcome{Applied: true, Ready: true}) {
		t.Error("Set(...): want no change for an equal outcome")
	}
	if !tally.Remove(key("c")) || tally.Remove(key("c")) {
		t.Error("Remove(...): want a change for the first call only")
	}
	check("A cluster that left is not counted.", true, v1alpha1.KymaSetStatus{Clusters: 2, Applied: 2, Ready: 1, Failed: 1, Failures: failures})
	tally.Begin(2, keys[:1])
	check("With a new template, no cluster is up to date.", false, v1alpha1.KymaSetStatus{Clusters: 1, Ready: 1})
}
