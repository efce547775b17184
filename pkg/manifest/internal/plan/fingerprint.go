// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// Fingerprint returns a digest of everything that determines a plan, as far as it is known without a request. Pass all other
// values that affect the plan as of: the identity and the options of the bundle, and the version of its inventory.
func Fingerprint(
	parts []bundle.Part, inv *inventory.Inventory, objects map[cluster.ObjectRef]cluster.ObjectState, drifted map[cluster.ObjectRef]bool, of ...any,
) string {
	h := sha256.New()
	line := func(v ...any) { fmt.Fprintln(h, v...) }
	line(of...)
	for i := range parts {
		line(string(parts[i].Name), parts[i].Digest)
	}
	found := make([]string, 0, len(drifted))
	for ref := range drifted {
		s, exists := objects[ref]
		found = append(found, fmt.Sprint(ref, exists, s.ResourceVersion))
	}
	slices.Sort(found)
	line(found)
	if inv != nil {
		// How an object is applied depends on whether it exists, and on its bundle.
		for i := range inv.Objects {
			s, exists := objects[inv.Objects[i].Ref()]
			line(exists, s.UID, s.Set, s.Status == cluster.Terminating)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
