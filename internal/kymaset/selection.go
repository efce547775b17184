// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A Selection is the parsed selection of a KymaSet.
type Selection struct {
	// ClusterAPI is true if Clusters of Cluster API are selected, and ProviderConfigs otherwise.
	ClusterAPI bool
	// Namespaces selects namespaces by their labels. It is nil if all namespaces are selected.
	Namespaces labels.Selector
	// Clusters selects clusters by their labels.
	Clusters labels.Selector
}

// SelectionOf parses the selection of a KymaSet.
func SelectionOf(set *v1alpha1.KymaSet) (Selection, error) {
	field := "spec.providerConfigs"
	var namespaces, clusters *metav1.LabelSelector
	out := Selection{Clusters: labels.Everything()}
	switch {
	case set.Spec.ClusterAPI != nil:
		field, namespaces, clusters = "spec.clusterAPI", set.Spec.ClusterAPI.NamespaceSelector, set.Spec.ClusterAPI.Selector
		out.ClusterAPI = true
	case set.Spec.ProviderConfigs != nil:
		namespaces, clusters = set.Spec.ProviderConfigs.NamespaceSelector, set.Spec.ProviderConfigs.Selector
	default:
		return out, errors.New("spec selects no clusters: set providerConfigs or clusterAPI")
	}
	var err error
	if namespaces != nil {
		if out.Namespaces, err = metav1.LabelSelectorAsSelector(namespaces); err != nil {
			return out, errors.Wrapf(err, "%s.namespaceSelector is invalid", field)
		}
	}
	if clusters != nil {
		if out.Clusters, err = metav1.LabelSelectorAsSelector(clusters); err != nil {
			return out, errors.Wrapf(err, "%s.selector is invalid", field)
		}
	}
	return out, nil
}

// Matches reports whether the selection contains a cluster, by the labels of its namespace and its own.
func (s Selection) Matches(namespace, cluster map[string]string) bool {
	return (s.Namespaces == nil || s.Namespaces.Matches(labels.Set(namespace))) && s.Clusters.Matches(labels.Set(cluster))
}

// A Candidate is a KymaSet that may manage the Kyma of a cluster.
type Candidate struct {
	Set *v1alpha1.KymaSet
	// Selects is true if the KymaSet selects the cluster, and is not being deleted.
	Selects bool
	// Unknown is true if it is not known at the moment which clusters the KymaSet selects.
	Unknown bool
}

// A Verdict says who manages the Kyma of a cluster.
type Verdict struct {
	// Holder is the KymaSet that applies its template, or nil.
	Holder *v1alpha1.KymaSet
	// Former is the KymaSet that no longer selects the cluster and must remove its Kyma, or nil.
	Former *v1alpha1.KymaSet
	// Refused contains, for each other KymaSet that selects the cluster, by its name, why it does not manage the Kyma.
	Refused map[string]string
}

// Decide decides who manages an object of a cluster. kind and live are the object with the name of the cluster, which may not exist:
// live is nil then. A KymaSet keeps what it manages. Another one takes it over only from a KymaSet that no longer selects the cluster.
// Objects that belong to no KymaSet are never taken over.
func Decide(candidates []Candidate, kind string, live metav1.Object) Verdict {
	candidates = byAge(candidates)
	owner := ownerOf(live, candidates)
	var out Verdict
	switch {
	case live != nil && owner < 0:
		out.refuse(candidates, func(c *v1alpha1.KymaSet) string {
			return kind + " " + live.GetNamespace() + "/" + live.GetName() + " exists and does not belong to the KymaSet: delete it, or label it with " +
				v1alpha1.LabelKymaSet + "=" + c.Name
		})
		return out
	case owner >= 0 && candidates[owner].Selects:
		out.Holder = candidates[owner].Set
	case owner >= 0 && candidates[owner].Unknown:
	default:
		out.Holder = firstThatSelects(candidates)
		if out.Holder == nil && owner >= 0 && IsOf(live, candidates[owner].Set) {
			out.Former = candidates[owner].Set
		}
	}
	manager := out.Holder
	if manager == nil && owner >= 0 {
		manager = candidates[owner].Set
	}
	out.refuse(candidates, func(*v1alpha1.KymaSet) string {
		return "KymaSet " + manager.Name + " manages the " + kind + " of this cluster: change the selector of one of them"
	})
	return out
}

// ownerOf returns the index of the KymaSet that manages an object, or -1.
func ownerOf(live metav1.Object, candidates []Candidate) int {
	if live == nil {
		return -1
	}
	name := SetOf(live)
	return slices.IndexFunc(candidates, func(c Candidate) bool { return c.Set.Name == name })
}

// byAge returns the candidates, the oldest first.
func byAge(candidates []Candidate) []Candidate {
	candidates = slices.Clone(candidates)
	slices.SortFunc(candidates, func(a, b Candidate) int {
		if c := a.Set.CreationTimestamp.Compare(b.Set.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Set.Name, b.Set.Name)
	})
	return candidates
}

// firstThatSelects returns the first KymaSet that selects the cluster, or nil.
func firstThatSelects(candidates []Candidate) *v1alpha1.KymaSet {
	if i := slices.IndexFunc(candidates, func(c Candidate) bool { return c.Selects }); i >= 0 {
		return candidates[i].Set
	}
	return nil
}

// refuse refuses all candidates that select the cluster, apart from the holder.
func (v *Verdict) refuse(candidates []Candidate, message func(*v1alpha1.KymaSet) string) {
	v.Refused = map[string]string{}
	for _, c := range candidates {
		if c.Selects && c.Set != v.Holder {
			v.Refused[c.Set.Name] = message(c.Set)
		}
	}
}
