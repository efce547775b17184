// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest returns a digest of the content of a plan: the objects and hooks of its components, and the parts that are not applied.
// It ignores held parts, because a dry run does not hold parts, and reasons, because they differ every time.
func (p *Plan) Digest() string {
	h := sha256.New()
	for _, c := range p.Components {
		fmt.Fprintf(h, "component %q %q\n", c.Name, c.Purpose)
		for i := range c.Objects {
			fmt.Fprintf(h, "object %q %q\n", c.Objects[i].Ref.String(), c.Objects[i].Hash)
		}
		for i := range c.Hooks {
			fmt.Fprintf(h, "hook %q %q\n", c.Hooks[i].Path, c.Hooks[i].Manifest)
		}
	}
	for _, v := range p.Decisions {
		if v.Hindrance != Held {
			fmt.Fprintf(h, "verdict %q %s\n", v.Part, v.Hindrance)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
