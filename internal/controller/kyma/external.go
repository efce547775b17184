// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
)

// A connector returns an external client for each reconcile. It opens no connection: the external resource of a Kyma is in the control plane.
type connector struct {
	store        *store
	usage        resource.ModernTracker
	record       event.Recorder
	priorities   *priority.Tracker
	controlPlane string
	// policies is set if spec.managementPolicies take effect.
	policies bool
	// firstUpdate is set if Update can perform the first install; see settings.IsFirstUpdate.
	firstUpdate bool
	// now returns the current time. If it is nil, the time of the system is used.
	now func() time.Time
}

// currentTime returns the current time.
func (c *connector) currentTime() time.Time {
	if c.now == nil {
		return time.Now()
	}
	return c.now()
}

// Connect tracks the usage of the ProviderConfig and returns an external client.
func (c *connector) Connect(ctx context.Context, k *v1alpha1.Kyma) (managed.TypedExternalClient[*v1alpha1.Kyma], error) {
	if !meta.WasDeleted(k) {
		if err := c.trackUsage(ctx, k); err != nil {
			return nil, errors.Wrap(err, "cannot track usage of the ProviderConfig")
		}
	}
	return &external{connector: c}, nil
}

// trackUsage tracks the usage of the ProviderConfig by a Kyma, which includes its Manifests. Manifests with another one have usages
// of their own. If the reference of the Kyma has changed, these must exist before its usage changes, so that the previous config
// stays until the Manifests in its cluster are removed.
func (c *connector) trackUsage(ctx context.Context, k *v1alpha1.Kyma) error {
	manifests, err := c.store.manifests(ctx, k)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		if ref := m.Spec.ProviderConfigReference; ref == nil || k.Spec.ProviderConfigReference == nil || *ref == *k.Spec.ProviderConfigReference {
			continue
		}
		m = m.DeepCopy()
		m.SetGroupVersionKind(v1alpha1.ManifestGroupVersionKind)
		if err := c.usage.Track(ctx, m); err != nil {
			return err //nolint:wrapcheck // The caller wraps it.
		}
	}
	return c.usage.Track(ctx, k) //nolint:wrapcheck // The caller wraps it.
}

// policyOf returns a checker of the management policies of a Kyma.
func (c *connector) policyOf(k *v1alpha1.Kyma) managed.ManagementPoliciesChecker {
	return settings.CheckerOf(c.policies, k.Spec.ManagementPolicies)
}

// An external is the external client of one reconcile: Observe plans, and the other methods execute the plan. A reconcile
// reports once: in Update if the managed reconciler calls it, and otherwise in Observe. Create does not report, because the
// managed reconciler reads the Kyma again after it and loses its status.
type external struct {
	connector *connector
	steps     []step
}

// Observe plans the steps for the modules. A Kyma without modules exists once Create has set its external name.
func (e *external) Observe(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalObservation, error) {
	manifests, err := e.connector.store.manifests(ctx, k)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if meta.WasDeleted(k) {
		return e.observeDeletion(ctx, k, manifests)
	}
	p, err := e.connector.newPlanner(ctx, k, manifests)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	e.steps = p.plan()
	requestWakeUp(ctx, k, e.steps)
	upToDate := !slices.ContainsFunc(e.steps, func(s step) bool { return s.action != actionNone })
	exists := len(manifests) > 0 || meta.GetExternalName(k) != "" && !e.isInterrupted(k)
	refs, policy := references(e.steps), e.connector.policyOf(k)
	switch {
	case exists:
		upToDate = upToDate && slices.Equal(k.Spec.ResourceRefs, refs)
	case e.connector.firstUpdate && settings.IsFirstUpdate(k, k.Name, policy.ShouldCreate(), policy.ShouldUpdate()):
		// The managed reconciler writes both with the finalizer, and then calls Update.
		meta.SetExternalName(k, k.Name)
		k.Spec.ResourceRefs = refs
		exists, upToDate = true, false
	default:
		// The managed reconciler writes the references with other fields before it calls Create.
		k.Spec.ResourceRefs = refs
	}
	e.removeCauses()
	e.reportWithoutUpdate(k, exists, upToDate)
	return managed.ExternalObservation{ResourceExists: exists, ResourceUpToDate: upToDate, Diff: describe(e.steps)}, nil
}

// isInterrupted reports whether the process ended before Update could perform the first install, and Update is not allowed any longer.
func (e *external) isInterrupted(k *v1alpha1.Kyma) bool {
	return k.Status.ObservedGeneration == 0 && !e.connector.policyOf(k).ShouldUpdate() &&
		slices.ContainsFunc(e.steps, func(s step) bool { return s.action == actionCreate })
}

// reportWithoutUpdate reports the modules, unless the managed reconciler calls Update next, which then reports them.
func (e *external) reportWithoutUpdate(k *v1alpha1.Kyma, exists, upToDate bool) {
	policy := e.connector.policyOf(k)
	switch {
	case exists && upToDate:
		e.report(k)
	case upToDate || !policy.ShouldUpdate() || !exists && policy.ShouldCreate():
		report(k, e.steps)
	}
}

// observeDeletion reports whether any Manifest exists. The finalizer depends on the answer, so observeDeletion reads from the
// API server: a Manifest may not be in the cache yet.
func (e *external) observeDeletion(ctx context.Context, k *v1alpha1.Kyma, manifests []*v1alpha1.Manifest) (managed.ExternalObservation, error) {
	left := true
	if len(manifests) == 0 {
		var err error
		if left, err = e.connector.store.hasUnknown(ctx, k, nil); err != nil {
			return managed.ExternalObservation{}, err
		}
	}
	e.steps = planRemoval(k, e.connector.intentOf(k), manifests)
	report(k, e.steps)
	return managed.ExternalObservation{ResourceExists: left, ResourceUpToDate: true}, nil
}

// planRemoval plans the removal of all Manifests.
func planRemoval(k *v1alpha1.Kyma, in intent, manifests []*v1alpha1.Manifest) []step {
	return (&planner{kyma: &v1alpha1.Kyma{ObjectMeta: k.ObjectMeta}, deleted: k, intent: in, manifests: manifests}).plan()
}

// describe returns a text that describes the steps.
func describe(steps []step) string {
	words := map[action]string{actionCreate: "installed", actionPropagate: "changed", actionRollOut: "changed", actionDelete: "removed"}
	var lines []string
	for i := range steps {
		if s := &steps[i]; s.action != actionNone {
			lines = append(lines, fmt.Sprintf("%s will be %s", s.status.Name, words[s.action]))
		}
	}
	return strings.Join(lines, "; ")
}

// Create creates the Manifests of all modules.
func (e *external) Create(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalCreation, error) {
	meta.SetExternalName(k, k.Name)
	return managed.ExternalCreation{}, e.execute(ctx, k)
}

// Update updates the Manifests and reports the result.
func (e *external) Update(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalUpdate, error) {
	err := errors.Join(e.execute(ctx, k), e.updateReferences(ctx, k))
	e.report(k)
	return managed.ExternalUpdate{}, err
}

// report reports the modules in the status, and changes for the worse in events.
func (e *external) report(k *v1alpha1.Kyma) {
	before := k.Status.AtProvider.Modules
	report(k, e.steps)
	e.recordEvents(k, before)
}

// Delete deletes the Manifests. The managed reconciler does not call it while all of them are being deleted.
func (e *external) Delete(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, e.execute(ctx, k)
}

// Disconnect does nothing.
func (e *external) Disconnect(context.Context) error { return nil }

// execute executes all steps. If a step fails, the others still run.
func (e *external) execute(ctx context.Context, k *v1alpha1.Kyma) error {
	var failed []error
	var enabled []string
	for i := range e.steps {
		s := &e.steps[i]
		applied, err := e.executeStep(ctx, k, s)
		if err != nil {
			err = errors.Wrapf(err, "module %s", s.status.Name)
			s.fail(err.Error())
			failed = append(failed, err)
		}
		if applied && s.action == actionCreate {
			enabled = append(enabled, fmt.Sprintf("module %s, version %s in channel %s, as Manifest %s",
				s.status.Name, s.status.Version, s.status.Channel, s.desired.Name))
		}
	}
	e.recordEnabled(k, enabled)
	return errors.Join(failed...)
}

// executeStep executes one step, and reports whether it applied the desired Manifest.
func (e *external) executeStep(ctx context.Context, k *v1alpha1.Kyma, s *step) (applied bool, err error) {
	if s.action == actionNone {
		return false, nil
	}
	if s.desired != nil {
		// If no edit of the Kyma waits for the write, it is part of a rollout.
		causes := e.connector.priorities
		causes.SetCause(client.ObjectKeyFromObject(s.desired), causes.PriorityOf(client.ObjectKeyFromObject(k), priority.Rollout))
		// If another Manifest has replaced this one, the next pass handles it.
		if applied, err = e.connector.store.apply(ctx, k, s.desired); err != nil || !applied {
			return false, err
		}
	}
	switch s.action {
	case actionRollOut:
		s.setVersion()
		e.recordUpgrade(k, s)
	case actionDelete:
		if err := e.connector.store.remove(ctx, k, s.live); err != nil {
			return applied, err
		}
		e.recordRemoval(k, s)
	case actionNone, actionCreate, actionPropagate:
	}
	return applied, nil
}

// removeCauses forgets why Manifests were written that are Ready in their desired form.
func (e *external) removeCauses() {
	for i := range e.steps {
		if s := &e.steps[i]; s.action == actionNone && s.live != nil && s.status.State == v1alpha1.StateReady {
			e.connector.priorities.RemoveCause(client.ObjectKeyFromObject(s.live))
		}
	}
}

// references returns references to the Manifests of the modules that the Kyma has. Tools follow them to show a tree.
func references(steps []step) []v1alpha1.ManifestReference {
	var out []v1alpha1.ManifestReference
	for i := range steps {
		s := &steps[i]
		m := s.live
		if s.action == actionCreate {
			m = s.desired
		}
		if s.demand != unwanted && m != nil {
			out = append(out, v1alpha1.ManifestReference{
				APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.ManifestKind, Name: m.Name,
			})
		}
	}
	return out
}

// updateReferences writes the references to the spec of a Kyma if they differ. The Kyma in memory stays as it was planned. It
// gets the version and generation of the write only if nothing else in the spec has changed: otherwise its status would apply
// to a spec that was not planned. In that case, the update of the status causes a conflict.
func (e *external) updateReferences(ctx context.Context, k *v1alpha1.Kyma) error {
	refs := references(e.steps)
	if slices.Equal(k.Spec.ResourceRefs, refs) {
		return nil
	}
	out := k.DeepCopy()
	out.Spec.ResourceRefs = refs
	if err := e.connector.store.client.Patch(ctx, out, client.MergeFrom(k.DeepCopy()), client.FieldOwner(fieldManager)); err != nil {
		return errors.Wrap(err, "cannot set spec.resourceRefs")
	}
	k.Spec.ResourceRefs = refs
	if !equality.Semantic.DeepEqual(k.Spec, out.Spec) {
		return nil
	}
	k.ResourceVersion, k.Generation = out.ResourceVersion, out.Generation
	return nil
}
