// SPDX-License-Identifier: Apache-2.0

package advice

import "cmp"

// Messages contains the parts of messages that advise users what to do. Each part is a clause such as "set Bundle.Adopt", which
// can follow "or" in a sentence. The defaults name the fields of a Bundle and the options of a call.
type Messages struct {
	// Adopt describes how to take over an object, a release or an inventory of another owner, as Bundle.Adopt does.
	Adopt string
	// ForceRemoval describes how to force the deletion of everything, as the option ForceRemoval does.
	ForceRemoval string
	// Recreate describes how to have an object deleted and created again, as Bundle.Recreate does.
	Recreate string
	// OmitResource describes how to leave the custom resource out of the bundle.
	OmitResource string
	// Rename describes what to do if another bundle has the same name.
	Rename string
	// MoveTo describes how to continue in another cluster, as Bundle.NewClusterUID does. The UID of that cluster follows.
	MoveTo string
	// TakeOver describes how to take over the inventories of another control plane, as Bundle.Predecessors does. Its UID follows.
	TakeOver string
}

// WithDefaults returns a copy of the messages in which defaults replace empty messages.
func (m Messages) WithDefaults() Messages {
	return Messages{
		Adopt:        cmp.Or(m.Adopt, "set Bundle.Adopt"),
		ForceRemoval: cmp.Or(m.ForceRemoval, "pass option ForceRemoval"),
		Recreate:     cmp.Or(m.Recreate, `set Bundle.Recreate, or annotation kyma.m.crossplane.io/recreate: "true" on the object`),
		OmitResource: cmp.Or(m.OmitResource, "omit Bundle.Resource"),
		Rename:       cmp.Or(m.Rename, "choose another Bundle.Name"),
		MoveTo:       cmp.Or(m.MoveTo, "set Bundle.NewClusterUID to"),
		TakeOver:     cmp.Or(m.TakeOver, "add to Bundle.Predecessors the UID"),
	}
}
