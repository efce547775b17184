// SPDX-License-Identifier: Apache-2.0

package advice

import "cmp"

// Messages are the parts of messages that tell users what to do, each as it stands after "or" in a sentence. Empty ones
// name the fields of a Bundle and the options of a call.
type Messages struct {
	// Adopt says what to do to have an object, a release or an inventory of others "taken over", as Bundle.Adopt does.
	Adopt string
	// ForceRemoval says what to do "to have all deleted", as the option ForceRemoval does.
	ForceRemoval string
	// Recreate says what to do to have an object "deleted and created anew", as Bundle.Recreate does.
	Recreate string
	// OmitResource says what to do to have no custom resource in the bundle.
	OmitResource string
	// Rename says what to do where another bundle has the name.
	Rename string
}

// WithDefaults returns the messages with defaults for the empty ones.
func (m Messages) WithDefaults() Messages {
	return Messages{
		Adopt:        cmp.Or(m.Adopt, "set Bundle.Adopt"),
		ForceRemoval: cmp.Or(m.ForceRemoval, "pass option ForceRemoval"),
		Recreate:     cmp.Or(m.Recreate, `set Bundle.Recreate, or annotation kyma.m.crossplane.io/recreate: "true" on the object,`),
		OmitResource: cmp.Or(m.OmitResource, "leave out Bundle.Resource"),
		Rename:       cmp.Or(m.Rename, "choose another Bundle.Name"),
	}
}
