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
	// Digest of the inputs that were applied completely. It is empty until all objects of the part are applied.
	Digest string `json:"digest,omitempty"`
	// Namespace of the release, or empty if there is none. Release is its name, if it differs from that of the part. Former and
	// FormerRelease name the release before a move, until its records are deleted.
	Namespace     string `json:"namespace,omitempty"`
	Release       string `json:"release,omitempty"`
	Former        string `json:"former,omitempty"`
	FormerRelease string `json:"formerRelease,omitempty"`
	// Chart and Version of the chart.
	Chart   string `json:"chart,omitempty"`
	Version string `json:"version,omitempty"`
	// Revision of the Helm release. 0 means none.
	Revision int `json:"revision,omitempty"`
	// Origin is the number of revisions that failed before the first deployed one.
	Origin int `json:"origin,omitempty"`
	// Run of hooks that is not over or has failed, or nil.
	Run *Run `json:"run,omitempty"`
	// DeleteHooks and TestHooks are true if the chart has such hooks. The record of the release contains them. HookTimeout is the
	// timeout of each hook, and of an atomic upgrade, in seconds. 0 means Helm's default.
	DeleteHooks bool  `json:"deleteHooks,omitempty"`
	TestHooks   bool  `json:"testHooks,omitempty"`
	HookTimeout int64 `json:"hookTimeout,omitempty"`
	// Wait, Atomic and Own are flags of the config. Wait holds the following parts until this one is ready. Atomic rolls back a
	// failed upgrade. Own adopts existing objects.
	Wait   bool `json:"wait,omitempty"`
	Atomic bool `json:"atomic,omitempty"`
	Own    bool `json:"own,omitempty"`
	// Shared are the names of CRDs that this part contains but an earlier part owns.
	Shared []string `json:"shared,omitempty"`
}

// ReleaseOf returns the release of the part with the given ID.
func (r *Part) ReleaseOf(part object.PartID) Release {
	if r.Namespace == "" {
		return Release{}
	}
	return Release{Namespace: r.Namespace, Name: cmp.Or(r.Release, part.Install())}
}

// FormerReleaseOf returns the release that the part with the given ID had before a move, while records of it may exist.
func (r *Part) FormerReleaseOf(part object.PartID) Release {
	if r.Former == "" {
		return Release{}
	}
	return Release{Namespace: r.Former, Name: cmp.Or(r.FormerRelease, part.Install())}
}

// MoveRelease sets the release and the former release of the part with the given ID.
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

// DefaultHookTimeout is Helm's default timeout of a hook.
const DefaultHookTimeout = 5 * time.Minute

// HookTimeoutOf returns the timeout of each hook.
func (r *Part) HookTimeoutOf() time.Duration {
	if r.HookTimeout > 0 {
		return time.Duration(r.HookTimeout) * time.Second
	}
	return DefaultHookTimeout
}

// Resumes reports whether the run of hooks is for these inputs and can continue. A run whose revision is not recorded cannot: no
// hook has run, and the next revision must be determined again.
func (r *Part) Resumes(inputs, retry string) bool {
	return r.Run != nil && r.Run.Recorded && r.Run.Inputs == inputs && (r.Run.Failed == "" || r.Run.Retry == retry)
}

// A Stuck part has a failed hook. None of its hooks runs and no revision follows until its inputs or the retry token change.
type Stuck struct {
	// Reason is why the hook failed.
	Reason string
	// ObjectsApplied is true if the hook failed after the objects of the part were applied. These objects are repaired.
	ObjectsApplied bool
}

// NeedsStep reports whether a step must repair the part. The argument says whether some of its objects differ from what was
// applied.
func (s Stuck) NeedsStep(unfinished bool) bool { return s.ObjectsApplied && unfinished }

// Stuck reports whether a hook failed for these inputs.
func (r *Part) Stuck(inputs, retry string) (s Stuck, stuck bool) {
	if !r.Resumes(inputs, retry) || !r.Run.Over || r.Run.Failed == "" {
		return Stuck{}, false
	}
	return Stuck{Reason: r.Run.Failed, ObjectsApplied: r.Run.Event.IsPost()}, true
}

// A Release names a Helm release. The zero value means none.
type Release struct {
	Namespace, Name string
}

// IsZero reports whether the value names no release.
func (r Release) IsZero() bool { return r == Release{} }

// MayPrune reports whether an object belongs to this release, was not installed by the engine, and may be deleted with the release.
func (r Release) MayPrune(m *metav1.PartialObjectMetadata) bool {
	part := m.Annotations[object.AnnotationReleaseName] == r.Name && m.Annotations[object.AnnotationReleaseNamespace] == r.Namespace
	return part && m.Labels[object.LabelPartOf] == "" && !object.Keeps(m.Annotations)
}
