// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"sort"
	"strings"
)

// GroupKinds returns the kinds of the members, in the format of the contains-group-kinds annotation of KEP-3659.
func GroupKinds(inv *Inventory) string {
	seen := map[string]bool{}
	for i := range inv.Objects {
		seen[inv.Objects[i].Ref().GroupKind().String()] = true
	}
	return joined(seen)
}

// Namespaces returns the namespaces of the members except the namespace of the parent, in the format of the additional-namespaces
// annotation of KEP-3659.
func Namespaces(inv *Inventory, parent string) string {
	seen := map[string]bool{}
	for i := range inv.Objects {
		if n := inv.Objects[i].Namespace; n != "" && n != parent {
			seen[n] = true
		}
	}
	return joined(seen)
}

// joined returns the keys of a map, sorted and separated by commas.
func joined(seen map[string]bool) string {
	out := make([]string, 0, len(seen))
	for s := range seen {
		out = append(out, s)
	}
	sort.Strings(out)
	return strings.Join(out, ",")
}
