// SPDX-License-Identifier: Apache-2.0

package advice

import "cmp"

// Messages are the parts of messages that tell users what to do. Each one is a clause such as "set Bundle.Adopt", which can
// follow "or" in a sentence. The defaults name the fields of a Bundle and the options of a call.
type Messages struct {
	// Adopt says how to take over an object, a release or an inventory of another owner, as Bundle.Adopt does.
	Adopt string
	// ForceRemoval says how to have everything deleted, as the option ForceRemoval does.
	ForceRemoval string
	// Recreate says how to have an object deleted and created again, as Bundle.Recreate does.
	Recreate string
	// OmitResource says how to leave the custom resource out of the bundle.
	OmitResource string
	// Rename says what to do if another bundle has the same name.
	Rename string
}

// WithDefaults returns the messages with defaults for the empty ones.
func (m Messages) WithDefaults() Messages {
	return Messages{
		Adopt:        cmp.Or(m.Adopt, "set Bundle.Adopt"),
		ForceRemoval: cmp.Or(m.ForceRemoval, "pass option ForceRemoval"),
		Recreate:     cmp.Or(m.Recreate, `set Bundle.Recreate, or annotation kyma.m.crossplane.io/recreate: "true" on the object`),
		OmitResource: cmp.Or(m.OmitResource, "leave out Bundle.Resource"),
		Rename:       cmp.Or(m.Rename, "choose another Bundle.Name"),
	}
}
