// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Removal is the progress of the removal of a bundle.
type Removal struct {
	// Gone is true once nothing is left, including the inventory.
	Gone bool
	// State is Deleting, or Warning if a user must act. Message describes what the removal waits for.
	State   health.State
	Message string
	// Kept lists the objects that this call orphaned because of their annotation helm.sh/resource-policy, and the objects that the
	// orphans need.
	Kept []cluster.ObjectRef
	// KeptAdopted lists the Namespaces, CRDs and volumes that this call orphaned because they existed before the bundle adopted them.
	KeptAdopted []cluster.ObjectRef
	// HandedOver lists the CRDs that this call orphaned because other bundles use them.
	HandedOver []HandedOver
	// LeftBehind lists the objects that this call did not change because they are not the applied ones.
	LeftBehind []LeftBehind
	// Rebuilt is set if this call rebuilt the inventory, because it was lost.
	Rebuilt *inventory.Rebuilt
	// HookFailures lists the errors of failed hooks that did not block the removal: post-delete hooks, and with ForceRemoval also
	// pre-delete hooks. They are set together with Gone.
	HookFailures []string
	// Forced lists the custom resources of other clients that this call deleted because of ForceRemoval.
	Forced []cluster.ObjectRef
}

// A LeftBehind is an object that is not changed, because it is not the applied one.
type LeftBehind struct {
	Object cluster.ObjectRef
	// Reason is the difference from the applied object, for users.
	Reason string
}

// String names the object and the reason.
func (l LeftBehind) String() string { return l.Object.String() + " (" + l.Reason + ")" }

// A Reader reads objects. It returns nil for objects that do not exist.
type Reader interface {
	Get(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*unstructured.Unstructured, error)
	Metadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*metav1.PartialObjectMetadata, error)
	State(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (cluster.ObjectState, bool, error)
	List(ctx context.Context, gvk schema.GroupVersionKind, namespace, selector string, limit int) (*metav1.PartialObjectMetadataList, error)
	// Mapping returns the mapping of a kind, in another version if the cluster serves it there only.
	Mapping(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error)
}

// A Writer changes and deletes objects. *ssa.Client implements it.
type Writer interface {
	PatchMetadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, metadata map[string]any, accept string) ([]byte, error)
	Delete(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid string) (*metav1.PartialObjectMetadata, error)
	DeleteAt(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string) (*metav1.PartialObjectMetadata, error)
	Absent(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, name string, err error) (bool, error)
}

// A Cluster is the part of cluster.Cluster that a removal uses.
type Cluster interface {
	cluster.Mapper

	Cache() cluster.Cache
}

// Hooks runs the deletion hooks of the installs to remove.
type Hooks interface {
	// Run runs the hooks of an event, inventory.PreDelete or inventory.PostDelete, as far as possible without waiting.
	Run(ctx context.Context, event inventory.Event) (hook.Standing, error)
}

// Blocked describes what a removal waits for. The zero value means that it does not wait.
type Blocked struct {
	// State is Deleting, or Warning if a user must act. It is empty if the removal does not wait.
	State   health.State
	Message string
}

// Waits reports whether the removal waits.
func (b Blocked) Waits() bool { return b.State != "" }

// A NonMember is an object that a call found to be gone or not to be a member, so that later calls do not read it again.
type NonMember struct {
	// UID is the UID in the inventory at that time.
	UID string
	// LeftBehind is true if the object exists and is left behind, and false if it is gone or was orphaned.
	LeftBehind bool
}

// An Input holds everything that a removal depends on. Run does not change it.
type Input struct {
	Read    Reader
	Write   Writer
	Share   Sharer
	Cluster Cluster
	// Hooks runs the deletion hooks, or is nil.
	Hooks Hooks
	Mode  Mode
	// Set is the ID of the ApplySet. Labels are the labels of its members.
	Set    string
	Labels map[string]string
	// FieldManager is the field manager of the engine.
	FieldManager string
	// Entries lists the entries to remove. Parts lists the parts of the bundle in the order in which they are applied.
	Entries []*inventory.Entry
	Parts   []object.PartID
	// Known holds the states of the entries. Asked contains the entries whose state comes from a request of this call. Denied holds
	// the errors for the entries that the credentials may not read.
	Known  map[cluster.ObjectRef]cluster.ObjectState
	Asked  map[cluster.ObjectRef]bool
	Denied map[cluster.ObjectRef]error
	// NonMembers holds the entries that an earlier call found gone or not to be members.
	NonMembers map[cluster.ObjectRef]NonMember
	// DeleteAdopted makes the removal also delete objects that existed before the bundle adopted them.
	DeleteAdopted bool
	// OwnerOf returns the name of the owner of another ApplySet, or an empty string if it is unknown.
	OwnerOf func(ctx context.Context, set string) string
	// Concurrency limits the number of concurrent requests.
	Concurrency int
	// ForceAdvice is the instruction for deleting remaining custom resources. It is the "set x" in the message "set x to have all
	// deleted".
	ForceAdvice string
}

// A Result describes what happened to the entries.
type Result struct {
	// Blocked describes what the removal waits for.
	Blocked Blocked
	// Done contains the entries that require no more work: their objects are gone, orphaned, or not members.
	Done map[cluster.ObjectRef]bool
	// Kept lists the orphaned objects, KeptAdopted the orphaned objects that were adopted, and Forced the deleted custom resources of
	// other clients.
	Kept, KeptAdopted, Forced []cluster.ObjectRef
	// LeftBehind lists the objects that are not the applied ones.
	LeftBehind []LeftBehind
	// HandedOver lists the CRDs that were orphaned because other bundles use them.
	HandedOver []HandedOver
	// HookFailures lists the errors of failed hooks that do not block the removal.
	HookFailures []string
	// NonMembers is Input.NonMembers for the next call.
	NonMembers map[cluster.ObjectRef]NonMember
	// Unused lists the CRDs of other owners that the bundle no longer uses.
	Unused []cluster.ObjectRef
}

// Deleted returns the entries whose objects are gone, and were neither kept, handed over nor left behind.
func (r *Result) Deleted(entries []inventory.Entry) []cluster.ObjectRef {
	stays := slices.Concat(r.Kept, r.KeptAdopted, r.Unused)
	for _, l := range r.LeftBehind {
		stays = append(stays, l.Object)
	}
	var out []cluster.ObjectRef
	for i := range entries {
		if k := entries[i].Ref(); r.Done[k] && !r.isHandedOver(k) && !slices.Contains(stays, k) {
			out = append(out, k)
		}
	}
	return out
}

// Run removes entries as far as possible without waiting. The result is valid even if Run returns an error.
func Run(ctx context.Context, in Input) (Result, error) {
	r := newRemover(in)
	blocked, err := r.run(ctx)
	if err == nil {
		r.out.Blocked = blocked
	}
	return r.out, err
}

func (r *remover) run(ctx context.Context) (Blocked, error) {
	if err := r.confirm(ctx); err != nil {
		return Blocked{}, err
	}
	if err := r.readCRDs(ctx); err != nil {
		return Blocked{}, err
	}
	if err := r.orphanAll(ctx); err != nil {
		return Blocked{}, err
	}
	first, own := r.kinds(ctx)
	r.pass = Deleting
	for _, g := range Plan(r.in.Mode, r.in.Entries, first, r.in.Parts) {
		if blocked, err := r.do(ctx, g, own); err != nil || blocked.Waits() {
			return blocked, err
		}
	}
	return Blocked{}, nil
}

// blockedBy returns what the removal waits for, according to the progress of its hooks.
func blockedBy(s hook.Standing) Blocked {
	switch s.Progress {
	case hook.Due:
		return Blocked{State: health.Deleting, Message: s.Message}
	case hook.Refused:
		return Blocked{State: health.Warning, Message: s.Message + "; fix the cause and request a retry, or force the removal"}
	case hook.Passed:
	}
	return Blocked{}
}

// do processes one group of a plan.
func (r *remover) do(ctx context.Context, g Group, own map[schema.GroupKind]schema.GroupVersionKind) (Blocked, error) {
	switch g.Step {
	case DeleteObjects:
		return r.deleteAll(ctx, g.Entries)
	case RunHooks:
		if r.in.Hooks == nil {
			return Blocked{}, nil
		}
		s, err := r.in.Hooks.Run(ctx, g.Event)
		r.out.HookFailures = append(r.out.HookFailures, s.Failures...)
		return blockedBy(s), err
	case AwaitCustomResources:
	}
	found, forced, err := awaitRemaining(ctx, r.in, own)
	r.out.Forced = append(r.out.Forced, forced...)
	if err != nil {
		return Blocked{}, err
	}
	return found.blocked(r.in.Mode, r.in.ForceAdvice), nil
}
