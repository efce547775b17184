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

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

const (
	// maxForced limits how many custom resources of others one call deletes of each kind.
	maxForced = 500
	// maxNamed limits how many of them a message names.
	maxNamed = 5
)

// remaining are custom resources of the own kinds that others made.
type remaining struct {
	total int64
	// named are the first ones, in words.
	named []string
}

// awaitRemaining looks for the custom resources of the own kinds that remain. They are not members, so that they are deleted with
// ForceRemove only. Their finalizers stay, as only what serves them can remove these. It returns which ones it deleted.
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

// blocked returns what to wait for, and how to go on.
func (f remaining) blocked(mode Mode, forceAdvice string) Blocked {
	if f.total == 0 {
		return Blocked{}
	}
	out := Blocked{State: health.Warning, Message: fmt.Sprintf("%d objects of this module's own kinds are left: %s", f.total, text.Some(f.named, f.total))}
	if f.total == 1 {
		out.Message = "1 object of this module's own kinds is left: " + f.named[0]
	}
	switch mode {
	case ForceRemove:
		out.State = health.Deleting
		out.Message += "; what is left is being deleted"
	case Remove:
		out.Message += "; delete what is not needed, or " + forceAdvice + " to have all deleted"
	case Prune:
		// A version of a module that drops what is in use is not forced.
		out.Message += "; delete what is not needed"
	}
	return out
}

// listRemaining returns the first custom resources of a kind, and how many there are.
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

// describe a custom resource. What it waits for is said only where it was deleted before.
func describe(gvk schema.GroupVersionKind, m *metav1.PartialObjectMetadata) string {
	k := refOf(gvk, m).String()
	if m.DeletionTimestamp == nil {
		return k
	}
	return k + " (" + health.Terminating(m) + ")"
}

// deleteRemaining deletes custom resources of a kind that are not being deleted, and returns those.
func deleteRemaining(ctx context.Context, in Input, gvk schema.GroupVersionKind, items []metav1.PartialObjectMetadata) ([]cluster.ObjectRef, error) {
	done := make([]bool, len(items))
	g := errgroup.Group{}
	g.SetLimit(in.Concurrency)
	for i := range items {
		m := &items[i]
		if m.DeletionTimestamp != nil {
			continue
		}
		g.Go(func() error {
			_, err := in.Write.Delete(ctx, gvk, refOf(gvk, m), string(m.UID))
			if kerrors.IsConflict(err) {
				// Another one took its place. The next call sees it.
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
