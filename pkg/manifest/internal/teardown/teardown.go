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
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A Removal says how far the removal of a bundle has come.
type Removal struct {
	// Gone is true once nothing is left, including the inventory.
	Gone bool
	// State is Deleting, or Warning where a user has to do something. Message says what the removal waits for.
	State   health.State
	Message string
	// Kept are the objects that this call orphaned, as their annotation helm.sh/resource-policy asks for, and those that the
	// orphans cannot be without.
	Kept []cluster.ObjectRef
	// LeftBehind are the objects that this call left unchanged, because they are not the objects that were applied.
	LeftBehind []cluster.ObjectRef
	// HookFailures say why hooks of charts failed without keeping anything from being deleted: those after the objects, and with
	// ForceRemoval those before them. They are set together with Gone.
	HookFailures []string
	// Forced are the custom resources of others that this call deleted because of ForceRemoval.
	Forced []cluster.ObjectRef
}

// A Reader reads objects. Objects that do not exist are nil.
type Reader interface {
	Get(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*unstructured.Unstructured, error)
	Metadata(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*metav1.PartialObjectMetadata, error)
	State(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (cluster.ObjectState, bool, error)
	List(ctx context.Context, gvk schema.GroupVersionKind, namespace, selector string, limit int) (*metav1.PartialObjectMetadataList, error)
}

// A Writer changes and deletes objects, as an *ssa.Client does.
type Writer interface {
	Patch(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, r cluster.ObjectRef, p ssa.Patch) ([]byte, error)
	Delete(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid string) (*metav1.PartialObjectMetadata, error)
	Absent(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, name string, err error) (bool, error)
}

// A Cluster is what a removal needs of a cluster.Cluster.
type Cluster interface {
	Mapping(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error)
	Learn(gvk schema.GroupVersionKind, m cluster.Mapping)
	Cache() cluster.Cache
}

// Hooks of the installs that leave.
type Hooks interface {
	// Run the hooks of an event, inventory.PreDelete or inventory.PostDelete, as far as possible without waiting.
	Run(ctx context.Context, event inventory.Event) (hook.Standing, error)
}

// Blocked says what a removal waits for. The zero value stands for nothing.
type Blocked struct {
	// State is Deleting, or Warning where a user has to do something; empty where nothing is waited for.
	State   health.State
	Message string
}

// Waits reports whether anything is waited for.
func (b Blocked) Waits() bool { return b.State != "" }

// An Input is all that a removal depends on. Run changes none of its values.
type Input struct {
	Read    Reader
	Write   Writer
	Cluster Cluster
	// Hooks to run; nil for none.
	Hooks Hooks
	Mode  Mode
	// Set is the ID of the ApplySet, and Labels are those of each member.
	Set    string
	Labels map[string]string
	// FieldManager of the engine.
	FieldManager string
	// Entries to remove, and the parts of the bundle in the order in which they are applied.
	Entries []*inventory.Entry
	Parts   []object.PartID
	// Known are the states of the entries. Those that are Asked are answers to requests of this call, and there is an error for
	// those that the credentials may not read.
	Known  map[cluster.ObjectRef]cluster.ObjectState
	Asked  map[cluster.ObjectRef]bool
	Denied map[cluster.ObjectRef]error
	// Settled are the entries that an earlier call found gone or not to be members, with the UID in the inventory then.
	Settled map[cluster.ObjectRef]string
	// Concurrency limits the requests at the same time.
	Concurrency int
	// ForceAdvice says how to have remaining custom resources deleted, as in "set x to have all deleted" without the end.
	ForceAdvice string
}

// A Result says what became of the entries.
type Result struct {
	// Blocked says what is waited for.
	Blocked Blocked
	// Done are the entries that need nothing more: they are gone, orphaned, or not members.
	Done map[cluster.ObjectRef]bool
	// Kept were orphaned, LeftBehind found not to be what was applied, and Forced are custom resources of others that were deleted.
	Kept, LeftBehind, Forced []cluster.ObjectRef
	// HookFailures say why hooks failed that block nothing.
	HookFailures []string
	// Settled is that of the input for the next call.
	Settled map[cluster.ObjectRef]string
}

// Deleted returns the entries that are gone, and were neither kept nor left behind.
func (r *Result) Deleted(entries []inventory.Entry) []cluster.ObjectRef {
	var out []cluster.ObjectRef
	for i := range entries {
		if k := entries[i].Ref(); r.Done[k] && !slices.Contains(r.Kept, k) && !slices.Contains(r.LeftBehind, k) {
			out = append(out, k)
		}
	}
	return out
}

// Run removes entries as far as possible without waiting. The result is valid together with an error, too.
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
	if err := r.orphanAll(ctx); err != nil {
		return Blocked{}, err
	}
	own, err := r.ownKinds(ctx)
	if err != nil {
		return Blocked{}, err
	}
	r.phase = Deleting
	for _, g := range Plan(r.in.Mode, r.in.Entries, own, r.in.Parts) {
		if blocked, err := r.do(ctx, g, own); err != nil || blocked.Waits() {
			return blocked, err
		}
	}
	return Blocked{}, nil
}

// blockedBy returns what hooks mean for a removal.
func blockedBy(s hook.Standing) Blocked {
	switch s.Stage {
	case hook.Due:
		return Blocked{State: health.Deleting, Message: s.Message}
	case hook.Refused:
		return Blocked{State: health.Warning, Message: s.Message + "; repair what is wrong and ask for another try, or force the removal"}
	case hook.Passed:
	}
	return Blocked{}
}

// do one group of a plan.
func (r *remover) do(ctx context.Context, g Group, own map[schema.GroupKind]schema.GroupVersionKind) (Blocked, error) {
	switch g.Action {
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
