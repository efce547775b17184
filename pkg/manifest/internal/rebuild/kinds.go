// SPDX-License-Identifier: Apache-2.0

package rebuild

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// candidates returns the kinds that may have objects of an ApplySet, sorted, each in one version: those that the cluster serves, and
// those that a watch shows to have some. That a watch shows none proves nothing, because it selects a label that another client may have
// removed.
func candidates(ctx context.Context, c Cluster, set string) ([]schema.GroupVersionKind, error) {
	versions, err := c.APIVersions(ctx)
	if err != nil {
		return nil, err
	}
	kinds := served(versions)
	for gvk, members := range c.Cache().Kinds(set) {
		if _, isServed := kinds[gvk.GroupKind()]; isServed || members {
			kinds[gvk.GroupKind()] = gvk
		}
	}
	return slices.SortedFunc(maps.Values(kinds), func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) }), nil
}

// served returns the kinds among API versions, which have the form of cluster.Versions, each in the first version.
func served(versions []string) map[schema.GroupKind]schema.GroupVersionKind {
	out := map[schema.GroupKind]schema.GroupVersionKind{}
	for _, s := range versions {
		p := strings.Split(s, "/")
		var gvk schema.GroupVersionKind
		switch {
		case len(p) == 3:
			gvk = schema.GroupVersionKind{Group: p[0], Version: p[1], Kind: p[2]}
		case len(p) == 2 && p[0] == "v1":
			// The core group has no name, and this version only.
			gvk = schema.GroupVersionKind{Version: p[0], Kind: p[1]}
		default:
			continue
		}
		if _, known := out[gvk.GroupKind()]; !known {
			out[gvk.GroupKind()] = gvk
		}
	}
	return out
}
