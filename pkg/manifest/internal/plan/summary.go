// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// An Action is what would be done to one object.
type Action string

// The actions of a Summary.
const (
	ActionCreate   Action = "Create"
	ActionChange   Action = "Change"
	ActionRecreate Action = "Recreate"
	ActionPrune    Action = "Prune"
)

// A Change is what would be done to one object.
type Change struct {
	Key    cluster.ObjectRef
	Action Action
	// Fields that would change, as paths. Values are never part of it.
	Fields []string
}

// A Summary is what a plan would do, until nothing is left to do.
type Summary struct {
	// Changes in the order in which they would be made.
	Changes []Change
	// Problems say what cannot be planned, or would be refused, a line each, with the name of the part in front.
	Problems []string
	// Notes say what else there is to know: namespaces that would be created, hooks that would run.
	Notes []string
	// Basis identifies what the plan is based on: the bundle, its inventory, and what is known of its objects.
	Basis string
	// Content identifies what would be applied, as it was composed of that.
	Content string
}

// Clone returns a copy that shares nothing with the summary.
func (s *Summary) Clone() Summary {
	out := *s
	out.Changes, out.Problems, out.Notes = slices.Clone(s.Changes), slices.Clone(s.Problems), slices.Clone(s.Notes)
	for i := range out.Changes {
		out.Changes[i].Fields = slices.Clone(out.Changes[i].Fields)
	}
	return out
}

// Empty reports whether nothing would be changed, and nothing is in the way.
func (s *Summary) Empty() bool {
	return len(s.Changes) == 0 && len(s.Problems) == 0
}

// String returns a line for each change, problem and note.
func (s *Summary) String() string {
	var b strings.Builder
	for i := range s.Changes {
		c := &s.Changes[i]
		fmt.Fprintf(&b, "%s %s", c.Action, c.Key)
		if len(c.Fields) > 0 {
			fmt.Fprintf(&b, ": %s", strings.Join(c.Fields, ", "))
		}
		b.WriteByte('\n')
	}
	for _, p := range s.Problems {
		fmt.Fprintf(&b, "Problem: %s\n", p)
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "Note: %s\n", n)
	}
	return b.String()
}

// Fingerprint returns a digest of all that a plan is made of, as far as it is known without a request. Of is what else matters: the
// identity and the options of the bundle, and the version of its inventory.
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
		// Whether an object exists, and which bundle it belongs to, decides how it is applied.
		for i := range inv.Objects {
			s, exists := objects[inv.Objects[i].Ref()]
			line(exists, s.UID, s.Set, s.Status == cluster.Terminating)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Digest returns a digest of what a plan applies: the objects and the hooks of its components, and the parts that are kept from being
// applied. It leaves out which parts are held back, as a plan that is only shown holds none, and the reasons, which differ each time.
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
	for _, v := range p.Verdicts {
		if v.State != Held {
			fmt.Fprintf(h, "verdict %q %s\n", v.Part, v.State)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
