// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"maps"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A remover holds the state of one call of Run: its input, what is known about the entries, and the result so far.
type remover struct {
	in   Input
	pass Pass
	// known and asked are copies of the input, updated by later requests.
	known map[cluster.ObjectRef]cluster.ObjectState
	asked map[cluster.ObjectRef]bool
	// crds contains the CRDs that were read. inherited contains those that the bundle used before, and owns now.
	crds      map[cluster.ObjectRef]*unstructured.Unstructured
	inherited map[cluster.ObjectRef]bool
	out       Result
}

func newRemover(in Input) *remover {
	r := &remover{
		in:    in,
		known: make(map[cluster.ObjectRef]cluster.ObjectState, len(in.Known)),
		asked: make(map[cluster.ObjectRef]bool, len(in.Asked)),
		crds:  map[cluster.ObjectRef]*unstructured.Unstructured{}, inherited: map[cluster.ObjectRef]bool{},
		out: Result{Done: make(map[cluster.ObjectRef]bool, len(in.Entries)), NonMembers: make(map[cluster.ObjectRef]NonMember, len(in.NonMembers))},
	}
	maps.Copy(r.known, in.Known)
	maps.Copy(r.asked, in.Asked)
	maps.Copy(r.out.NonMembers, in.NonMembers)
	return r
}

// facts returns what is known about an entry. The response to a request of this call takes precedence over the watch.
func (r *remover) facts(e *inventory.Entry) Facts {
	k := e.Ref()
	f := Facts{Pass: r.pass, Known: r.knowledge(e), DeleteAdopted: r.in.DeleteAdopted, Inherited: r.inherited[k]}
	if !r.asked[k] {
		if s, ok := r.in.Cluster.Cache().Get(k); ok {
			f.State = &s
			return f
		}
	}
	if s, ok := r.known[k]; ok {
		f.State = &s
	}
	return f
}

func (r *remover) knowledge(e *inventory.Entry) Knowledge {
	k := e.Ref()
	switch {
	case r.out.Done[k]:
		return Done
	case r.in.Denied[k] != nil:
		return Denied
	case e.UID == "":
		// A response may be older than the creation of the object.
		return Watched
	case r.out.NonMembers[k].UID == e.UID:
		return Remembered
	case r.asked[k]:
		return Asked
	}
	return Watched
}

// decide returns the decision on an entry and the state of its object. It reads the object if the decision depends on it.
func (r *remover) decide(ctx context.Context, e *inventory.Entry) (Decision, cluster.ObjectState, error) {
	k := e.Ref()
	f := r.facts(e)
	d := Decide(e, f, r.in.Set)
	switch d {
	case Refuse:
		return d, cluster.ObjectState{}, r.in.Denied[k]
	case Ask:
		s, ok, err := r.in.Read.State(ctx, e.GVK(), k)
		if err != nil {
			return d, cluster.ObjectState{}, err
		}
		r.asked[k] = true
		if f.Known, f.State = Asked, nil; ok {
			r.known[k], f.State = s, &s
		}
		d = Decide(e, f, r.in.Set)
	default:
	}
	if f.State == nil {
		return d, cluster.ObjectState{}, nil
	}
	return d, *f.State, nil
}

// confirm reads each object that the watch does not show as a member. Objects that are not members are left behind.
func (r *remover) confirm(ctx context.Context) error {
	doubtful := filter(r.in.Entries, r.mustConfirm)
	found := make([]*metav1.PartialObjectMetadata, len(doubtful))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(r.in.Concurrency)
	for i, e := range doubtful {
		g.Go(func() (err error) {
			defer panics.Into(&err, e.Ref().String())
			found[i], err = r.in.Read.Metadata(gctx, e.GVK(), e.Ref())
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, e := range doubtful {
		r.recordResult(ctx, e, found[i])
	}
	r.pass = Orphaning
	return nil
}

// mustConfirm reports whether the first pass reads the object of an entry. An object whose UID is unknown is read once, to report what
// stays, and again before it counts as gone, because the request that creates it may arrive late.
func (r *remover) mustConfirm(e *inventory.Entry) bool {
	f := r.facts(e)
	_, reported := r.out.NonMembers[e.Ref()]
	switch Decide(e, f, r.in.Set) {
	case Confirm:
		return true
	case Ask:
		return !reported
	case NotOurs:
		// The engine applied it, and it lost the label of the ApplySet only.
		return !reported && e.UID == "" && f.State.Set == "" && f.State.Owned != ""
	default:
		return false
	}
}

// recordResult records the result of a request for the object of an entry. Pass nil if the request did not find the object.
func (r *remover) recordResult(ctx context.Context, e *inventory.Entry, m *metav1.PartialObjectMetadata) {
	if e.UID == "" {
		r.recordUnconfirmed(e, m)
		return
	}
	k := e.Ref()
	found := Identify(e, m, r.in.Set)
	switch found {
	case Member:
		s := health.MetadataStateOf(r.in.FieldManager, m)
		s.Set = r.in.Set
		r.known[k], r.asked[k] = s, true
		return
	case Foreign:
		r.out.LeftBehind = append(r.out.LeftBehind, LeftBehind{Object: k, Reason: whyForeign(e, m, r.ownerOf(ctx, m.Labels[object.LabelPartOf]))})
	case Orphaned:
		r.reportOrphaned(e, m)
	case Absent:
	}
	// The next call does not read or report it again.
	r.out.NonMembers[k] = NonMember{UID: e.UID, LeftBehind: found == Foreign}
}

// recordUnconfirmed records the object of an entry whose UID is unknown, because the response to its creation was lost or never came. Only
// the label of the ApplySet shows that the object is a member. Without it, the object is not deleted, even if the engine applied it.
func (r *remover) recordUnconfirmed(e *inventory.Entry, m *metav1.PartialObjectMetadata) {
	k := e.Ref()
	if m == nil {
		return
	}
	switch Identify(e, m, r.in.Set) {
	case Orphaned:
		r.reportOrphaned(e, m)
		r.out.NonMembers[k], r.out.Done[k] = NonMember{}, true
		return
	case Foreign:
		if isUnclaimed(m, r.in.FieldManager) {
			r.out.LeftBehind = append(r.out.LeftBehind, LeftBehind{Object: k, Reason: "has no label " + object.LabelPartOf + ", and its UID is unknown"})
			r.out.NonMembers[k] = NonMember{LeftBehind: true}
		}
	case Member, Absent:
	}
	r.known[k], r.asked[k] = health.MetadataStateOf(r.in.FieldManager, m), true
}

// reportOrphaned reports an applied object that the ApplySet orphaned earlier. The response to the request that orphaned it may have been
// lost.
func (r *remover) reportOrphaned(e *inventory.Entry, m *metav1.PartialObjectMetadata) {
	switch {
	case e.UID != "" && string(m.UID) != e.UID:
	case m.Annotations[object.AnnotationHandedOver] == r.in.Set:
		r.out.HandedOver = append(r.out.HandedOver, HandedOver{Ref: e.Ref(), Users: object.UsersOf(m.Annotations, r.in.Set)})
	case m.Annotations[object.AnnotationAdopted] == r.in.Set:
		r.out.KeptAdopted = append(r.out.KeptAdopted, e.Ref())
	default:
		r.out.Kept = append(r.out.Kept, e.Ref())
	}
}

// ownerOf returns the name of the owner of another ApplySet, or an empty string if it is unknown.
func (r *remover) ownerOf(ctx context.Context, set string) string {
	if set == "" || r.in.OwnerOf == nil {
		return ""
	}
	return r.in.OwnerOf(ctx, set)
}

// recordGone records an entry whose object is no longer a member.
func (r *remover) recordGone(e *inventory.Entry) {
	delete(r.known, e.Ref())
	r.out.NonMembers[e.Ref()] = NonMember{UID: e.UID}
}
