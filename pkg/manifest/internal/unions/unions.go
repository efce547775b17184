// SPDX-License-Identifier: Apache-2.0

package unions

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

// A Leftover is a member of a union that an object has, that is not wanted, and that may not stand beside what is wanted.
type Leftover struct {
	// Path of the member.
	Path fieldpath.Path
	// Beside is the field of the union that is wanted, and that the member may not stand beside: another member, or the discriminator.
	Beside fieldpath.Path
	// Value of the discriminator; empty for another member.
	Value string
	// Managers are the other managers that own the member or a part of it, sorted. Where there are none, nobody owns it.
	Managers []string

	union *union
}

// Wanted returns the wanted field as text, with the value of a discriminator: spec.strategy.type Recreate.
func (l *Leftover) Wanted() string {
	if l.Value == "" {
		return fieldset.Text(l.Beside)
	}
	return fieldset.Text(l.Beside) + " " + l.Value
}

// Known says whether a kind has unions in which there may be leftovers.
func Known(gk schema.GroupKind) bool {
	_, ok := podSpecs[gk]
	return ok
}

// Find the leftovers in a live object of what is wanted of it. What is ours is none, because server-side apply removes it
// where it is no longer wanted, unless null is wanted of it, which it takes for wanting it. Ours says which entries of
// managedFields that are.
func Find(gk schema.GroupKind, want, live map[string]any, managed []metav1.ManagedFieldsEntry, ours func(*metav1.ManagedFieldsEntry) bool) []Leftover {
	f := &finder{ours: &fieldpath.Set{}}
	for i := range managed {
		e := &managed[i]
		set := fieldset.Of(e.FieldsV1)
		switch {
		case set == nil:
		case ours(e):
			f.ours = f.ours.Union(set)
		default:
			f.others = append(f.others, owner{manager: e.Manager, fields: set})
		}
	}
	for _, u := range table(gk) {
		f.walk(&u, nil, strings.Split(u.at, "."), want, live)
	}
	return f.found
}

type owner struct {
	manager string
	fields  *fieldpath.Set
}

type finder struct {
	ours   *fieldpath.Set
	others []owner
	found  []Leftover
}

// walk to a union, in what is wanted and in what is there at once.
func (f *finder) walk(u *union, path fieldpath.Path, steps []string, want, live map[string]any) {
	if len(steps) == 0 {
		f.look(u, path, want, live)
		return
	}
	field, key, isList := strings.Cut(strings.TrimSuffix(steps[0], "]"), "[")
	path = append(path, fieldpath.PathElement{FieldName: &field})
	if !isList {
		w, ok := want[field].(map[string]any)
		l, there := live[field].(map[string]any)
		if ok && there {
			f.walk(u, path, steps[1:], w, l)
		}
		return
	}
	items, _ := want[field].([]any)
	for _, item := range items {
		w, ok := item.(map[string]any)
		if !ok {
			continue
		}
		pe := fieldpath.PathElement{Key: &value.FieldList{{Name: key, Value: value.NewValueInterface(w[key])}}}
		at := append(path.Copy(), pe)
		l, ok := fieldset.At(live, at[len(path)-1:])
		if m, isMap := l.(map[string]any); ok && isMap {
			f.walk(u, at, steps[1:], w, m)
		}
	}
}

// look at one union.
func (f *finder) look(u *union, path fieldpath.Path, want, live map[string]any) {
	chosen, ok := f.choice(u, path, want, live)
	if !ok {
		return
	}
	for _, m := range slices.Sorted(maps.Keys(u.members)) {
		if live[m] == nil || want[m] != nil || chosen.allows(u, m) {
			continue
		}
		p := append(path.Copy(), fieldpath.PathElement{FieldName: &m})
		managers := f.managers(p)
		_, null := want[m]
		if len(managers) == 0 && !null && fieldset.Touches(f.ours, p) {
			continue
		}
		f.found = append(f.found, Leftover{Path: p, Beside: chosen.field(path), Value: chosen.value, Managers: managers, union: u})
	}
}

// A choice is what is wanted of a union: one of its members, or a value of its discriminator.
type choice struct{ name, value string }

// field returns the path of what is chosen of the union at a path.
func (c choice) field(path fieldpath.Path) fieldpath.Path {
	return append(path.Copy(), fieldpath.PathElement{FieldName: &c.name})
}

// allows reports whether a member may stand beside what is chosen.
func (c choice) allows(u *union, member string) bool {
	if u.discriminator == "" {
		return member == c.name
	}
	return u.members[member] == c.value
}

// choice returns what is wanted of a union; false where nothing is.
func (f *finder) choice(u *union, path fieldpath.Path, want, live map[string]any) (choice, bool) {
	if u.discriminator == "" {
		for _, m := range slices.Sorted(maps.Keys(u.members)) {
			if want[m] != nil {
				return choice{name: m}, true
			}
		}
		return choice{}, false
	}
	out := choice{name: u.discriminator}
	out.value, _ = want[u.discriminator].(string)
	if out.value == "" && len(f.managers(out.field(path))) > 0 {
		out.value, _ = live[u.discriminator].(string)
	}
	if out.value == "" {
		out.value = u.initial
	}
	return out, true
}

// managers other than us that own a field, or a part of it.
func (f *finder) managers(p fieldpath.Path) []string {
	var out []string
	for _, o := range f.others {
		if fieldset.Touches(o.fields, p) && !slices.Contains(out, o.manager) {
			out = append(out, o.manager)
		}
	}
	slices.Sort(out)
	return out
}

// Keep is an object with the unions of leftovers as they are in another one: discriminators and members. It changes and
// returns the object.
func Keep(object, as map[string]any, leftovers []Leftover) map[string]any {
	for i := range leftovers {
		l := &leftovers[i]
		at := l.Path[:len(l.Path)-1]
		to, ok := fieldset.At(object, at)
		from, there := fieldset.At(as, at)
		t, isMap := to.(map[string]any)
		f, both := from.(map[string]any)
		if !ok || !there || !isMap || !both {
			continue
		}
		fields := slices.Collect(maps.Keys(l.union.members))
		if l.union.discriminator != "" {
			fields = append(fields, l.union.discriminator)
		}
		for _, name := range fields {
			delete(t, name)
			if v := f[name]; v != nil {
				t[name] = v
			}
		}
	}
	return object
}
