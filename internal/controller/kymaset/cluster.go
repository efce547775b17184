// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/kymaset"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// maxFailure is the maximum length of a failure in a status, in bytes.
const maxFailure = 256

// clusters reconciles single clusters.
type clusters struct {
	fleet  *fleet
	writer *writer
	// report records the outcome of a cluster for a KymaSet. It is nil if the KymaSet no longer manages the cluster.
	report func(set *v1alpha1.KymaSet, key types.NamespacedName, o *kymaset.Outcome)
}

// A situation is what the cache has about a cluster.
type situation struct {
	key        types.NamespacedName
	kyma       *v1alpha1.Kyma
	config     *v1alpha1.ProviderConfig
	candidates []kymaset.Candidate
	// metadata contains the metadata of the cluster for each KymaSet that selects it.
	metadata map[string]kymaset.Cluster
}

// reconcile creates, changes or removes the Kyma of a cluster, and its ProviderConfig if it is a Cluster of Cluster API.
func (c *clusters) reconcile(ctx context.Context, key types.NamespacedName) error {
	s, err := c.observe(ctx, key)
	if err != nil || len(s.candidates) == 0 {
		return err
	}
	v := kymaset.Decide(s.candidates, v1alpha1.KymaKind, object(s.kyma))
	for i := range s.candidates {
		set := s.candidates[i].Set
		switch why, refused := v.Refused[set.Name]; {
		case set == v.Holder, set == v.Former, s.candidates[i].Unknown:
		case refused:
			c.report(set, key, &kymaset.Outcome{Failure: conditions.Truncate(why, maxFailure)})
		default:
			c.report(set, key, nil)
		}
	}
	if v.Holder != nil {
		err = c.hold(ctx, s, v.Holder)
		c.report(v.Holder, key, outcomeOf(s.kyma, err))
	}
	if v.Former != nil {
		err = c.remove(ctx, s, v.Former, s.kyma)
		c.report(v.Former, key, removalOf(err))
	}
	if former := s.formerOfConfig(v.Holder); err == nil && former != nil {
		err = c.remove(ctx, s, former, s.config)
		c.report(former, key, removalOf(err))
	}
	return retriable(err)
}

// formerOfConfig returns the KymaSet that must remove the ProviderConfig of the cluster, or nil. The Kyma comes first, whether it is removed,
// or the holder creates it or takes it over. A holder with Clusters of Cluster API also takes over the ProviderConfig.
func (s *situation) formerOfConfig(holder *v1alpha1.KymaSet) *v1alpha1.KymaSet {
	if s.config == nil || holder != nil && (s.kyma == nil || holder.Spec.ClusterAPI != nil) {
		return nil
	}
	for i := range s.candidates {
		candidate := &s.candidates[i]
		if candidate.Selects || candidate.Unknown || !kymaset.IsOf(s.config, candidate.Set) {
			continue
		}
		if s.kyma == nil || !kymaset.IsOf(s.kyma, candidate.Set) {
			return candidate.Set
		}
	}
	return nil
}

// observe reads a cluster and the KymaSets.
func (c *clusters) observe(ctx context.Context, key types.NamespacedName) (*situation, error) {
	out := &situation{key: key, metadata: map[string]kymaset.Cluster{}}
	l := &v1alpha1.KymaSetList{}
	if err := c.fleet.client.List(ctx, l, client.UnsafeDisableDeepCopy); err != nil || len(l.Items) == 0 {
		return out, errors.Wrap(err, "cannot list KymaSets")
	}
	kyma, config := &v1alpha1.Kyma{}, &v1alpha1.ProviderConfig{}
	switch err := c.fleet.client.Get(ctx, key, kyma); {
	case err == nil:
		out.kyma = kyma
	case !notfound.Is(err):
		return nil, errors.Wrapf(err, "cannot get Kyma %s", key)
	}
	switch err := c.fleet.client.Get(ctx, key, config); {
	case err == nil:
		out.config = config
	case !notfound.Is(err):
		return nil, errors.Wrapf(err, "cannot get ProviderConfig %s", key)
	}
	for i := range l.Items {
		candidate, err := c.candidate(ctx, out, &l.Items[i])
		if err != nil {
			return nil, err
		}
		out.candidates = append(out.candidates, candidate)
	}
	return out, nil
}

// candidate decides whether a KymaSet selects a cluster. A KymaSet without its finalizer does nothing yet.
func (c *clusters) candidate(ctx context.Context, s *situation, set *v1alpha1.KymaSet) (kymaset.Candidate, error) {
	out := kymaset.Candidate{Set: set}
	if meta.WasDeleted(set) {
		return out, nil
	}
	selection, err := kymaset.SelectionOf(set)
	if err != nil || !c.fleet.access.isComplete(selection) || !meta.FinalizerExists(set, finalizer) {
		out.Unknown = true
		return out, nil //nolint:nilerr // The KymaSet reports the error.
	}
	o, err := c.fleet.cluster(ctx, selection, s.key, s.config)
	if err != nil || o == nil || meta.WasDeleted(o) {
		return out, err
	}
	n, err := c.fleet.namespace(ctx, selection, s.key.Namespace)
	if err != nil {
		return out, err
	}
	if out.Selects = selection.Matches(n, o.GetLabels()); out.Selects {
		s.metadata[set.Name] = kymaset.ClusterOf(o)
	}
	return out, nil
}

// hold applies the template of a KymaSet to a cluster.
func (c *clusters) hold(ctx context.Context, s *situation, set *v1alpha1.KymaSet) error {
	cluster := s.metadata[set.Name]
	k, err := kymaset.DesiredKyma(set, cluster)
	if err != nil {
		return &permanentError{err}
	}
	if set.Spec.ClusterAPI != nil {
		if err := c.holdConfig(ctx, s, set, cluster); err != nil {
			return err
		}
	}
	if s.kyma == nil {
		return c.writer.apply(ctx, k, nil, v1alpha1.KymaGroupVersionKind)
	}
	if meta.WasDeleted(s.kyma) {
		return errDeleting
	}
	return c.writer.apply(ctx, k, s.kyma, v1alpha1.KymaGroupVersionKind)
}

// holdConfig applies the ProviderConfig of a Cluster of Cluster API.
func (c *clusters) holdConfig(ctx context.Context, s *situation, set *v1alpha1.KymaSet, cluster kymaset.Cluster) error {
	want := kymaset.DesiredConfig(set, cluster)
	if s.config == nil {
		return c.writer.apply(ctx, want, nil, v1alpha1.ProviderConfigGroupVersionKind)
	}
	if v := kymaset.Decide(s.candidates, v1alpha1.ProviderConfigKind, s.config); v.Holder != set {
		return &permanentError{errors.New(v.Refused[set.Name])}
	}
	if meta.WasDeleted(s.config) {
		return &permanentError{errors.Errorf("ProviderConfig %s is being deleted, and the Kyma of the cluster uses it: delete the Kyma, "+
			"and both are created again", s.key)}
	}
	return c.writer.apply(ctx, want, s.config, v1alpha1.ProviderConfigGroupVersionKind)
}

// remove removes an object of a cluster that a KymaSet no longer manages, after the API server has confirmed this.
func (c *clusters) remove(ctx context.Context, s *situation, set *v1alpha1.KymaSet, o client.Object) error {
	if meta.WasDeleted(o) || o.GetAnnotations()[v1alpha1.AnnotationReleasedBy] != "" {
		return nil
	}
	// A cluster that exists may have moved to another KymaSet, which then takes over the Kyma without an uninstallation.
	other := undecided(s, set)
	if other != nil && s.config != nil && !meta.WasDeleted(s.config) {
		return other
	}
	live, why, err := c.confirm(ctx, set, s.key)
	switch {
	case err != nil:
		return err
	case why == stays:
		return errOutdated
	case why == left && other != nil:
		return other
	}
	if err := c.writer.confirmOwner(ctx, live, o); err != nil {
		return err
	}
	return c.writer.remove(ctx, live, o, s.isOrphaned(o, live, why))
}

// isOrphaned reports whether an object stays when its KymaSet no longer manages the cluster. A ProviderConfig stays if the cluster has a
// Kyma: the KymaSet has orphaned it, or it belongs to a user or to another KymaSet.
func (s *situation) isOrphaned(o client.Object, set *v1alpha1.KymaSet, why departure) bool {
	return s.kyma != nil && o == s.config || why == left && set.Spec.ClusterRemovalPolicy == v1alpha1.ClusterRemovalOrphan
}

// undecided returns an *undecidedError if it is not known whether another KymaSet than a former one selects a cluster.
func undecided(s *situation, former *v1alpha1.KymaSet) error {
	for i := range s.candidates {
		candidate := &s.candidates[i]
		if !candidate.Unknown || candidate.Set.Name == former.Name {
			continue
		}
		selection, err := kymaset.SelectionOf(candidate.Set)
		if err == nil && !selection.ClusterAPI && (s.config == nil || !selection.Clusters.Matches(labels.Set(s.config.Labels))) {
			continue
		}
		return &undecidedError{set: candidate.Set.Name}
	}
	return nil
}

// An undecidedError means that a Kyma stays until it is known whether another KymaSet selects its cluster.
type undecidedError struct{ set string }

func (e *undecidedError) Error() string {
	return "the Kyma stays until it is known whether KymaSet " + e.set + " selects the cluster: see its condition Ready"
}

// errDeleting means that a Kyma is being deleted. It is created again when it is gone.
var errDeleting = errors.New("the Kyma is being deleted")

// A permanentError does not disappear without a change, which causes an event.
type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// retriable returns an error that a retry can fix, and otherwise nil.
func retriable(err error) error {
	if e := (*permanentError)(nil); errors.As(err, &e) || kerrors.IsInvalid(err) || errors.Is(err, errDeleting) {
		return nil
	}
	return err
}

// outcomeOf returns the outcome for a cluster whose Kyma was applied, or not because of an error.
func outcomeOf(k *v1alpha1.Kyma, err error) *kymaset.Outcome {
	out := &kymaset.Outcome{Applied: err == nil}
	if k != nil && !meta.WasDeleted(k) {
		ready := k.GetCondition(xpv2.TypeReady)
		out.Ready = ready.Status == corev1.ConditionTrue && ready.ObservedGeneration >= k.Generation
		if k.Status.AtProvider.State == v1alpha1.StateError {
			out.Failure = conditions.Truncate(ready.Message, maxFailure)
		}
	}
	if err != nil && !errors.Is(err, errDeleting) && !errors.Is(err, errOutdated) {
		out.Failure = conditions.Truncate(err.Error(), maxFailure)
	}
	return out
}

// removalOf returns the outcome for a cluster that a KymaSet no longer manages. It is only counted if the removal fails.
func removalOf(err error) *kymaset.Outcome {
	if err == nil || errors.Is(err, errOutdated) {
		return nil
	}
	return &kymaset.Outcome{Failure: conditions.Truncate(err.Error(), maxFailure)}
}

// object returns a Kyma as an object, which is nil if there is none.
func object(k *v1alpha1.Kyma) metav1.Object {
	if k == nil {
		return nil
	}
	return k
}
