// SPDX-License-Identifier: Apache-2.0

package rebuild

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// Releases returns the deployed revision of each release of the bundle, or the last recorded one if none was deployed.
type Releases func(ctx context.Context) (map[inventory.Release]int, error)

// An Install is an install of the bundle.
type Install struct {
	// Part is the ID of its part. Release is its release, or the zero value if the install has none.
	Part    object.PartID
	Release inventory.Release
}

// addReleases adds the parts that have the releases in the cluster.
func (in *Input) addReleases(ctx context.Context, inv *inventory.Inventory) error {
	found, err := in.Releases(ctx)
	inv.Parts = partsOf(found, in.Installs)
	return err
}

// partsOf returns the records of the parts that have the given releases.
//
// The record of an install contains no revision, so that the next step continues from the records in the cluster. A release with
// the name of an install is the one that the install had before it moved, or before it became plain objects.
//
// Any other release belonged to an install that the bundle no longer contains. Its part has the name of the release. The record of
// the release contains its deletion hooks. They don't run if the release may be one that an install had under another name.
func partsOf(found map[inventory.Release]int, installs []Install) map[object.PartID]inventory.Part {
	left := slices.SortedFunc(maps.Keys(found), func(a, b inventory.Release) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	out, removed := partsOfInstalls(&left, installs)
	for _, r := range left {
		part, hooks := object.PartOf(r.Name), removed
		if _, taken := out[part]; taken {
			part = object.PartOf(r.Namespace + "/" + r.Name)
			hooks = hooks && !slices.ContainsFunc(installs, func(i Install) bool { return i.has(r.Name) })
		}
		rec := inventory.Part{Revision: found[r], DeleteHooks: hooks}
		rec.MoveRelease(part, inventory.Release{}, r)
		out[part] = rec
	}
	return out
}

// partsOfInstalls returns the records of the installs of the bundle, and removes their releases from left. It reports whether the
// other releases belonged to other installs.
func partsOfInstalls(left *[]inventory.Release, installs []Install) (out map[object.PartID]inventory.Part, removed bool) {
	take := func(is func(r inventory.Release) bool) (r inventory.Release) {
		if n := slices.IndexFunc(*left, is); n >= 0 {
			r = (*left)[n]
			*left = slices.Delete(*left, n, n+1)
		}
		return r
	}
	current := make([]inventory.Release, len(installs))
	for n, i := range installs {
		current[n] = take(func(r inventory.Release) bool { return r == i.Release })
	}
	out, removed = map[object.PartID]inventory.Part{}, true
	for n, i := range installs {
		have := current[n]
		if have.IsZero() {
			have = take(func(r inventory.Release) bool { return i.has(r.Name) })
		}
		if have.IsZero() {
			removed = removed && (i.Release.IsZero() || i.Release.Name == i.Part.Install())
			continue
		}
		rec := inventory.Part{}
		rec.MoveRelease(i.Part, take(func(r inventory.Release) bool { return i.has(r.Name) }), have)
		out[i.Part] = rec
	}
	return out, removed
}

// has reports whether a release with a name belongs to the install, or did so before the install moved or changed.
func (i Install) has(release string) bool {
	return release == i.Part.Install() || release == i.Release.Name
}
