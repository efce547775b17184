// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

const (
	// maxForced limits how many remaining custom resources of each kind one call deletes.
	maxForced = 500
	// maxNamed limits how many of them a message names.
	maxNamed = 5
)

// remaining describes the custom resources of the bundle's own kinds that other clients created.
type remaining struct {
	total int64
	// named contains the descriptions of the first maxNamed ones.
	named []string
}

// awaitRemaining finds the remaining custom resources of the bundle's own kinds. They are not members, so it deletes them only in
// the mode ForceRemove. It does not remove their finalizers, because only the objects that serve them can do that. It also
// returns the custom resources that it deleted.
func awaitRemaining(
	ctx context.Context, in Input, own map[schema.GroupKind]schema.GroupVersionKind,
) (out remaining, forced []cluster.ObjectRef, err error) {
	kinds := slices.SortedFunc(maps.Values(own), func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	limit := maxNamed
	if in.Mode == ForceRemove {
		limit = maxForced
	}
	for _, gvk := range kinds {
		items, n, err := listRemaining(ctx, in, gvk, limit)
		if err != nil {
			return out, forced, err
		}
		out.total += n
		for i := range items[:min(len(items), maxNamed-len(out.named))] {
			out.named = append(out.named, describe(gvk, &items[i]))
		}
		if in.Mode != ForceRemove {
			continue
		}
		deleted, err := deleteRemaining(ctx, in, gvk, items)
		if forced = append(forced, deleted...); err != nil {
			return out, forced, err
		}
	}
	return out, forced, nil
}

// blocked returns what the removal waits for, with a message about what the user can do.
func (f remaining) blocked(mode Mode, forceAdvice string) Blocked {
	if f.total == 0 {
		return Blocked{}
	}
	out := Blocked{State: health.Warning, Message: fmt.Sprintf(
		"%d objects of kinds that this module defines still exist: %s", f.total, text.Some(f.named, f.total))}
	if f.total == 1 {
		out.Message = "1 object of a kind that this module defines still exists: " + f.named[0]
	}
	switch mode {
	case ForceRemove:
		out.State = health.Deleting
		out.Message += "; the remaining objects are being deleted"
	case Remove:
		out.Message += "; delete the ones that you do not need, or " + forceAdvice + " to delete all of them"
	case Prune:
		// A version of a module that drops what is in use is not forced.
		out.Message += "; delete the ones that you do not need"
	}
	return out
}

// listRemaining returns the first custom resources of a kind, and their total number.
func listRemaining(ctx context.Context, in Input, gvk schema.GroupVersionKind, limit int) ([]metav1.PartialObjectMetadata, int64, error) {
	l, err := in.Read.List(ctx, gvk, "", "", limit)
	if ssa.IsNoKind(err) {
		return nil, 0, nil
	}
	if err != nil {
		gone, err := in.Write.Absent(ctx, gvk, cluster.Mapping{}, "", err)
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

func refOf(gvk schema.GroupVersionKind, m *metav1.PartialObjectMetadata) cluster.ObjectRef {
	return cluster.ObjectRef{Group: gvk.Group, Kind: gvk.Kind, Namespace: m.Namespace, Name: m.Name}
}

// describe returns the name of a custom resource. If it is being deleted, the text includes what the deletion waits for.
func describe(gvk schema.GroupVersionKind, m *metav1.PartialObjectMetadata) string {
	k := refOf(gvk, m).String()
	if m.DeletionTimestamp == nil {
		return k
	}
	return k + " (" + health.Terminating(m) + ")"
}

// deleteRemaining deletes the custom resources of a kind that are not being deleted yet, and returns them.
func deleteRemaining(ctx context.Context, in Input, gvk schema.GroupVersionKind, items []metav1.PartialObjectMetadata) ([]cluster.ObjectRef, error) {
	done := make([]bool, len(items))
	g := errgroup.Group{}
	g.SetLimit(in.Concurrency)
	for i := range items {
		m := &items[i]
		if m.DeletionTimestamp != nil {
			continue
		}
		g.Go(func() (err error) {
			defer panics.Into(&err, refOf(gvk, m).String())
			_, err = in.Write.Delete(ctx, gvk, refOf(gvk, m), string(m.UID))
			if kerrors.IsConflict(err) {
				// Another object has replaced it. The next call handles that one.
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
			out = append(out, refOf(gvk, &items[i]))
		}
	}
	return out, err
}
