// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Part is the record of one part of a bundle: an install, the CRDs, or the custom resource.
type Part struct {
	// Digest of the inputs that were applied completely; empty until all objects of the part were applied.
	Digest string `json:"digest,omitempty"`
	// Namespace of the release, empty for none. Release is its name where that is not the name of the part. Former and
	// FormerRelease are those of the release before a move, until its records are deleted.
	Namespace     string `json:"namespace,omitempty"`
	Release       string `json:"release,omitempty"`
	Former        string `json:"former,omitempty"`
	FormerRelease string `json:"formerRelease,omitempty"`
	// Chart is the name of the chart, and Version its version.
	Chart   string `json:"chart,omitempty"`
	Version string `json:"version,omitempty"`
	// Revision of the Helm release; 0 for none.
	Revision int `json:"revision,omitempty"`
	// Origin is the number of revisions that failed before the first deployed one.
	Origin int `json:"origin,omitempty"`
	// Run of hooks that is not over or has failed; nil for none.
	Run *Run `json:"run,omitempty"`
	// DeleteHooks and TestHooks are true where the chart has such hooks, which the record of the release contains. HookTimeout is
	// the timeout of each hook, and of an atomic upgrade, in seconds; 0 for the default of Helm.
	DeleteHooks bool  `json:"deleteHooks,omitempty"`
	TestHooks   bool  `json:"testHooks,omitempty"`
	HookTimeout int64 `json:"hookTimeout,omitempty"`
	// Wait, Atomic and Own are flags of the config: hold back the parts after this one until it is ready, roll back a failed
	// upgrade, take over existing objects.
	Wait   bool `json:"wait,omitempty"`
	Atomic bool `json:"atomic,omitempty"`
	Own    bool `json:"own,omitempty"`
	// Shared are the names of CRDs that this part contains, too, and that belong to a part before it.
	Shared []string `json:"shared,omitempty"`
}

// ReleaseOf returns the release of the part, whose ID is given.
func (r *Part) ReleaseOf(part object.PartID) Release {
	if r.Namespace == "" {
		return Release{}
	}
	return Release{Namespace: r.Namespace, Name: cmp.Or(r.Release, part.Install())}
}

// FormerReleaseOf returns the release that the part, whose ID is given, had before it moved, as long as its records may exist.
func (r *Part) FormerReleaseOf(part object.PartID) Release {
	if r.Former == "" {
		return Release{}
	}
	return Release{Namespace: r.Former, Name: cmp.Or(r.FormerRelease, part.Install())}
}

// MoveRelease sets the release of the part, whose ID is given, and the former one.
func (r *Part) MoveRelease(part object.PartID, from, to Release) {
	r.Namespace, r.Release = to.Namespace, to.Name
	r.Former, r.FormerRelease = from.Namespace, from.Name
	if r.Release == part.Install() {
		r.Release = ""
	}
	if r.FormerRelease == part.Install() {
		r.FormerRelease = ""
	}
}

// DefaultHookTimeout is the timeout of hooks in Helm.
const DefaultHookTimeout = 5 * time.Minute

// HookTimeoutOf returns the timeout of each hook.
func (r *Part) HookTimeoutOf() time.Duration {
	if r.HookTimeout > 0 {
		return time.Duration(r.HookTimeout) * time.Second
	}
	return DefaultHookTimeout
}

// Resumes reports whether the run of hooks is for these inputs and goes on. No hook has run where the revision is not recorded:
// the next revision must be determined again then.
func (r *Part) Resumes(inputs, retry string) bool {
	return r.Run != nil && r.Run.Recorded && r.Run.Inputs == inputs && (r.Run.Failed == "" || r.Run.Retry == retry)
}

// A Stuck part is one of which a hook failed, so that none of its hooks runs and no revision follows until its inputs change or the hooks
// are to be tried again.
type Stuck struct {
	// Reason is why the hook failed.
	Reason string
	// ObjectsApplied is true where it failed after the objects of the part were applied. They are repaired.
	ObjectsApplied bool
}

// NeedsStep reports whether a step does something for the part, of which objects are not as they were applied or not.
func (s Stuck) NeedsStep(unfinished bool) bool { return s.ObjectsApplied && unfinished }

// Stuck reports whether a hook failed for these inputs.
func (r *Part) Stuck(inputs, retry string) (s Stuck, stuck bool) {
	if !r.Resumes(inputs, retry) || !r.Run.Over || r.Run.Failed == "" {
		return Stuck{}, false
	}
	return Stuck{Reason: r.Run.Failed, ObjectsApplied: r.Run.Event.IsPost()}, true
}

// A Release names a Helm release. The zero value stands for none.
type Release struct {
	Namespace, Name string
}

// IsZero reports whether there is no release.
func (r Release) IsZero() bool { return r == Release{} }

// MayPrune reports whether an object is part of a release that the engine did not install, and may be deleted with it.
func (r Release) MayPrune(m *metav1.PartialObjectMetadata) bool {
	part := m.Annotations[object.AnnotationReleaseName] == r.Name && m.Annotations[object.AnnotationReleaseNamespace] == r.Namespace
	return part && m.Labels[object.LabelPartOf] == "" && !object.Keeps(m.Annotations)
}
