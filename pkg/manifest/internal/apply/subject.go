// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A Policy determines what may be done to objects that exist.
type Policy struct {
	// Recreate allows the applier to delete an object and create it again if an immutable field has to change.
	Recreate bool
	// CheckedCRDs is true if the plan checked all existing CRDs, including those of other owners.
	CheckedCRDs bool
	// Messages tell users what to do.
	Messages advice.Messages
}

// A Target identifies the cluster and the bundle.
type Target struct {
	Client *ssa.Client
	Mapper cluster.Mapper
	// ID of the ApplySet of the bundle.
	ID string
	// Namespace of the inventories.
	Namespace string
}

// A Subject is one object to apply.
type Subject struct {
	Object *object.Desired
	// Entry of the object in the inventory.
	Entry inventory.Entry
	// State of the object, as far as it is known without a request. Exists is false if none is known.
	State  cluster.ObjectState
	Exists bool
	// Drifted is true if the object differs from what was applied.
	Drifted bool
	// Restarted is true if contention for fields of the object ended because its inputs changed. Earlier counts no longer apply,
	// and the fields are applied again.
	Restarted bool
}
