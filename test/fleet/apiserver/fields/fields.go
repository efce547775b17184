// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/kinds"
)

// managers caches the field managers, which are expensive to create, by their kind and subresource.
var managers sync.Map

type key struct {
	kind        *kinds.Kind
	subresource string
}

// managerFor returns the field manager of a kind.
func managerFor(k *kinds.Kind, subresource string) (*managedfields.FieldManager, error) {
	if m, ok := managers.Load(key{k, subresource}); ok {
		return m.(*managedfields.FieldManager), nil //nolint:forcetypeassert // Nothing else is stored.
	}
	c := codec{k}
	create := managedfields.NewDefaultFieldManager
	if k.Custom != nil {
		create = managedfields.NewDefaultCRDFieldManager
	}
	m, err := create(k.Types(), c, c, c, k.GroupVersionKind, k.GroupVersion(), subresource, ignored(k, subresource))
	if err != nil {
		return nil, errors.Wrapf(err, "cannot create a field manager for %s", k.Kind)
	}
	managers.Store(key{k, subresource}, m)
	return m, nil
}

// ignored returns the fields that a write cannot change, and that it therefore does not own.
func ignored(k *kinds.Kind, subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	var paths []fieldpath.Path
	switch {
	case !k.HasStatus:
		return nil
	case subresource == "":
		paths = append(paths, fieldpath.MakePathOrDie("status"))
	case k.Custom != nil || k.Kind == "CustomResourceDefinition":
		paths = append(paths, fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
	case k.Group == "apps" && k.Kind == "Deployment":
		paths = append(paths, fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "labels"))
	default:
		paths = append(paths, fieldpath.MakePathOrDie("spec"))
	}
	v := fieldpath.APIVersion(k.GroupVersion().String())
	return map[fieldpath.APIVersion]fieldpath.Filter{v: fieldpath.NewExcludeSetFilter(fieldpath.NewSet(paths...))}
}

// Apply returns the object that server-side apply produces from a live object, or from nil, and what a manager applies. It changes no
// argument. The error is a conflict if other managers own fields and force is false.
func Apply(k *kinds.Kind, subresource string, live, applied map[string]any, manager string, force bool) (map[string]any, error) {
	m, err := managerFor(k, subresource)
	if err != nil {
		return nil, err
	}
	patch := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(applied)}
	was, err := liveOrNew(k, live)
	if err != nil {
		return nil, err
	}
	out, err := m.Apply(was, patch, manager, force)
	return content(k, out, err)
}

// Update returns a changed object with the managedFields that follow from the change, from a live object, or from nil. The changed
// object must be canonical except for its managedFields, and becomes part of the result.
func Update(k *kinds.Kind, subresource string, live, next map[string]any, manager string) (map[string]any, error) {
	m, err := managerFor(k, subresource)
	if err != nil {
		return nil, err
	}
	was, err := liveOrNew(k, live)
	if err != nil {
		return nil, err
	}
	is, err := liveOrNew(k, next)
	if err != nil {
		return nil, err
	}
	out, err := m.Update(was, is, manager)
	return content(k, out, err)
}

// SameButTimes reports whether two objects differ at most in the times of their managedFields.
func SameButTimes(a, b map[string]any) bool {
	ma, _ := a["metadata"].(map[string]any)
	mb, _ := b["metadata"].(map[string]any)
	for k, v := range a {
		if k != "metadata" && !reflect.DeepEqual(v, b[k]) {
			return false
		}
	}
	for k, v := range ma {
		if k != "managedFields" && !reflect.DeepEqual(v, mb[k]) {
			return false
		}
	}
	return len(a) == len(b) && len(ma) == len(mb) && reflect.DeepEqual(timeless(ma["managedFields"]), timeless(mb["managedFields"]))
}

// timeless returns entries of managedFields without their times.
func timeless(entries any) []any {
	list, _ := entries.([]any)
	out := make([]any, 0, len(list))
	for _, e := range list {
		m, _ := e.(map[string]any)
		c := make(map[string]any, len(m))
		for k, v := range m {
			if k != "time" {
				c[k] = v
			}
		}
		out = append(out, c)
	}
	return out
}

// content returns the content of an object.
func content(k *kinds.Kind, o runtime.Object, err error) (map[string]any, error) {
	if err != nil {
		return nil, err
	}
	if u, ok := o.(*unstructured.Unstructured); ok {
		return u.Object, nil
	}
	return k.Encode(o)
}

// liveOrNew returns an object, or an empty one for nil. An object of a built-in kind gets its Go type: unlike in what a client applies,
// empty fields of a Go type are not owned.
func liveOrNew(k *kinds.Kind, live map[string]any) (runtime.Object, error) {
	if live == nil {
		live = map[string]any{"metadata": map[string]any{}}
	}
	if k.Custom == nil {
		return k.Decode(live)
	}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(live)}
	u.SetGroupVersionKind(k.GroupVersionKind)
	return u, nil
}

// A codec converts objects between versions by changing their apiVersion, and makes them canonical.
type codec struct{ kind *kinds.Kind }

// Convert returns an error, because objects are only converted with ConvertToVersion.
func (codec) Convert(any, any, any) error { return errors.New("converts to versions only") }

// ConvertToVersion returns a copy in another version, or in the Go type.
func (c codec) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	u, ok := in.(*unstructured.Unstructured)
	if !ok {
		return in.DeepCopyObject(), nil
	}
	if c.kind.Custom == nil {
		return c.kind.Decode(u.Object)
	}
	gvk, ok := gv.KindForGroupVersionKinds([]schema.GroupVersionKind{in.GetObjectKind().GroupVersionKind()})
	if !ok {
		return nil, errors.Errorf("cannot convert to %s", gv)
	}
	out := u.DeepCopy()
	out.SetAPIVersion(gvk.GroupVersion().String())
	return out, nil
}

// ConvertFieldLabel returns its arguments.
func (codec) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default makes an object canonical.
func (c codec) Default(in runtime.Object) {
	u, ok := in.(*unstructured.Unstructured)
	if !ok {
		kinds.SetDefaults(in)
		return
	}
	if out, err := c.kind.Canonical(u.Object); err == nil {
		u.Object = out
	}
}

// New returns an empty object.
func (c codec) New(schema.GroupVersionKind) (runtime.Object, error) { return liveOrNew(c.kind, nil) }
