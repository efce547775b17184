// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// Bounds of the references of a component, direct or indirect.
const (
	maxDepth      = 8                     // References in a chain.
	maxComponents = 64                    // Total number of components, including the root.
	maxCollected  = 4 * ocm.MaxDescriptor // Total size of the descriptors in memory, in bytes.
)

// Collect returns root and all components that it references, directly or not, without duplicates: root first, and a
// component before those that it references. It fetches the others from l, the location of root. It returns an
// *ocm.InvalidError for cycles, more than 8 references in a chain, more than 64 components and more than 16 MiB of
// descriptors, and otherwise the errors of Fetch.
func Collect(ctx context.Context, r Registry, l ocm.Location, root *ocm.Descriptor) ([]*ocm.Descriptor, error) {
	c := &collector{registry: r, location: l, seen: map[string]struct{}{}}
	if err := c.add(ctx, root); err != nil {
		return nil, errors.Wrapf(err, "cannot collect the components that component %s references", root.ID())
	}
	return c.found, nil
}

type collector struct {
	registry Registry
	location ocm.Location
	seen     map[string]struct{}
	path     []string
	found    []*ocm.Descriptor
	size     int
}

func (c *collector) add(ctx context.Context, d *ocm.Descriptor) error {
	if len(c.found) == maxComponents {
		return ocm.Invalid(errors.Errorf("there are more than %d components", maxComponents))
	}
	if c.size += len(d.JSON()); c.size > maxCollected {
		return ocm.Invalid(errors.Errorf("the total size of the descriptors exceeds the limit of %d bytes", maxCollected))
	}
	if len(c.path) > maxDepth {
		return ocm.Invalid(errors.Errorf("references are nested more than %d levels deep: %s", maxDepth, strings.Join(append(c.path, d.ID()), " -> ")))
	}
	c.found = append(c.found, d)
	c.seen[d.ID()] = struct{}{}
	c.path = append(c.path, d.ID())
	for _, ref := range d.References() {
		if err := c.follow(ctx, d, ref); err != nil {
			return err
		}
	}
	c.path = c.path[:len(c.path)-1]
	return nil
}

func (c *collector) follow(ctx context.Context, d *ocm.Descriptor, ref ocm.Reference) error {
	id := ref.ID()
	if slices.Contains(c.path, id) {
		return ocm.Invalid(errors.Errorf("references form a cycle: %s", strings.Join(append(c.path, id), " -> ")))
	}
	if _, ok := c.seen[id]; ok {
		return nil
	}
	child, _, err := Fetch(ctx, c.registry, c.location, ref.Component, ref.Version)
	if err != nil {
		return errors.Wrapf(err, "reference %q of component %s", ref.Name, d.ID())
	}
	return c.add(ctx, child)
}
