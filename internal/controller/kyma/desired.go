// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// An intent contains what a Kyma requests for all of its Manifests, independently of their modules.
type intent struct {
	// pause pauses the Manifests.
	pause bool
	// plan makes the Manifests report what they would do, and apply nothing.
	plan bool
	// execute applies changes that were only planned.
	execute bool
	// detach leaves the objects of a Manifest that is deleted in the cluster, without managing them.
	detach bool
	// abandon leaves behind the objects in a cluster that is no longer reachable.
	abandon bool
	// deleteAdopted is true if objects that existed before the modules adopted them must be deleted too.
	deleteAdopted bool
	// newCluster is the UID of the cluster in which the Manifests may continue, or empty.
	newCluster string
	// forceRemoval deletes custom resources that block the removal of a module.
	forceRemoval bool
	// policies contains the management policies for all Manifests. If it is nil, as for a Kyma that is paused, they stay as they are.
	policies xpv2.ManagementPolicies
	// controlPlane is the name of the ClusterProviderConfig for modules of the control plane.
	controlPlane string
}

// intentOf returns the intent of a Kyma.
func (c *connector) intentOf(k *v1alpha1.Kyma) intent {
	in := intentOf(k, c.policyOf(k))
	in.controlPlane = c.controlPlane
	return in
}

// isShared reports whether a Manifest is for the control plane, which other tenants use too, and not for the cluster of its Kyma.
func (in intent) isShared(k *v1alpha1.Kyma, m *v1alpha1.Manifest) bool {
	is, own := m.Spec.ProviderConfigReference, k.Spec.ProviderConfigReference
	return is != nil && is.Kind == v1alpha1.ClusterProviderConfigKind && is.Name == in.controlPlane && (own == nil || *is != *own)
}

// intentOf returns the intent of a Kyma whose modules are all in its own cluster.
func intentOf(k *v1alpha1.Kyma, policy managed.ManagementPoliciesChecker) intent {
	in := intent{pause: meta.IsPaused(k) || policy.IsPaused(), plan: isPlanned(k)}
	if isStopped(k, policy) {
		return in
	}
	in.newCluster = k.Annotations[v1alpha1.AnnotationClusterChanged]
	deleted := meta.WasDeleted(k)
	in.abandon = deleted && k.Annotations[v1alpha1.AnnotationAbandon] == "true"
	in.deleteAdopted = deleted && k.Annotations[v1alpha1.AnnotationDeleteAdopted] == "true"
	in.forceRemoval = deleted && k.Annotations[v1alpha1.AnnotationForceRemoval] == "true"
	in.policies = k.Spec.ManagementPolicies
	return in
}

// isStopped reports whether the managed reconciler does nothing for a Kyma: it is paused, or has unsupported policies.
func isStopped(k *v1alpha1.Kyma, policy managed.ManagementPoliciesChecker) bool {
	return meta.IsPaused(k) || policy.IsPaused() || policy.Validate() != nil
}

// isPlanned reports whether a Kyma is only planned: its Manifests report what they would do, and none is removed. A Kyma that
// is being deleted is not only planned.
func isPlanned(k *v1alpha1.Kyma) bool {
	return !meta.WasDeleted(k) && k.Spec.ForProvider.Mode == v1alpha1.ModePlan
}

// desiredLabels lists the keys of the labels that a Kyma sets on its Manifests.
var desiredLabels = []string{ //nolint:gochecknoglobals // Constant.
	v1alpha1.LabelKymaName, v1alpha1.LabelModuleName, v1alpha1.LabelChannel, v1alpha1.LabelManagedBy, v1alpha1.LabelControllerName,
}

// desiredManifest returns the Manifest of a module as its Kyma wants it: all fields that the Kyma decides, and no others. If
// content is nil, as for a module that is no longer wanted, the result keeps what the live Manifest installs. If live is nil,
// the Manifest does not exist yet. The result shares memory with the arguments.
func desiredManifest(k *v1alpha1.Kyma, in intent, content, live *v1alpha1.Manifest) *v1alpha1.Manifest {
	out := &v1alpha1.Manifest{}
	if live != nil {
		keep(out, live)
	}
	if live == nil || live.Annotations[v1alpha1.AnnotationReleasedBy] == "" {
		// While an owner exists, the garbage collector does not delete a Manifest that was released to it.
		out.OwnerReferences = []metav1.OwnerReference{meta.AsController(meta.TypedReferenceTo(k, v1alpha1.KymaGroupVersionKind))}
	}
	if content != nil {
		out.Namespace, out.Name, out.Labels, out.Spec = content.Namespace, content.Name, content.Labels, content.Spec
		if isDetached(out) {
			// The module is managed again, if its deletion has not begun.
			meta.RemoveAnnotations(out, v1alpha1.AnnotationDetach)
			out.ResourceVersion = live.ResourceVersion
		}
		// A user can also request an adoption on the Manifest.
		if live != nil && live.Spec.ForProvider.Adoption == v1alpha1.AdoptionPolicyAdopt {
			out.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt
		}
	}
	switch {
	case in.plan:
		out.Spec.ForProvider.Mode = v1alpha1.ModePlan
	case in.execute:
		out.Spec.ForProvider.Mode = v1alpha1.ModeApply
	}
	in.setPolicies(out)
	annotate(out, k, in, live)
	return out
}

// setPolicies sets the policies of a desired Manifest.
func (in intent) setPolicies(out *v1alpha1.Manifest) {
	switch {
	case in.detach:
		// Without the policy Delete, the labels would stay too.
		out.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	case in.policies != nil && !isDetached(out):
		out.Spec.ManagementPolicies = in.policies
	}
}

// keep copies to out the fields of a live Manifest that its Kyma has set.
func keep(out, live *v1alpha1.Manifest) {
	out.Namespace, out.Name, out.UID = live.Namespace, live.Name, live.UID
	out.Labels = maps.Clone(live.Labels)
	maps.DeleteFunc(out.Labels, func(key, _ string) bool { return !slices.Contains(desiredLabels, key) })
	if by := live.Annotations[v1alpha1.AnnotationPausedBy]; by != "" {
		meta.AddAnnotations(out, map[string]string{v1alpha1.AnnotationPausedBy: by})
		if v, ok := live.Annotations[meta.AnnotationKeyReconciliationPaused]; ok {
			meta.AddAnnotations(out, map[string]string{meta.AnnotationKeyReconciliationPaused: v})
		}
	}
	for _, key := range []string{v1alpha1.AnnotationAbandon, v1alpha1.AnnotationForceRemoval, v1alpha1.AnnotationDeleteAdopted, v1alpha1.AnnotationDetach} {
		if live.Annotations[key] == "true" {
			meta.AddAnnotations(out, map[string]string{key: "true"})
		}
	}
	out.Spec.ProviderConfigReference = live.Spec.ProviderConfigReference
	out.Spec.ManagementPolicies = live.Spec.ManagementPolicies
	out.Spec.ForProvider = live.Spec.ForProvider
}

// annotate sets the intent of a Kyma in the annotations of a desired Manifest. It does not take over a pause that a user requested.
func annotate(out *v1alpha1.Manifest, k *v1alpha1.Kyma, in intent, live *v1alpha1.Manifest) {
	switch {
	case !in.pause:
		meta.RemoveAnnotations(out, v1alpha1.AnnotationPausedBy, meta.AnnotationKeyReconciliationPaused)
	case live == nil || !meta.IsPaused(live):
		meta.AddAnnotations(out, map[string]string{meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: k.Name})
	}
	if in.detach {
		meta.AddAnnotations(out, map[string]string{v1alpha1.AnnotationDetach: "true"})
	}
	if in.abandon {
		meta.AddAnnotations(out, map[string]string{v1alpha1.AnnotationAbandon: "true"})
	}
	// Users of a Kyma can't delete what other tenants have in the control plane.
	shared := in.isShared(k, out)
	if in.deleteAdopted && !shared {
		meta.AddAnnotations(out, map[string]string{v1alpha1.AnnotationDeleteAdopted: "true"})
	}
	if in.newCluster != "" {
		meta.AddAnnotations(out, map[string]string{v1alpha1.AnnotationClusterChanged: in.newCluster})
	}
	if in.forceRemoval && !shared {
		meta.AddAnnotations(out, map[string]string{v1alpha1.AnnotationForceRemoval: "true"})
	}
}

// needsUpdate reports whether a live Manifest differs from the desired one in a field that its Kyma decides.
func needsUpdate(live, desired *v1alpha1.Manifest) bool {
	_, annotations := surplus(live, desired)
	if len(annotations) > 0 || differsInContent(live, desired) || !contains(live.Annotations, desired.Annotations) ||
		live.Spec.ForProvider.Mode != desired.Spec.ForProvider.Mode {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(live)
	return len(desired.OwnerReferences) == 0 && owner != nil && string(owner.UID) == live.Annotations[v1alpha1.AnnotationReleasedBy]
}

// differsInContent reports whether a live Manifest differs from the desired one in its content or labels. It ignores the mode.
func differsInContent(live, desired *v1alpha1.Manifest) bool {
	labels, _ := surplus(live, desired)
	is, wanted := live.Spec.ForProvider, desired.Spec.ForProvider
	is.Mode = wanted.Mode
	return len(labels) > 0 || !contains(live.Labels, desired.Labels) ||
		!slices.Equal(live.Spec.ManagementPolicies, desired.Spec.ManagementPolicies) ||
		!module.EqualParameters(&is, &wanted)
}

// contains reports whether all contains every entry of some.
func contains(all, some map[string]string) bool {
	for k, v := range some {
		if have, ok := all[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// maxLabel is the maximum length of the value of a label.
const maxLabel = 63

// contentOf returns the Manifest that a ModuleTemplate defines for a module: its content, its cluster, and its labels. The channel is empty
// if the module is pinned.
func (p *planner) contentOf(t *v1alpha1.ModuleTemplate, m *v1alpha1.Module, channel string) (*v1alpha1.Manifest, error) {
	parameters, err := module.Parameters(t, m)
	if err != nil {
		return nil, err
	}
	out := &v1alpha1.Manifest{}
	out.Namespace, out.Name = p.kyma.Namespace, naming.OfModule(p.kyma.Name, m.Name)
	out.Labels = map[string]string{
		v1alpha1.LabelKymaName:   naming.Shorten(p.kyma.Name, maxLabel),
		v1alpha1.LabelModuleName: m.Name,
		v1alpha1.LabelManagedBy:  v1alpha1.ManagedBy,
	}
	if channel != "" {
		out.Labels[v1alpha1.LabelChannel] = channel
	}
	if name, ok := t.Labels[v1alpha1.LabelControllerName]; ok {
		out.Labels[v1alpha1.LabelControllerName] = name
	}
	out.Spec.ForProvider, out.Spec.ProviderConfigReference = parameters, p.configOf(t)
	out.Spec.ManagementPolicies = p.kyma.Spec.ManagementPolicies
	if p.verified[*out.Spec.ProviderConfigReference] {
		err = addDescriptor(&out.Spec.ForProvider, t)
	}
	return out, err
}

// configOf returns the config of the cluster in which a module is installed.
func (p *planner) configOf(t *v1alpha1.ModuleTemplate) *xpv2.ProviderConfigReference {
	if t.Spec.Target == v1alpha1.ModuleTargetControlPlane {
		return p.controlPlane
	}
	return p.kyma.Spec.ProviderConfigReference
}

// addDescriptor adds the component descriptor that lists the sources, which is needed to verify signatures.
func addDescriptor(p *v1alpha1.ManifestParameters, t *v1alpha1.ModuleTemplate) error {
	if t.Spec.Component == nil {
		p.Descriptor = t.Spec.Descriptor
		return nil
	}
	if t.Status.Digest == "" {
		return errors.Errorf("ModuleTemplate %s has no digest in its status", t.Name)
	}
	p.Component = &v1alpha1.ComponentDigest{Component: *t.Spec.Component, Digest: t.Status.Digest}
	return nil
}
