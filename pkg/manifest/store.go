// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A store loads and saves the inventory of a bundle during one call. Once another client has changed the inventory, the store
// saves nothing for the rest of the call, and cancels the context of the call; the next call loads the inventory again.
type store struct {
	inventories *inventory.Store
	// last is the last known inventory in the cluster.
	last *inventory.Stored
	// changed is set once another client changed the inventory.
	changed *inventory.ChangedError
	stop    context.CancelFunc
	// renewed is called if the loaded inventory is not the last known one.
	renewed func()
	// hidden is true if the inventory lost the label that the watch selects. The next save restores it.
	hidden bool
	// confirming serializes confirm and claim, which objects that are applied at the same time call.
	confirming sync.Mutex
	// inputs contains the inputs of the parts of the bundle. It is nil if they are not known.
	inputs map[object.PartID]inventory.Inputs
}

// fenced returns a context for a call that writes. The context is canceled when the call ends, or when another client has changed
// the inventory.
func (s *store) fenced(ctx context.Context) context.Context {
	ctx, s.stop = context.WithCancel(ctx)
	return ctx
}

// load returns the inventory, or nil if the watch shows none.
func (s *store) load(ctx context.Context) (*inventory.Inventory, error) {
	stored, err := s.inventories.Load(ctx, *s.last)
	return s.loaded(stored, err)
}

// loadUnwatched returns the inventory, or nil if a request confirms that it does not exist.
func (s *store) loadUnwatched(ctx context.Context) (*inventory.Inventory, error) {
	stored, err := s.inventories.LoadUnwatched(ctx, *s.last)
	return s.loaded(stored, err)
}

// loaded remembers the result of a load, even if the load failed.
func (s *store) loaded(stored inventory.Stored, err error) (*inventory.Inventory, error) {
	if stored.Inventory != nil {
		// This only changes the inventory in memory: inventories that older versions stored are rewritten with the next change.
		stored.Inventory = stored.Inventory.WithContents(s.inputs)
	}
	if stored.UID != s.last.UID || stored.Version != s.last.Version {
		s.renewed()
	}
	*s.last = stored
	if err != nil {
		return nil, err
	}
	return stored.Inventory, nil
}

// loadOwn returns the inventory for a removal. It returns an *OwnedError if the inventory belongs to another owner, even if the
// bundle adopts.
func (s *store) loadOwn(ctx context.Context) (*inventory.Inventory, error) {
	inv, err := s.loadUnwatched(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.inventories.CheckOwner(*s.last); err != nil {
		return nil, err
	}
	return inv, nil
}

// owns reports whether the last loaded inventory belongs to the owner of the bundle.
func (s *store) owns() bool { return s.inventories.Owns(*s.last) }

// isTaken reports whether the last loaded inventory belongs to an owner with another name.
func (s *store) isTaken() bool { return !s.owns() && s.last.Owner != s.inventories.Owner }

// isMoved reports whether the last loaded inventory was copied from another cluster.
func (s *store) isMoved() bool { return s.inventories.IsMoved(*s.last) }

// save saves the inventory, and returns it as stored. If none was loaded, save creates one, and returns inventory.ErrExists if
// one exists after all.
func (s *store) save(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error) {
	if s.changed != nil {
		return s.last.Inventory, s.changed
	}
	save := s.inventories.Save
	if s.last.Inventory == nil {
		save = s.inventories.Create
	}
	stored, err := save(ctx, *s.last, inv)
	*s.last = stored
	if errors.As(err, &s.changed) {
		s.stop()
	}
	return stored.Inventory, err
}

// confirm returns a *ChangedError if another client changed the inventory since it was last read or saved. It sends one request.
func (s *store) confirm(ctx context.Context) error {
	s.confirming.Lock()
	defer s.confirming.Unlock()
	if s.changed != nil {
		return s.changed
	}
	current, err := s.inventories.IsCurrent(ctx, *s.last)
	if err != nil || current {
		return err
	}
	*s.last, s.changed = inventory.Stored{}, &inventory.ChangedError{Inventory: s.inventories.Ref}
	s.stop()
	return s.changed
}

// claim changes the entry of an object in the stored inventory, so that another process that read the inventory before can neither save nor
// delete it, and has to read the object again. It counts the claim as a repair of the object at the given time.
func (s *store) claim(ctx context.Context, ref cluster.ObjectRef, now time.Time) error {
	s.confirming.Lock()
	defer s.confirming.Unlock()
	inv := s.last.Inventory.Clone()
	en := inv.Find(ref)
	if en == nil {
		return nil // The inventory does not list it, so that the next save changes the inventory.
	}
	en.Restores = en.Restores.Add(now)
	_, err := s.save(ctx, inv)
	return err
}

// delete deletes the inventory.
func (s *store) delete(ctx context.Context) error {
	stored, err := s.inventories.Delete(ctx, *s.last)
	*s.last = stored
	return err
}

// isStored reports whether the cluster has an inventory, as far as is known.
func (s *store) isStored() bool { return s.last.Inventory != nil }
