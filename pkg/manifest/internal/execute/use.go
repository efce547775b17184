// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// A HandedOver is a CRD that stays in the cluster because other bundles use it.
type HandedOver = teardown.HandedOver

// A SharedCRD is a CRD that existed before the bundle.
type SharedCRD struct {
	Ref cluster.ObjectRef
	// Owner is the owner of the bundle that owns the CRD, or empty if it is unknown or no bundle owns the CRD.
	Owner string
	// Inherited is true if the bundle used the CRD before, and owns it now. Otherwise, the bundle uses it as it is.
	Inherited bool
}

// String returns a message that names the CRD and its owner.
func (s SharedCRD) String() string {
	switch {
	case s.Inherited:
		return s.Ref.String() + " no longer had an owner, and now belongs to this module"
	case s.Owner == "":
		return s.Ref.String() + " already exists, and is used as is"
	}
	return s.Ref.String() + " already exists, belongs to " + s.Owner + ", and is used as is"
}
