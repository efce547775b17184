// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"fmt"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// An action is what is to be done about a module.
type action int

const (
	// leave the Manifest as it is.
	leave action = iota
	// create a Manifest.
	create
	// correct a Manifest that differs from what is wanted.
	correct
	// remove a Manifest.
	remove
)

// A step is what is to be done about one module, and what there is to say of it now.
type step struct {
	action action
	// live is the Manifest that exists, if any; it is shared with the cache and must not be changed.
	live *v1alpha1.Manifest
	// wanted is the Manifest to be created, or live as it should be.
	wanted *v1alpha1.Manifest
	// blocked says that a downgrade was asked for, and not done.
	blocked bool
	// enabled modules are those that the Kyma wants.
	enabled bool
	status  v1alpha1.ModuleStatus
}

// A planner says what has to be done for a Kyma. It reads what it is given, and changes nothing.
type planner struct {
	kyma *v1alpha1.Kyma
	// children are the Manifests of the Kyma, those included that are on their way out.
	children []*v1alpha1.Manifest
	// strangers are Manifests of others with a name that a module of the Kyma would have.
	strangers map[string]*v1alpha1.Manifest
	// templates of a module, in any channel.
	templates func(module string) []v1alpha1.ModuleTemplate
	// verified says whether a config asks for signatures.
	verified func(ref *xpv2.ProviderConfigReference) bool
	// controlPlane is the name of the ClusterProviderConfig for modules of the control plane.
	controlPlane string
}

// plan one step for each module that is wanted or still there, sorted by name.
func (p *planner) plan() []step {
	byName := make(map[string]*v1alpha1.Manifest, len(p.children))
	for _, c := range p.children {
		byName[c.Name] = c
	}
	modules := p.kyma.Spec.ForProvider.Modules
	out := make([]step, 0, len(modules)+len(p.children))
	for i := range modules {
		name := manifestName(p.kyma.Name, modules[i].Name)
		s := p.enabled(&modules[i], byName[name])
		p.carryOut(&s)
		out = append(out, s)
		delete(byName, name)
	}
	for _, c := range byName {
		out = append(out, p.disabled(c))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].status.Name < out[j].status.Name })
	return out
}

// disabled modules are removed, whatever their templates say.
func (p *planner) disabled(live *v1alpha1.Manifest) step {
	s := step{live: live, status: statusOf(live)}
	s.status.Name = moduleOf(p.kyma, live)
	switch {
	case s.status.State == v1alpha1.StateDeleting:
	case planned(p.kyma):
		s.status.State, s.status.Message = v1alpha1.StateProcessing, "plan: it would be removed with all that it has installed; nothing is applied"
	default:
		s.action = remove
		s.status.State, s.status.Message = v1alpha1.StateDeleting, ""
	}
	return s
}

// enabled modules are created, corrected, or left as they are.
func (p *planner) enabled(m *v1alpha1.Module, live *v1alpha1.Manifest) step {
	s := step{live: live, enabled: true}
	channel := channelOf(p.kyma, m)
	s.status = v1alpha1.ModuleStatus{State: v1alpha1.StateProcessing}
	if live != nil {
		s.status = statusOf(live)
	}
	s.status.Name = m.Name
	if s.status.Channel == "" {
		s.status.Channel = channel
	}
	if s.status.State == v1alpha1.StateDeleting {
		s.status.Message = "waits until what was installed before is removed" + colon(s.status.Message)
		return s
	}
	t, message := pick(p.templates(m.Name), m.Name, channel)
	if t == nil {
		s.fail(message)
		return s
	}
	ok, message := resolved(t)
	switch {
	case message != "":
		s.fail(message)
		return s
	case !ok:
		// What is Ready is not what the template asks for, as far as is known.
		if live == nil || s.status.State == v1alpha1.StateReady {
			s.status.State, s.status.Message = v1alpha1.StateProcessing, "waits for ModuleTemplate "+t.Name
		}
		return s
	}
	p.compare(&s, t, m)
	return s
}

// compare what is wanted with what there is.
func (p *planner) compare(s *step, t *v1alpha1.ModuleTemplate, m *v1alpha1.Module) {
	if s.live != nil && lowers(t, s.live) && !allowsDowngrade(p.kyma, t, s.live, m.Name) {
		s.blocked = true
		s.warn(fmt.Sprintf("channel %s has version %s, which is lower than %s that is installed, so that nothing is changed; "+
			"to go back to it, annotate the Kyma with %s=%s@%s", t.Spec.Channel, t.Status.Version, installedVersion(s.live),
			v1alpha1.AnnotationAllowDowngrade, m.Name, t.Status.Version))
		return
	}
	wanted, err := p.manifestOf(t, m)
	if err != nil {
		s.fail(err.Error())
		return
	}
	if s.live == nil {
		p.create(s, wanted)
		return
	}
	if *s.live.Spec.ProviderConfigReference != *wanted.Spec.ProviderConfigReference {
		if planned(p.kyma) {
			s.status.State, s.status.Message = v1alpha1.StateProcessing, "plan: it would move to another cluster; nothing is applied"
			return
		}
		// A Manifest cannot move. It is made again once it is gone.
		s.action = remove
		s.status.State, s.status.Message = v1alpha1.StateDeleting, "moves to another cluster"
		return
	}
	out, differs := corrected(s.live, wanted)
	if differs {
		s.action, s.wanted = correct, out
		if s.status.State == v1alpha1.StateReady {
			s.status.State, s.status.Message = v1alpha1.StateProcessing, ""
		}
	}
}

func (p *planner) create(s *step, wanted *v1alpha1.Manifest) {
	if other := p.strangers[wanted.Name]; other != nil {
		s.fail(collision(other))
		return
	}
	s.action, s.wanted = create, wanted
	s.status.Manifest = wanted.Name
	s.status.Version, s.status.Channel = wanted.Spec.ForProvider.Version, wanted.Labels[v1alpha1.LabelChannel]
}

// collision with a Manifest of somebody else.
func collision(other *v1alpha1.Manifest) string {
	return fmt.Sprintf("Manifest %s exists and does not belong to this Kyma%s; delete it, or rename one of the two", other.Name, ownerOf(other))
}

func ownerOf(m *v1alpha1.Manifest) string {
	if c := metav1.GetControllerOf(m); c != nil {
		return fmt.Sprintf(", but to %s %s", c.Kind, c.Name)
	}
	return ""
}

// fail says that the module cannot be brought into the state that is wanted. What runs goes on running.
func (s *step) fail(message string) {
	s.status.State, s.status.Message = v1alpha1.StateError, cut(message)
}

// warn unless something is worse.
func (s *step) warn(message string) {
	if worse(v1alpha1.StateWarning, s.status.State) {
		s.status.State, s.status.Message = v1alpha1.StateWarning, cut(message)
	}
}

// moduleOf a Manifest. A label that somebody has changed does not count, so that no two have the same.
func moduleOf(k *v1alpha1.Kyma, m *v1alpha1.Manifest) string {
	if n := m.Labels[v1alpha1.LabelModuleName]; n != "" && manifestName(k.Name, n) == m.Name {
		return n
	}
	return strings.TrimPrefix(m.Name, k.Name+"-")
}

// onItsWayOut says that a Manifest is being deleted, or will be as soon as the garbage collector comes by.
func onItsWayOut(m *v1alpha1.Manifest) bool {
	return meta.WasDeleted(m) || m.Annotations[v1alpha1.AnnotationReleasedBy] != ""
}

func colon(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}
