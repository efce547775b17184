// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// MaxData is the maximum size of the data of a parent Secret in bytes. The remaining space is reserved for the API server.
const MaxData = corev1.MaxSecretSize * 9 / 10

// entryReserve is the number of bytes by which a compressed entry grows when its object is applied. Its UID and its two hashes
// are random and therefore do not compress.
const entryReserve = 64

// CheckSize returns an error if the inventory does not fit into its parent, or will not fit once all objects are applied. The
// size is the current size of the inventory in bytes. Call CheckSize before applying objects, because all existing objects must
// be recorded.
func (i *Inventory) CheckSize(size int, parent cluster.ObjectRef) error {
	for n := range i.Objects {
		if i.Objects[n].UID == "" {
			size += entryReserve
		}
	}
	if size <= MaxData {
		return nil
	}
	return errors.Errorf("the inventory of %d objects has %d bytes, but %s can store at most %d; split the module into smaller ones",
		len(i.Objects), size, parent, MaxData)
}

// Fits reports whether the last known good revision fits into the parent next to an inventory of size bytes.
func Fits(size int, checkpoint []byte) bool { return size+len(checkpoint) <= MaxData }

// fitted returns a copy of the inventory that fits into its parent, and the stored form of the copy. If space is short, it drops
// the reasons of the last step first, and then the last known good revision. If even the entries do not fit, it returns an error
// along with the data.
func (i *Inventory) fitted(parent cluster.ObjectRef) (*Inventory, []byte, error) {
	kept := i.Clone()
	data, err := kept.Marshal()
	if err != nil {
		return nil, nil, err
	}
	if kept.Last != nil && (kept.CheckSize(len(data), parent) != nil || !Fits(len(data), kept.Checkpoint)) {
		kept.Last = nil
		if data, err = kept.Marshal(); err != nil {
			return nil, nil, err
		}
	}
	if !Fits(len(data), kept.Checkpoint) {
		kept.Checkpoint = nil
	}
	return kept, data, kept.CheckSize(len(data), parent)
}
