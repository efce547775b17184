// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// MaxData is how many bytes the data of a parent Secret may have. The rest is for what the API server needs.
const MaxData = corev1.MaxSecretSize * 9 / 10

// entryReserve is how many bytes the compressed entry of an object grows by when the object is applied: its UID and two hashes are
// random, so that they do not compress.
const entryReserve = 64

// CheckRoom returns an error if the inventory, which has size bytes now, does not fit into its parent, or will not when all
// objects are applied. Call it before they are: afterwards what exists could not be recorded.
func (i *Inventory) CheckRoom(size int, parent cluster.ObjectRef) error {
	for n := range i.Objects {
		if i.Objects[n].UID == "" {
			size += entryReserve
		}
	}
	if size <= MaxData {
		return nil
	}
	return errors.Errorf("the inventory of %d objects takes %d bytes, and %s holds %d; split the set into several with fewer objects",
		len(i.Objects), size, parent, MaxData)
}

// Fits reports whether the parent has room for the last known good revision beside an inventory of size bytes.
func Fits(size int, good []byte) bool { return size+len(good) <= MaxData }

// fitted returns a copy of the inventory with as much as its parent has room for, and its data. Entries come first, then the last known
// good revision, then the reasons of the last step. The error is that there is no room for the entries; the data are returned all the same.
func (i *Inventory) fitted(parent cluster.ObjectRef) (*Inventory, []byte, error) {
	kept := i.Clone()
	data, err := kept.Marshal()
	if err != nil {
		return nil, nil, err
	}
	if kept.Last != nil && (kept.CheckRoom(len(data), parent) != nil || !Fits(len(data), kept.Good)) {
		kept.Last = nil
		if data, err = kept.Marshal(); err != nil {
			return nil, nil, err
		}
	}
	if !Fits(len(data), kept.Good) {
		kept.Good = nil
	}
	return kept, data, kept.CheckRoom(len(data), parent)
}
