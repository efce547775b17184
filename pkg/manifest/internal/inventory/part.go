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
	// Digest is the digest of the inputs that were applied completely. It is empty until all objects of the part are applied.
	Digest string `json:"digest,omitempty"`
	// Content is the digest of the inputs that were applied completely, without the labels of the bundle. Older versions did not
	// store it. It stays when only labels are being applied.
	Content string `json:"content,omitempty"`
	// Capabilities contains the properties of the cluster that a chart used when it was rendered, in the form of
	// compose.Capabilities. It is empty if the chart used none, or if an older version stored the part.
	Capabilities string `json:"capabilities,omitempty"`
	// Namespace is the namespace of the release, or empty if there is no release. Release is the name of the release, if it differs
	// from the name of the part. Former and FormerRelease are the namespace and the name of the release before a move, until its
	// records are deleted.
	Namespace     string `json:"namespace,omitempty"`
	Release       string `json:"release,omitempty"`
	Former        string `json:"former,omitempty"`
	FormerRelease string `json:"formerRelease,omitempty"`
	// Chart and Version are the name and the version of the chart.
	Chart   string `json:"chart,omitempty"`
	Version string `json:"version,omitempty"`
	// Revision is the revision of the Helm release, or 0 if there is none.
	Revision int `json:"revision,omitempty"`
	// Origin is the number of revisions that failed before the first deployed one.
	Origin int `json:"origin,omitempty"`
	// Run is the run of hooks that is in progress or has failed, or nil.
	Run *Run `json:"run,omitempty"`
	// DeleteHooks and TestHooks are true if the chart has such hooks. The record of the release contains the hooks. HookTimeout is
	// the timeout of each hook, and of an atomic upgrade, in seconds. 0 means Helm's default.
	DeleteHooks bool  `json:"deleteHooks,omitempty"`
	TestHooks   bool  `json:"testHooks,omitempty"`
	HookTimeout int64 `json:"hookTimeout,omitempty"`
	// Wait, Atomic and Own are flags of the config. If Wait is true, the following parts wait until this one is ready. If Atomic is
	// true, a failed upgrade is rolled back. If Own is true, existing objects are adopted.
	Wait   bool `json:"wait,omitempty"`
	Atomic bool `json:"atomic,omitempty"`
	Own    bool `json:"own,omitempty"`
	// Shared lists the names of the CRDs that this part contains but an earlier part owns.
	Shared []string `json:"shared,omitempty"`
}

// ReleaseOf returns the release of the part with the given ID, or the zero value if it has none.
func (r *Part) ReleaseOf(part object.PartID) Release {
	if r.Namespace == "" {
		return Release{}
	}
	return Release{Namespace: r.Namespace, Name: cmp.Or(r.Release, part.Install())}
}

// FormerReleaseOf returns the release that the part with the given ID had before a move. It returns the zero value if there is no
// such release, or if its records are deleted.
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

// HookTimeoutOf returns the timeout of each hook, by default DefaultHookTimeout.
func (r *Part) HookTimeoutOf() time.Duration {
	if r.HookTimeout > 0 {
		return time.Duration(r.HookTimeout) * time.Second
	}
	return DefaultHookTimeout
}

// Resumes reports whether the run of hooks is for these inputs, regardless of labels, and can continue. A run whose revision is
// not recorded cannot continue: no hook has run, and the next revision must be determined again.
func (r *Part) Resumes(inputs Inputs, retry string) bool {
	return r.Run != nil && r.Run.Recorded && r.Run.Of().SharesContent(inputs) && (r.Run.Failed == "" || r.Run.Retry == retry)
}

// A HookFailure describes a part whose hook failed. The engine runs none of its hooks and installs no further revision until its inputs
// or the retry token change.
type HookFailure struct {
	// Reason is the reason why the hook failed.
	Reason string
	// ObjectsApplied is true if the hook failed after the objects of the part were applied. The engine repairs these objects.
	ObjectsApplied bool
}

// NeedsStep reports whether a step must repair the part. Unfinished reports whether some objects of the part differ from their
// applied state.
func (f HookFailure) NeedsStep(unfinished bool) bool { return f.ObjectsApplied && unfinished }

// HookFailure reports whether a hook failed for these inputs, and describes the failure.
func (r *Part) HookFailure(inputs Inputs, retry string) (f HookFailure, failed bool) {
	if !r.Resumes(inputs, retry) || !r.Run.Over || r.Run.Failed == "" {
		return HookFailure{}, false
	}
	return HookFailure{Reason: r.Run.Failed, ObjectsApplied: r.Run.Event.IsPost()}, true
}

// A Release identifies a Helm release. The zero value means none.
type Release struct {
	Namespace, Name string
}

// IsZero reports whether the value is zero, which means that there is no release.
func (r Release) IsZero() bool { return r == Release{} }

// MayPrune reports whether an object belongs to this release, was not installed by the engine, and may be deleted with the
// release.
func (r Release) MayPrune(m *metav1.PartialObjectMetadata) bool {
	part := m.Annotations[object.AnnotationReleaseName] == r.Name && m.Annotations[object.AnnotationReleaseNamespace] == r.Namespace
	return part && m.Labels[object.LabelPartOf] == "" && !object.Keeps(m.Annotations)
}
