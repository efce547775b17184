// SPDX-License-Identifier: Apache-2.0

package inventory

import "github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"

// Inputs identifies the inputs from which a part is applied.
type Inputs struct {
	// Digest is the digest of all inputs. Content is the digest of the inputs without the labels of the bundle, which only
	// decorate the objects. Inputs that older versions stored have no Content.
	Digest, Content string
}

// SharesContent reports whether two inputs are equal, except for the labels of the bundle.
func (i Inputs) SharesContent(o Inputs) bool {
	return i.Digest == o.Digest || i.Content != "" && i.Content == o.Content
}

// Applied returns the inputs that were applied completely. If labels are being applied, they have a Content only.
func (r *Part) Applied() Inputs { return Inputs{Digest: r.Digest, Content: r.Content} }

// Invalidate makes the engine apply the part again, even with the same inputs.
func (r *Part) Invalidate() { r.Digest, r.Content = "", "" }

// Reapply makes the engine apply the objects of the part again, as after a change of labels: without hooks and without a revision. If an
// older version recorded no Content, it does the same as Invalidate.
func (r *Part) Reapply() { r.Digest = "" }

// Of returns the inputs for which the run began.
func (r *Run) Of() Inputs { return Inputs{Digest: r.Inputs, Content: r.Content} }

// WithContents returns the inventory with the Content added to each part and run that has the given inputs but no Content, so
// that an inventory of an older version equals a new one. If there is nothing to add, it returns the inventory itself.
func (i *Inventory) WithContents(inputs map[object.PartID]Inputs) *Inventory {
	out := i
	for name, rec := range i.Parts {
		in, known := inputs[name]
		if !known {
			continue
		}
		old := rec
		if rec.Digest == in.Digest && rec.Content == "" {
			rec.Content = in.Content
		}
		if rec.Run != nil && rec.Run.Inputs == in.Digest && rec.Run.Content == "" {
			run := *rec.Run
			run.Content = in.Content
			rec.Run = &run
		}
		if rec.Content == old.Content && rec.Run == old.Run {
			continue
		}
		if out == i {
			out = i.Clone()
		}
		out.Parts[name] = rec
	}
	return out
}
