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

// A Leftover is a live union member that is not desired and conflicts with the desired object.
type Leftover struct {
	// Path is the path of the member.
	Path fieldpath.Path
	// Beside is the desired field that the member conflicts with: another member, or the discriminator.
	Beside fieldpath.Path
	// Value is the value of the discriminator, or empty if Beside is another member.
	Value string
	// Managers lists the other managers that own the member or a part of it, sorted. If it is empty, no other manager owns it.
	Managers []string

	union *union
}

// Wanted returns the desired field as text, followed by the value if it is a discriminator, for example: spec.strategy.type
// Recreate.
func (l *Leftover) Wanted() string {
	if l.Value == "" {
		return fieldset.Text(l.Beside)
	}
	return fieldset.Text(l.Beside) + " " + l.Value
}

// Known reports whether a kind has unions that can have leftovers.
func Known(gk schema.GroupKind) bool {
	_, ok := podSpecs[gk]
	return ok
}

// Find returns the live union members that are not desired and conflict with the desired object. It skips members that only the
// engine owns, because server-side apply removes them. It does not skip members that the desired object sets to null, because
// that counts as applying them. Ours reports whether an entry of managedFields belongs to the engine.
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

// walk follows the path of a union in the desired and the live object, and records the leftovers of each instance.
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

// look records the leftovers of one union.
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

// A choice is the desired value of a union: one of its members, or a value of its discriminator.
type choice struct{ name, value string }

// field returns the path of the chosen field of the union at a path.
func (c choice) field(path fieldpath.Path) fieldpath.Path {
	return append(path.Copy(), fieldpath.PathElement{FieldName: &c.name})
}

// allows reports whether a member may accompany the choice.
func (c choice) allows(u *union, member string) bool {
	if u.discriminator == "" {
		return member == c.name
	}
	return u.members[member] == c.value
}

// choice returns the desired choice of a union, and false if there is none.
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

// managers returns the sorted managers, other than the engine, that own a field or a part of it.
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

// Keep copies the unions of leftovers, with discriminators and members, from the object as into object. It changes and returns
// object.
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
