// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A Policy determines what the applier may do to existing objects.
type Policy struct {
	// Recreate allows the applier to delete an object and create it again if an immutable field has to change.
	Recreate bool
	// CheckedCRDs is true if the plan checked all existing CRDs, including CRDs of other owners.
	CheckedCRDs bool
	// Messages contains the advice to users.
	Messages advice.Messages
	// Examined stores the progress of checks of CRDs between calls. If it is nil, nothing is stored.
	Examined *Examined
	// Claim changes the entry of an object in the stored inventory, so that no other process can save or delete the inventory that it read
	// before. It returns an error if another process changed the inventory. Nil claims nothing.
	Claim func(ctx context.Context, ref cluster.ObjectRef) error
}

// A Target identifies the cluster and the bundle.
type Target struct {
	Client *ssa.Client
	Mapper cluster.Mapper
	// ID is the ID of the ApplySet of the bundle.
	ID string
	// Namespace is the namespace of the inventories.
	Namespace string
	// User is how the bundle marks CRDs of other owners that it uses.
	User ssa.User
}

// marks returns the marks of the bundle.
func (t *Target) marks() ssa.Marks { return ssa.Marks{Client: t.Client, User: t.User} }

// A Subject is one object to apply.
type Subject struct {
	Object *object.Desired
	// Entry is the entry of the object in the inventory.
	Entry inventory.Entry
	// State is the state of the object, as far as it is known without a request. Exists is false if no state is known.
	State  cluster.ObjectState
	Exists bool
	// Drifted is true if the object differs from what was applied.
	Drifted bool
	// Restarted is true if contention for fields of the object ended because the inputs of the object changed. Earlier counts are
	// invalid then, and the fields are applied again.
	Restarted bool
}
