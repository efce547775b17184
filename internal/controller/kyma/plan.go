// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/unmanaged"
)

// An action is the change that a step makes to a Manifest.
type action string

const (
	actionNone   action = ""
	actionCreate action = "Create"
	// actionPropagate updates the fields that a Kyma propagates to a Manifest, and does not change what is installed.
	actionPropagate action = "Propagate"
	// actionRollOut updates the Manifest, including what it installs.
	actionRollOut action = "RollOut"
	// actionDelete deletes the Manifest, which uninstalls the module.
	actionDelete action = "Delete"
)

// A demand is the state that the Kyma wants for a module.
type demand string

const (
	// unwanted means that the Kyma does not have the module.
	unwanted demand = ""
	// wanted means that the Kyma has the module.
	wanted demand = "Wanted"
	// held means that the Kyma has the module, but the module stays as it is because its channel has a lower version.
	held demand = "Held"
)

// A step is the planned action for one module, and the status of the module.
type step struct {
	action action
	demand demand
	// live is the existing Manifest, or nil. It is shared with the cache: do not change it.
	live *v1alpha1.Manifest
	// desired is the Manifest to apply. With actionDelete it is nil unless the live Manifest differs.
	desired *v1alpha1.Manifest
	// planned is set if the module is only planned: the Kyma or the module is in mode Plan.
	planned bool
	status  v1alpha1.ModuleStatus
	// stalled is true if the module does not change until someone changes something.
	stalled bool
	// wake is when an upgrade that waits may begin, or zero.
	wake time.Time
	// urgency is why an upgrade does not wait, or empty.
	urgency string
	// choice is the version in the catalogue that the Kyma has now.
	choice catalogue.Choice
}

// A planner decides the steps of a Kyma. It does not change its inputs.
type planner struct {
	kyma *v1alpha1.Kyma
	// deleted is the Kyma if it is being deleted, or nil. kyma has no modules then.
	deleted *v1alpha1.Kyma
	intent  intent
	// manifests lists the Manifests of the Kyma, including those that are being deleted.
	manifests []*v1alpha1.Manifest
	// foreign contains, by name, the Manifests of other owners whose name a module of the Kyma needs.
	foreign map[string]*v1alpha1.Manifest
	// modules lists the modules that the Kyma enables, and those that are mandatory for it.
	modules []v1alpha1.Module
	// mandatory contains the names of the modules that are mandatory.
	mandatory map[string]bool
	// catalogues contains the versions of the modules, by module.
	catalogues map[string]*catalogue.Catalogue
	// verified contains, for each config, whether it requires signatures.
	verified map[xpv2.ProviderConfigReference]bool
	// controlPlane is the config for modules of the control plane.
	controlPlane *xpv2.ProviderConfigReference
	// now is the current time.
	now time.Time
}

// newPlanner returns a planner with all inputs: templates, Manifests and configs.
func (c *connector) newPlanner(ctx context.Context, k *v1alpha1.Kyma, manifests []*v1alpha1.Manifest) (*planner, error) {
	p := &planner{
		kyma: k, intent: c.intentOf(k), manifests: manifests, foreign: map[string]*v1alpha1.Manifest{},
		catalogues: map[string]*catalogue.Catalogue{}, verified: map[xpv2.ProviderConfigReference]bool{},
		controlPlane: &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: c.controlPlane},
		now:          c.currentTime(),
	}
	mandatory, err := c.store.mandatory(ctx, k)
	if err != nil {
		return nil, err
	}
	p.addModules(mandatory)
	for i := range p.modules {
		module := p.modules[i].Name
		var err error
		if p.catalogues[module], err = c.store.catalogue(ctx, module); err != nil {
			return nil, err
		}
		name := naming.OfModule(k.Name, module)
		if slices.ContainsFunc(manifests, func(m *v1alpha1.Manifest) bool { return m.Name == name }) {
			continue
		}
		other, err := getManifest(ctx, c.store.client, k.Namespace, name)
		if err != nil {
			return nil, err
		}
		if other != nil && ownerUID(other) != k.UID {
			p.foreign[name] = other
		}
	}
	return p, c.addConfigs(ctx, p)
}

// addConfigs sets for the configs of the Kyma and of the control plane whether they require signatures.
func (c *connector) addConfigs(ctx context.Context, p *planner) error {
	for _, ref := range []*xpv2.ProviderConfigReference{p.kyma.Spec.ProviderConfigReference, p.controlPlane} {
		// A config that does not exist yet requires no signatures; the Manifests report that it is missing.
		cfg, err := config.Load(ctx, c.store.client, p.kyma.Namespace, ref)
		if missing := (*config.MissingError)(nil); errors.As(err, &missing) {
			continue
		}
		if err != nil {
			return err
		}
		v := cfg.Spec.Verification
		p.verified[*ref] = v != nil && v.Mode != v1alpha1.VerificationOff && v.Mode != ""
	}
	return nil
}

// plan returns one step for each module that the Kyma has or that has a Manifest, sorted by name.
func (p *planner) plan() []step {
	byName := make(map[string]*v1alpha1.Manifest, len(p.manifests))
	for _, m := range p.manifests {
		byName[m.Name] = m
	}
	out := make([]step, 0, len(p.modules)+len(p.manifests))
	for i := range p.modules {
		name := naming.OfModule(p.kyma.Name, p.modules[i].Name)
		out = append(out, p.planEnabled(&p.modules[i], byName[name]))
		delete(byName, name)
	}
	for _, m := range byName {
		out = append(out, p.planDisabled(m))
	}
	for i := range out {
		p.passIntent(&out[i])
	}
	sort.Slice(out, func(i, j int) bool { return out[i].status.Name < out[j].status.Name })
	return out
}

// passIntent passes the intent of the Kyma to a Manifest whose content stays as it is.
func (p *planner) passIntent(s *step) {
	if s.live == nil || s.desired != nil {
		return
	}
	in := p.intent
	in.plan = s.planned
	// If the version is installed already, executing it changes nothing in the cluster.
	in.execute = !in.plan && s.demand != unwanted && s.action == actionNone && s.live.Spec.ForProvider.Version == s.live.Status.AtProvider.Version
	desired := desiredManifest(p.kyma, in, nil, s.live)
	if !needsUpdate(s.live, desired) {
		return
	}
	s.desired = desired
	if s.action == actionNone {
		s.action = actionPropagate
	}
}

// planDisabled plans the removal of a module that the Kyma does not have, regardless of its ModuleTemplates.
func (p *planner) planDisabled(live *v1alpha1.Manifest) step {
	s := step{live: live, planned: p.intent.plan, status: statusOf(live)}
	s.status.Name = moduleOf(p.kyma, live)
	if isDetached(live) || p.deleted != nil && unmanaged.IsLeft(p.deleted, live) {
		planDetach(p, &s) // Its Kyma requested this before.
		return s
	}
	if s.status.State != v1alpha1.StateDeleting {
		p.remove(&s, "the module would be uninstalled", "")
	}
	return s
}

// planEnabled plans the step for a module that the Kyma has.
func (p *planner) planEnabled(m *v1alpha1.Module, live *v1alpha1.Manifest) step {
	s := step{live: live, demand: wanted, planned: p.intent.plan || m.Mode == v1alpha1.ModePlan}
	if unmanaged.Is(m) && !p.mandatory[m.Name] {
		return planUnmanaged(p, s, m)
	}
	s.choice = p.choose(m, live)
	s.status = v1alpha1.ModuleStatus{State: v1alpha1.StateProcessing, Reason: string(v1alpha1.ReasonProgressing)}
	if live != nil {
		s.status = statusOf(live)
		s.stalled = isStalled(live) && (s.status.State == v1alpha1.StateError || s.status.State == v1alpha1.StateWarning)
	}
	s.status.Name, s.status.Channel, s.status.PendingVersion = m.Name, cmp.Or(s.status.Channel, s.choice.Channel), s.choice.Pending
	if p.mandatory[m.Name] {
		s.status.Origin = v1alpha1.ModuleOriginMandatory
	}
	if s.status.State == v1alpha1.StateDeleting {
		setState(&s.status, s.status.State, xpv2.ConditionReason(s.status.Reason),
			strings.TrimSuffix("waiting for the previous installation to be removed: "+s.status.Message, ": "))
		return s
	}
	p.follow(&s, m)
	return s
}

// follow plans the step for a module with the version of the catalogue that the Kyma has now.
func (p *planner) follow(s *step, m *v1alpha1.Module) {
	t, message := s.choice.Template, s.choice.Error
	ok := false
	if t != nil {
		ok, message = catalogue.IsResolved(t)
	}
	switch {
	case message != "":
		s.fail(message)
	case t == nil && s.live == nil:
		setState(&s.status, v1alpha1.StateProcessing, v1alpha1.ReasonBlocked, s.choice.Message)
	case t == nil:
		s.note(s.choice.Message)
	case !ok:
		// It is unknown whether the content that is Ready is what the template requests.
		if s.live == nil || s.status.State == v1alpha1.StateReady {
			setState(&s.status, v1alpha1.StateProcessing, v1alpha1.ReasonBlocked, "waiting for ModuleTemplate "+t.Name+
				" to be resolved")
		}
	default:
		p.compare(s, t, m)
		s.note(s.choice.Message)
		p.warnAboutIgnored(s, m)
	}
}

// note adds a message to the status of a module that works, or that has none.
func (s *step) note(message string) {
	if message != "" && s.action != actionRollOut && s.action != actionCreate && (s.status.State == v1alpha1.StateReady || s.status.Message == "") {
		s.status.Message = message
	}
}

// compare compares the desired Manifest of a module with the live one, and sets the action.
func (p *planner) compare(s *step, t *v1alpha1.ModuleTemplate, m *v1alpha1.Module) {
	if s.live != nil && isDowngrade(t, s.live) && !s.choice.AllowsDowngrade && !allowsDowngrade(p.kyma, t, s.live, m.Name) {
		s.demand = held
		s.holdBack(fmt.Sprintf("channel %s has version %s, which is lower than the installed version %s, so the module is "+
			"not changed; to downgrade, annotate the Kyma with %s=%s@%s", s.choice.Channel, t.Status.Version, installedVersion(s.live),
			v1alpha1.AnnotationAllowDowngrade, m.Name, t.Status.Version))
		return
	}
	if t = p.postpone(s, t, m); t == nil {
		return
	}
	c, err := p.contentOf(t, m, s.choice.Channel)
	if err != nil {
		s.refuse(err.Error())
		return
	}
	if s.live != nil && *s.live.Spec.ProviderConfigReference != *c.Spec.ProviderConfigReference {
		// The cluster of a Manifest cannot change: the Manifest is deleted, and created again once it is gone.
		p.remove(s, "the module would move to another cluster", "moving to another cluster")
		return
	}
	in := p.intent
	in.plan = s.planned
	s.desired = desiredManifest(p.kyma, in, c, s.live)
	if s.live == nil {
		p.create(s)
		return
	}
	if needsUpdate(s.live, s.desired) {
		s.update()
	}
}

// update makes the step update the live Manifest.
func (s *step) update() {
	s.action = updateOf(s.live, s.desired)
	s.stalled = s.stalled && s.action != actionRollOut
	if s.action == actionRollOut && (s.status.State == v1alpha1.StateReady || s.live.Spec.ForProvider.Version != s.desired.Spec.ForProvider.Version) {
		setState(&s.status, v1alpha1.StateProcessing, v1alpha1.ReasonProgressing, "")
	}
}

// updateOf returns the action that updates a live Manifest: actionRollOut if its content differs or a change that was only
// planned is executed, and actionPropagate otherwise.
func updateOf(live, desired *v1alpha1.Manifest) action {
	executes := live.Spec.ForProvider.Mode == v1alpha1.ModePlan && desired.Spec.ForProvider.Mode != v1alpha1.ModePlan
	if executes || differsInContent(live, desired) {
		return actionRollOut
	}
	return actionPropagate
}

// remove plans the removal of the live Manifest, unless it is only planned.
func (p *planner) remove(s *step, planned, message string) {
	if s.planned {
		setState(&s.status, v1alpha1.StateProcessing, v1alpha1.ReasonPlanned, "plan only, nothing is applied: "+planned)
		return
	}
	s.action, s.stalled = actionDelete, false
	setState(&s.status, v1alpha1.StateDeleting, xpv2.ReasonDeleting, message)
}

// create plans the creation of the desired Manifest, unless its name is taken.
func (p *planner) create(s *step) {
	if other := p.foreign[s.desired.Name]; other != nil {
		s.refuse(collision(other))
		return
	}
	s.action = actionCreate
	s.status.Manifest = s.desired.Name
	s.setVersion()
}

// setVersion sets the version and the channel of the desired Manifest in the status.
func (s *step) setVersion() {
	s.status.Version, s.status.Channel, s.status.RolledBackFrom = s.desired.Spec.ForProvider.Version, s.desired.Labels[v1alpha1.LabelChannel], ""
}

// collision returns a message about a Manifest of another owner.
func collision(other *v1alpha1.Manifest) string {
	owner := ""
	if c := metav1.GetControllerOf(other); c != nil {
		owner = fmt.Sprintf(", but to %s %s", c.Kind, c.Name)
	}
	return fmt.Sprintf("Manifest %s already exists and does not belong to this Kyma%s; delete it, or rename one of the two", other.Name, owner)
}

// fail sets the state Error: the module cannot reach the desired state until something else changes. Running workloads keep running.
func (s *step) fail(message string) {
	setState(&s.status, v1alpha1.StateError, v1alpha1.ReasonBlocked, message)
	s.stalled = false
}

// refuse sets the state Error, like fail, and marks the module as stalled: someone must change the Kyma or a Manifest of another owner.
func (s *step) refuse(message string) {
	s.fail(message)
	s.stalled = true
}

// holdBack sets the state Warning, unless the state is worse, and marks the module as stalled: someone must allow the downgrade.
func (s *step) holdBack(message string) {
	if isWorse(v1alpha1.StateWarning, s.status.State) {
		setState(&s.status, v1alpha1.StateWarning, v1alpha1.ReasonDowngradeBlocked, message)
		s.stalled = true
	}
}

// moduleOf returns the module of a Manifest. It ignores a label that a user has changed, so that no two Manifests have the same module.
func moduleOf(k *v1alpha1.Kyma, m *v1alpha1.Manifest) string {
	if n := m.Labels[v1alpha1.LabelModuleName]; n != "" && naming.OfModule(k.Name, n) == m.Name {
		return n
	}
	return strings.TrimPrefix(m.Name, k.Name+"-")
}

// isBeingDeleted reports whether a Manifest is being deleted, or will be deleted by the garbage collector.
func isBeingDeleted(m *v1alpha1.Manifest) bool {
	return meta.WasDeleted(m) || m.Annotations[v1alpha1.AnnotationReleasedBy] != ""
}

// installedVersion returns the installed version of a Manifest. A version that is only planned is not installed.
func installedVersion(m *v1alpha1.Manifest) string {
	if m.Spec.ForProvider.Mode == v1alpha1.ModePlan {
		return m.Status.AtProvider.Version
	}
	return m.Spec.ForProvider.Version
}
