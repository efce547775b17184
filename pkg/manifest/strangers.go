// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"sort"

	"golang.org/x/sync/errgroup"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// atOnce bounds how many objects of others one call of Remove deletes of each kind.
const atOnce = 500

// strangers are objects of the set's own kinds that others made. Nothing of them is deleted, as it is not ours, unless
// that is asked for; then they are, with their finalizers, which only what serves them takes away.
func (r *remover) strangers(ctx context.Context, defined map[schema.GroupKind]schema.GroupVersionKind) (Removal, error) {
	kinds := make([]schema.GroupVersionKind, 0, len(defined))
	for _, gvk := range defined {
		kinds = append(kinds, gvk)
	}
	sort.Slice(kinds, func(a, b int) bool { return kinds[a].String() < kinds[b].String() })
	force := r.whole && r.s.ForceRemoval
	var named []string
	var out Removal
	total := int64(0)
	for _, gvk := range kinds {
		items, n, err := r.strangersOf(ctx, gvk, force)
		if err != nil {
			return out, err
		}
		total += n
		for i := range items[:min(len(items), mostNamed-len(named))] {
			named = append(named, stranger(gvk, &items[i]))
		}
		if !force {
			continue
		}
		deleted, err := r.deleteStrangers(ctx, gvk, items)
		if out.Forced = append(out.Forced, deleted...); err != nil {
			return out, err
		}
	}
	if total == 0 {
		return out, nil
	}
	out.State, out.Message = Warning, fmt.Sprintf("%d objects of this module's own kinds are left: %s", total, text.Some(named, total))
	if total == 1 {
		out.Message = "1 object of this module's own kinds is left: " + named[0]
	}
	switch {
	case force:
		out.State = Deleting
		out.Message += "; what is left is being deleted"
	case r.whole:
		out.Message += fmt.Sprintf("; delete what is not needed, or set annotation %s: \"true\" on the Manifest to have all deleted", AnnotationForceRemoval)
	default:
		// Nobody forces a version on a module that drops what is in use.
		out.Message += "; delete what is not needed"
	}
	return out, nil
}

// strangersOf one kind: the first of them, and how many there are.
func (r *remover) strangersOf(ctx context.Context, gvk schema.GroupVersionKind, many bool) ([]metav1.PartialObjectMetadata, int64, error) {
	limit := mostNamed
	if many {
		limit = atOnce
	}
	l, err := r.List(ctx, gvk, "", "", limit)
	if ssa.IsNoKind(err) {
		return nil, 0, nil
	}
	if err != nil {
		gone, err := r.Absent(ctx, gvk, cluster.Mapping{}, "", err)
		if gone {
			return nil, 0, nil
		}
		return nil, 0, errors.Wrapf(err, "cannot list %s", gvk.Kind)
	}
	n := int64(len(l.Items))
	if l.RemainingItemCount != nil {
		n += *l.RemainingItemCount
	}
	return l.Items, n, nil
}

func strangerKey(gvk schema.GroupVersionKind, m *metav1.PartialObjectMetadata) cluster.ObjectRef {
	return cluster.ObjectRef{Group: gvk.Group, Kind: gvk.Kind, Namespace: m.Namespace, Name: m.Name}
}

// stranger in words. What it waits for is said only where it was deleted before.
func stranger(gvk schema.GroupVersionKind, m *metav1.PartialObjectMetadata) string {
	k := strangerKey(gvk, m).String()
	if m.DeletionTimestamp == nil {
		return k
	}
	return k + " (" + health.Terminating(m) + ")"
}

// deleteStrangers of one kind that are not on their way out, and return which those were.
func (r *remover) deleteStrangers(ctx context.Context, gvk schema.GroupVersionKind, items []metav1.PartialObjectMetadata) ([]cluster.ObjectRef, error) {
	done := make([]bool, len(items))
	g := errgroup.Group{}
	g.SetLimit(r.e.concurrency)
	for i := range items {
		m := &items[i]
		if m.DeletionTimestamp != nil {
			continue
		}
		g.Go(func() error {
			_, err := r.Delete(ctx, gvk, strangerKey(gvk, m), string(m.UID))
			if kerrors.IsConflict(err) {
				// Another one took its place. The next step sees it.
				return nil
			}
			done[i] = err == nil
			return err
		})
	}
	err := g.Wait()
	var out []cluster.ObjectRef
	for i := range items {
		if done[i] {
			out = append(out, strangerKey(gvk, &items[i]))
		}
	}
	return out, err
}
