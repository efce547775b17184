// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// confirm what became of the objects that are to go and that the watch does not show as ours. It selects by a label, which
// anybody can take away, so that each of them is asked for once: the very object that was applied is ours, whatever its
// labels say, unless it belongs to another set by now, or was let go. Any other one is left behind, and that is said.
func (r *remover) confirm(ctx context.Context, unwanted []*inventory.Entry) error {
	var doubtful []*inventory.Entry
	for _, e := range unwanted {
		if r.doubtful(e) {
			doubtful = append(doubtful, e)
		}
	}
	found := make([]*metav1.PartialObjectMetadata, len(doubtful))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(r.e.concurrency)
	for i, e := range doubtful {
		g.Go(func() error {
			var err error
			found[i], err = r.Metadata(gctx, e.GVK(), e.Ref())
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, e := range doubtful {
		r.settle(e, found[i])
	}
	return nil
}

// doubtful says whether nothing proves that an object which was applied is gone, or that it is ours. Where it was not found
// before, it needs no second request.
func (r *remover) doubtful(e *inventory.Entry) bool {
	if e.UID == "" || r.denied[e.Ref()] != nil || r.mem.settled[e.Ref()] == e.UID {
		return false
	}
	sum, ok := r.seen(e.Ref())
	if r.asked[e.Ref()] && !ok {
		return false
	}
	return !ok || sum.Set != r.id
}

// settle what an object that was asked for is: ours, or nothing of ours.
func (r *remover) settle(e *inventory.Entry, m *metav1.PartialObjectMetadata) {
	k := e.Ref()
	if m != nil && (m.Labels[object.LabelPartOf] == r.id || r.applied(e, m)) {
		sum := health.MetadataStateOf(m)
		sum.Set = r.id
		r.known[k] = sum
		r.found(k)
		return
	}
	// It is not asked for, and not told of, in the next step.
	r.settled(e)
	if m != nil && m.Annotations[object.AnnotationKeptBy] != r.id {
		r.left = append(r.left, k)
	}
}

// settled needs no more request: it is gone, or nothing of ours.
func (r *remover) settled(e *inventory.Entry) {
	if r.mem.settled == nil {
		r.mem.settled = map[cluster.ObjectRef]string{}
	}
	r.mem.settled[e.Ref()] = e.UID
}

// applied says whether an object is the very one that was applied, and only lost its label.
func (r *remover) applied(e *inventory.Entry, m *metav1.PartialObjectMetadata) bool {
	return string(m.UID) == e.UID && m.Labels[object.LabelPartOf] == "" && m.Annotations[object.AnnotationKeptBy] == ""
}

// found an object by a request, which knows more than the watch.
func (r *remover) found(k cluster.ObjectRef) {
	if r.asked == nil {
		r.asked = map[cluster.ObjectRef]bool{}
	}
	r.asked[k] = true
}

// seen says what is known of an object: by the watch, or by a request of this step where the watch is blind for it.
func (r *remover) seen(k cluster.ObjectRef) (cluster.ObjectState, bool) {
	if !r.asked[k] {
		if s, ok := r.c.Cache().Get(k); ok {
			return s, true
		}
	}
	s, ok := r.known[k]
	return s, ok
}
