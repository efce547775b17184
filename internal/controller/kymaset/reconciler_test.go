// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestFleet counts the writes for a fleet: one for each cluster and change, and none without a change.
func TestFleet(t *testing.T) {
	const n = 1000
	w := newWorld(t, newSet("fleet"))
	for i := range n {
		w.addCluster(clusterKey(i), nil)
	}
	w.run()
	w.expect("a new KymaSet", map[string]int{"finalizer": 1, "apply": n})
	if s := w.status("fleet"); s.Clusters != n || s.Applied != n || s.Ready != 0 || !w.isReadySet("fleet", corev1.ConditionFalse, v1alpha1.ReasonProgressing) {
		t.Errorf("want all clusters applied and not Ready, got %+v", s)
	}

	w.ready()
	for i := range n {
		w.cluster(clusterKey(i))
	}
	w.expect("the Kymas become Ready", map[string]int{})
	if s := w.status("fleet"); s.Ready != n || !w.isReadySet("fleet", corev1.ConditionTrue, xpv2.ReasonAvailable) {
		t.Errorf("want all clusters Ready, got %+v", s)
	}

	w.reset()
	w.run()
	w.start()
	w.run()
	if w.statuses != 0 {
		t.Errorf("nothing changed, and after a restart: want no write of the status, got %d", w.statuses)
	}
	w.expect("nothing changed, and after a restart", map[string]int{})

	w.change("fleet", func(s *v1alpha1.KymaSet) { s.Spec.Template.Spec.ForProvider.Channel = "fast" })
	w.run()
	if w.statuses > 3 {
		t.Errorf("a change of the template: want few writes of the status, got %d", w.statuses)
	}
	w.expect("a change of the template", map[string]int{"apply": n})

	w.addCluster(types.NamespacedName{Namespace: "team-x", Name: "later"}, nil)
	w.cluster(types.NamespacedName{Namespace: "team-x", Name: "later"})
	w.expect("a cluster that appears later", map[string]int{"apply": 1})
	if s := w.status("fleet"); s.Clusters != n+1 {
		t.Errorf("want the new cluster in the status, got %+v", s)
	}
}

// TestFailures checks that clusters that fail do not affect others, and are reported.
func TestFailures(t *testing.T) {
	w := newWorld(t, newSet("fleet", func(s *v1alpha1.KymaSet) {
		s.Spec.Template.Metadata.Labels = map[string]string{"ring": "$(cluster.labels['ring'])"}
	}))
	for i := range 30 {
		w.addCluster(clusterKey(i), map[string]string{"ring": "a"})
	}
	foreign, refused, without := clusterKey(7), clusterKey(14), clusterKey(21)
	w.kymas[foreign] = &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: foreign.Namespace, Name: foreign.Name, UID: "users"}}
	w.refuses[refused] = kerrors.NewForbidden(schema.GroupResource{Resource: "kymas"}, refused.Name, errors.New("exceeded quota"))
	w.configs[without].Labels = nil
	w.run()
	w.expect("three clusters fail", map[string]int{"finalizer": 1, "apply": 27})
	s := w.status("fleet")
	if s.Clusters != 30 || s.Applied != 27 || s.Failed != 3 || len(s.Failures) != 3 || !w.isReadySet("fleet", corev1.ConditionFalse, v1alpha1.ReasonModuleFailed) {
		t.Fatalf("want three failures, got %+v", s)
	}
	for i, want := range []string{
		"Kyma team-0/c-0007 exists and does not belong to the KymaSet: delete it, or label it with kyma.m.crossplane.io/kyma-set=fleet",
		"exceeded quota", `cluster team-0/c-0021 has no label "ring", which template.metadata.labels["ring"] requires`,
	} {
		if f := s.Failures[i]; f.Namespace != "team-0" || !strings.Contains(f.Message, want) {
			t.Errorf("failure %d: want %q, got %+v", i, want, f)
		}
	}
	if len(w.events) == 0 || w.events[len(w.events)-1].Reason != "ModuleFailed" {
		t.Errorf("want an event, got %v", w.events)
	}
	w.run()
	w.expect("a failure that stays", map[string]int{})

	delete(w.refuses, refused)
	w.configs[without].Labels = map[string]string{"ring": "b"}
	w.kymas[foreign].Labels = map[string]string{v1alpha1.LabelKymaSet: "fleet"}
	w.kymas[foreign].Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: foreign.Name}
	for _, key := range []types.NamespacedName{foreign, refused, without} {
		w.cluster(key)
	}
	w.expect("all are fixed", map[string]int{"apply": 3})
	if s := w.status("fleet"); s.Applied != 30 || s.Failed != 0 || s.Failures != nil {
		t.Errorf("want no failure, got %+v", s)
	}
}

// TestLeaving checks what happens to the Kyma of a cluster that a KymaSet no longer selects.
func TestLeaving(t *testing.T) {
	key := clusterKey(0)
	page := kerrors.NewGenericServerResponse(http.StatusNotFound, "GET", schema.GroupResource{Resource: "providerconfigs"}, key.Name, "proxy", 0, true)
	now := metav1.Now()
	leaves := func(w *world) { w.configs[key].Labels = nil }
	cases := map[string]struct {
		reason     string
		policy     v1alpha1.ClusterRemovalPolicy
		clusterAPI bool
		do         func(*world)
		want       map[string]int
	}{
		"Delete":       {reason: "The Kyma is deleted.", policy: v1alpha1.ClusterRemovalDelete, do: leaves, want: map[string]int{"delete": 1}},
		"Orphan":       {reason: "The Kyma stays without marks.", policy: v1alpha1.ClusterRemovalOrphan, do: leaves, want: map[string]int{"orphan": 1}},
		"NotDeletable": {reason: "Without the permission to delete, the garbage collector does it.", do: func(w *world) { leaves(w); w.deletable = false }, want: map[string]int{"release": 1}},
		"Gone":         {reason: "A Kyma without a ProviderConfig is of no use.", policy: v1alpha1.ClusterRemovalOrphan, do: func(w *world) { delete(w.configs, key) }, want: map[string]int{"delete": 1}},
		"GoesAway":     {reason: "Crossplane keeps the ProviderConfig while the Kyma uses it.", policy: v1alpha1.ClusterRemovalOrphan, do: func(w *world) { w.configs[key].DeletionTimestamp = &now }, want: map[string]int{"delete": 1}},
		"StaleCache":   {reason: "The cache misses a ProviderConfig that the API server has.", do: func(w *world) { w.hidden[key] = true }, want: map[string]int{}},
		"Proxy":        {reason: "Another server than an API server answers 404.", do: func(w *world) { w.hidden[key] = true; w.page = page }, want: map[string]int{}},
		"Restored":     {reason: "An earlier KymaSet of this name applied the Kyma.", do: func(w *world) { leaves(w); w.kymas[key].Annotations[v1alpha1.AnnotationKymaSetUID] = "earlier" }, want: map[string]int{}},
		"Kept": {reason: "A user removed the label to keep the Kyma, which the cache does not know yet.", do: func(w *world) {
			leaves(w)
			w.outdated = map[types.NamespacedName]client.Object{key: w.kymas[key].DeepCopy()}
			delete(w.kymas[key].Labels, v1alpha1.LabelKymaSet)
		}, want: map[string]int{}},
		"NewPolicy": {reason: "The policy has changed, which the cache does not know yet.", policy: v1alpha1.ClusterRemovalDelete, do: func(w *world) {
			leaves(w)
			w.outdated = map[types.NamespacedName]client.Object{{Name: "fleet"}: w.sets["fleet"].DeepCopy()}
			w.change("fleet", withPolicy(v1alpha1.ClusterRemovalOrphan))
		}, want: map[string]int{"orphan": 1}},
		"TakenOver": {reason: "Another KymaSet selects the cluster.", do: func(w *world) {
			w.configs[key].Labels = map[string]string{"ring": "b"}
			s := newSet("other", selecting("b"))
			s.Finalizers = []string{finalizer}
			w.sets[s.Name] = s
		}, want: map[string]int{"apply": 1}},
		"ClusterAPI": {
			reason: "The ProviderConfig of the KymaSet stays with the Kyma.", policy: v1alpha1.ClusterRemovalOrphan, clusterAPI: true,
			do: func(w *world) { w.clusters[key].Labels = nil }, want: map[string]int{"orphan": 1, "orphan config": 1},
		},
		"ClusterAPIGone": {
			reason: "The ProviderConfig of the KymaSet is deleted after the Kyma.", policy: v1alpha1.ClusterRemovalOrphan, clusterAPI: true,
			do: func(w *world) { delete(w.clusters, key) }, want: map[string]int{"delete": 1, "delete config": 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newSet("fleet", selecting("a"), withPolicy(tc.policy)))
			w.addCluster(key, map[string]string{"ring": "a"})
			if tc.clusterAPI {
				w.useClusterAPI()
			}
			w.run()
			w.reset()
			tc.do(w)
			w.cluster(key)
			w.expect(tc.reason, tc.want)
			w.cluster(key)
			w.expect(tc.reason+" And then nothing more happens", map[string]int{})
			if k := w.kymas[key]; k != nil && tc.want["orphan"] > 0 && (k.Labels[v1alpha1.LabelKymaSet] != "" || k.Annotations[v1alpha1.AnnotationKymaSetUID] != "" || k.Annotations[v1alpha1.AnnotationKymaSetDigest] != "") {
				t.Errorf("%s\nwant no marks, got %v, %v", tc.reason, k.Labels, k.Annotations)
			}
		})
	}
}

// TestUndecided checks that a Kyma stays while it is not known whether another KymaSet selects its cluster.
func TestUndecided(t *testing.T) {
	key := clusterKey(0)
	begun := func(s *v1alpha1.KymaSet) { s.Finalizers = []string{finalizer} }
	cases := map[string]struct {
		reason string
		other  *v1alpha1.KymaSet
		gone   bool
		want   map[string]int
	}{
		"New": {reason: "A new KymaSet selects the cluster, and has not begun.", other: newSet("other", selecting("b")), want: map[string]int{}},
		"Syncing": {reason: "After a restart, the labels of namespaces are not known yet.", other: newSet("other", selecting("b"), begun, func(s *v1alpha1.KymaSet) {
			s.Spec.ProviderConfigs.NamespaceSelector = &metav1.LabelSelector{}
		}), want: map[string]int{}},
		"ClusterAPI": {reason: "Clusters of Cluster API are not known yet.", other: newSet("other", begun, func(s *v1alpha1.KymaSet) {
			s.Spec.ProviderConfigs, s.Spec.ClusterAPI = nil, &v1alpha1.ClusterAPISelection{}
		}), want: map[string]int{}},
		"Gone":  {reason: "The cluster does not exist any more.", other: newSet("other", selecting("b")), gone: true, want: map[string]int{"delete": 1}},
		"Other": {reason: "The other KymaSet selects clusters with another label.", other: newSet("other", selecting("c")), want: map[string]int{"delete": 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newSet("fleet", selecting("a")))
			w.addCluster(key, map[string]string{"ring": "a"})
			w.run()
			w.reset()
			w.sets["other"], w.configs[key].Labels = tc.other, map[string]string{"ring": "b"}
			if tc.gone {
				delete(w.configs, key)
			}
			res, err := w.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
			if err != nil || (res.RequeueAfter > 0) != (len(tc.want) == 0) {
				t.Errorf("%s\nReconcile(...): got %v, %v", tc.reason, res, err)
			}
			w.expect(tc.reason, tc.want)
		})
	}
}

// TestDeletion checks the deletion of a KymaSet.
func TestDeletion(t *testing.T) {
	cases := map[string]struct {
		reason     string
		policy     v1alpha1.ClusterRemovalPolicy
		clusterAPI bool
		do         func(*world)
		deletable  bool
		want       map[string]int
		kept       int
		waits      bool
	}{
		"Delete":  {reason: "All Kymas are deleted, and the KymaSet is gone then.", policy: v1alpha1.ClusterRemovalDelete, deletable: true, want: map[string]int{"delete": 5, "finalizer": 1}},
		"Orphan":  {reason: "All Kymas stay.", policy: v1alpha1.ClusterRemovalOrphan, want: map[string]int{"orphan": 5, "finalizer": 1}, kept: 5},
		"Release": {reason: "The KymaSet waits for the garbage collector.", policy: v1alpha1.ClusterRemovalDelete, want: map[string]int{"release": 5}, kept: 5, waits: true},
		"ClusterAPI": {
			reason: "The ProviderConfigs of the KymaSet are deleted after the Kymas.", policy: v1alpha1.ClusterRemovalDelete, clusterAPI: true, deletable: true,
			want: map[string]int{"delete": 5, "delete config": 5, "finalizer": 1},
		},
		"ClusterAPIOrphan": {
			reason: "The ProviderConfigs of the KymaSet stay with the Kymas.", policy: v1alpha1.ClusterRemovalOrphan, clusterAPI: true,
			want: map[string]int{"orphan": 5, "orphan config": 5, "finalizer": 1}, kept: 5,
		},
		"ClusterAPIOrphaned": {
			reason: "Users, or the provider before its end, have already orphaned the Kymas, which need their ProviderConfigs.",
			policy: v1alpha1.ClusterRemovalDelete, clusterAPI: true, deletable: true,
			do: func(w *world) {
				for _, k := range w.kymas {
					delete(k.Labels, v1alpha1.LabelKymaSet)
				}
			}, want: map[string]int{"orphan config": 5, "finalizer": 1}, kept: 5,
		},
		"ClusterAPITakenOver": {
			reason: "A KymaSet that takes over the Kymas, but no ProviderConfigs, needs them.",
			policy: v1alpha1.ClusterRemovalDelete, clusterAPI: true, deletable: true,
			do: func(w *world) {
				w.sets["other"] = newSet("other", func(s *v1alpha1.KymaSet) { s.Finalizers = []string{finalizer} })
			}, want: map[string]int{"apply": 5, "orphan config": 5, "finalizer": 1}, kept: 5,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newSet("fleet", withPolicy(tc.policy)))
			for i := range 5 {
				w.addCluster(clusterKey(i), nil)
			}
			if tc.clusterAPI {
				w.useClusterAPI()
			}
			w.run()
			w.reset()
			if tc.do != nil {
				tc.do(w)
			}
			w.deletable = tc.deletable
			w.change("fleet", func(s *v1alpha1.KymaSet) { s.DeletionTimestamp = &metav1.Time{Time: time.Now()} })
			w.run()
			w.expect(tc.reason, tc.want)
			if _, exists := w.sets["fleet"]; exists != tc.waits || len(w.kymas) != tc.kept {
				t.Errorf("%s\nwant the KymaSet to exist: %t, with %d Kymas, got %t, %d", tc.reason, tc.waits, tc.kept, exists, len(w.kymas))
			}
			if !tc.waits {
				return
			}
			w.kymas = map[types.NamespacedName]*v1alpha1.Kyma{}
			w.run()
			w.expect("the garbage collector deletes them", map[string]int{"finalizer": 1})
		})
	}
}

// TestOwners checks that a KymaSet restores what it applied, and nothing else.
func TestOwners(t *testing.T) {
	key := clusterKey(0)
	w := newWorld(t, newSet("fleet"))
	w.addCluster(key, nil)
	w.run()
	w.reset()
	w.kymas[key].Spec.ForProvider.Modules = []v1alpha1.Module{{Name: "own"}}
	w.kymas[key].Labels["own"] = "x"
	w.cluster(key)
	w.expect("an owner adds a module", map[string]int{})
	w.kymas[key].Spec.ForProvider.Channel = "other"
	w.cluster(key)
	w.expect("an owner changes the channel of the template", map[string]int{"apply": 1})
	delete(w.kymas, key)
	w.cluster(key)
	w.expect("an owner deletes the Kyma", map[string]int{"apply": 1})
}

// TestBlocked checks the conditions of a KymaSet that can do nothing.
func TestBlocked(t *testing.T) {
	w := newWorld(t, newSet("fleet", func(s *v1alpha1.KymaSet) {
		s.Spec.ProviderConfigs.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}
	}))
	w.addCluster(clusterKey(0), nil)
	w.run()
	s := w.status("fleet")
	if c := s.GetCondition(xpv2.TypeSynced); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "spec.providerConfigs.selector is invalid") {
		t.Errorf("want a condition that names the field, got %+v", c)
	}
	if !w.isReadySet("fleet", corev1.ConditionFalse, v1alpha1.ReasonBlocked) || s.GetCondition(v1alpha1.TypeStalled).Status != corev1.ConditionTrue {
		t.Errorf("want Ready to be False and Stalled, got %+v", s.Conditions)
	}
	w.expect("an invalid selector", map[string]int{"finalizer": 1})
}
