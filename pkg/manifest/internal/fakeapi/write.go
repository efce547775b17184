// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A codec converts objects between versions by changing their apiVersion, and sets defaults.
type codec struct{}

func (codec) Convert(any, any, any) error { return errors.New("converts to versions only") }

func (codec) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	gvk, ok := gv.KindForGroupVersionKinds([]schema.GroupVersionKind{in.GetObjectKind().GroupVersionKind()})
	u, isUnstructured := in.(*unstructured.Unstructured)
	if !ok || !isUnstructured {
		return nil, errors.Errorf("cannot convert to %s", gv)
	}
	return inVersion(u, gvk.GroupVersion()), nil
}

func (codec) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (codec) Default(in runtime.Object) {
	if u, ok := in.(*unstructured.Unstructured); ok {
		setDefaults(u)
	}
}

func (codec) New(gvk schema.GroupVersionKind) (runtime.Object, error) { return newObject(gvk), nil }

func newObject(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{}}}
	u.SetGroupVersionKind(gvk)
	return u
}

// inVersion returns a copy of an object in another version.
func inVersion(u *unstructured.Unstructured, gv schema.GroupVersion) *unstructured.Unstructured {
	out := u.DeepCopy()
	out.SetAPIVersion(gv.String())
	return out
}

// fields returns the field manager that Kubernetes uses for a kind.
func fields(gvk schema.GroupVersionKind, subresource string) (*managedfields.FieldManager, error) {
	c, err := newConverter()
	if err != nil {
		return nil, err
	}
	return managedfields.NewDefaultCRDFieldManager(c, codec{}, codec{}, codec{}, gvk, gvk.GroupVersion(), subresource, nil)
}

// admit returns an error if a write needs a namespace that does not exist.
func (c *Cluster) admit(ref cluster.ObjectRef) error {
	if ref.Namespace != "" && c.objects[cluster.ObjectRef{Kind: "Namespace", Name: ref.Namespace}] == nil {
		return kerrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, ref.Namespace)
	}
	return nil
}

// apply implements server-side apply.
func (c *Cluster) apply(r *request) (*unstructured.Unstructured, error) {
	want := &unstructured.Unstructured{}
	if err := want.UnmarshalJSON(r.body); err != nil {
		return nil, kerrors.NewBadRequest(err.Error())
	}
	if want.GroupVersionKind() != r.gvk || want.GetName() != r.ref.Name || want.GetNamespace() != r.ref.Namespace {
		return nil, kerrors.NewBadRequest("the body is another object than the path")
	}
	if err := c.admit(r.ref); err != nil {
		return nil, err
	}
	if err := c.precondition(r, want); err != nil {
		return nil, err
	}
	want.SetResourceVersion("")
	want.SetUID("")
	return c.applied(r, want, r.query.Get("fieldManager"))
}

// precondition returns an error if the version or UID of the object in the cluster differs from what an apply requires.
func (c *Cluster) precondition(r *request, want *unstructured.Unstructured) error {
	old := c.objects[r.ref]
	if v := want.GetResourceVersion(); old != nil && v != "" && !c.Unconditional && v != old.GetResourceVersion() {
		return modified(r)
	}
	uid := want.GetUID()
	switch {
	case uid == "" || old != nil && old.GetUID() == uid:
		return nil
	case old != nil && want.GetResourceVersion() == "":
		return immutableUID(r, uid)
	}
	return otherUID(r)
}

func modified(r *request) error {
	return kerrors.NewConflict(r.resource(), r.ref.Name, errors.New("the object has been modified"))
}

func (c *Cluster) applied(r *request, want *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
	f, err := fields(r.gvk, "")
	if err != nil {
		return nil, err
	}
	live := newObject(r.gvk)
	if old := c.objects[r.ref]; old != nil {
		live = inVersion(old, r.gvk.GroupVersion())
	}
	next, err := f.Apply(live, want, manager, r.query.Get("force") == "true")
	if err != nil {
		return nil, err
	}
	return c.store(r, next)
}

// patch applies a JSON patch of fields at most one level deep, such as managedFields.
func (c *Cluster) patch(r *request) (*unstructured.Unstructured, error) {
	old, err := c.live(r)
	if err != nil {
		return nil, err
	}
	var operations []any
	if err := utiljson.Unmarshal(r.body, &operations); err != nil {
		return nil, kerrors.NewBadRequest(err.Error())
	}
	next := old.DeepCopy()
	for _, o := range operations {
		m, _ := o.(map[string]any)
		path, _ := m["path"].(string)
		if path == "/metadata/resourceVersion" && m["value"] != old.GetResourceVersion() {
			return nil, modified(r)
		}
		if err := unstructured.SetNestedField(next.Object, m["value"], strings.Split(path[1:], "/")...); err != nil {
			return nil, kerrors.NewBadRequest(err.Error())
		}
	}
	return c.updated(r, next, r.query.Get("fieldManager"), "")
}

const mergePatch = "application/merge-patch+json"

// merge applies a merge patch. A UID and a resource version in the patch are preconditions.
func (c *Cluster) merge(r *request) (*unstructured.Unstructured, error) {
	old, err := c.live(r)
	if err != nil {
		return nil, err
	}
	change := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(r.body, &change.Object); err != nil {
		return nil, kerrors.NewBadRequest(err.Error())
	}
	if uid := change.GetUID(); uid != "" && uid != old.GetUID() {
		return nil, otherUID(r)
	}
	if v := change.GetResourceVersion(); v != "" && v != old.GetResourceVersion() {
		return nil, modified(r)
	}
	next := old.DeepCopy()
	mergeInto(next.Object, change.Object)
	return c.updated(r, next, r.query.Get("fieldManager"), "")
}

// mergeInto merges a change into a map. Null values remove fields.
func mergeInto(m, change map[string]any) {
	for k, v := range change {
		nested, ok := v.(map[string]any)
		if !ok {
			m[k] = v
			continue
		}
		into, ok := m[k].(map[string]any)
		if !ok {
			into = map[string]any{}
			m[k] = into
		}
		mergeInto(into, nested)
	}
	dropNulls(m)
}

// immutableUID returns the error for applying an object with the UID of another one.
func immutableUID(r *request, uid types.UID) error {
	return kerrors.NewInvalid(r.gvk.GroupKind(), r.ref.Name, field.ErrorList{
		field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable"),
	})
}

// otherUID returns the error for a precondition with another UID.
func otherUID(r *request) error {
	return kerrors.NewConflict(r.resource(), r.ref.Name, errors.New("the UID in the precondition does not match"))
}

// write creates or replaces an object.
func (c *Cluster) write(r *request) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(r.body); err != nil {
		return nil, kerrors.NewBadRequest(err.Error())
	}
	if err := c.admit(r.ref); err != nil {
		return nil, err
	}
	switch old := c.objects[r.ref]; {
	case r.method == http.MethodPost && old != nil:
		return nil, kerrors.NewAlreadyExists(r.resource(), r.ref.Name)
	case r.method == http.MethodPut && old == nil:
		return nil, kerrors.NewNotFound(r.resource(), r.ref.Name)
	case old != nil && u.GetResourceVersion() != "" && u.GetResourceVersion() != old.GetResourceVersion():
		return nil, modified(r)
	}
	return c.updated(r, u, r.query.Get("fieldManager"), "")
}

// updated stores an object that a manager changed without server-side apply.
func (c *Cluster) updated(r *request, next *unstructured.Unstructured, manager, subresource string) (*unstructured.Unstructured, error) {
	f, err := fields(r.gvk, subresource)
	if err != nil {
		return nil, err
	}
	live := newObject(r.gvk)
	if old := c.objects[r.ref]; old != nil {
		live = inVersion(old, r.gvk.GroupVersion())
	}
	setDefaults(next)
	out, err := f.Update(live, next, manager)
	if err != nil {
		return nil, err
	}
	return c.store(r, out)
}

// store stores an object, unless the request is a dry run.
func (c *Cluster) store(r *request, o runtime.Object) (*unstructured.Unstructured, error) {
	next, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, errors.Errorf("%T", o)
	}
	dropNulls(next.Object)
	old := c.objects[r.ref]
	if err := validate(old, next); err != nil {
		return nil, err
	}
	if old == nil {
		next.SetUID(types.UID("uid-" + strconv.Itoa(c.uids+1)))
		next.SetCreationTimestamp(metav1.Unix(1, 0))
		if r.gvk.GroupKind() == object.CRDKind && !c.Unready {
			establish(next)
		}
	}
	if old != nil && reflect.DeepEqual(inVersion(old, r.gvk.GroupVersion()).Object, next.Object) {
		return old, nil
	}
	if r.isDryRun() {
		return next, nil
	}
	if old == nil {
		c.uids++
	}
	c.revision++
	next.SetResourceVersion(strconv.Itoa(c.revision))
	c.objects[r.ref] = next
	return next.DeepCopy(), nil
}

// dropNulls removes fields with a null value, as an API server does when it decodes an object.
func dropNulls(m map[string]any) {
	for k, v := range m {
		switch v := v.(type) {
		case nil:
			delete(m, k)
		case map[string]any:
			dropNulls(v)
		}
	}
}

// terminate deletes an object. It reports whether the object waits for finalizers.
func (c *Cluster) terminate(ref cluster.ObjectRef) bool {
	u := c.objects[ref]
	c.revision++
	if len(u.GetFinalizers()) == 0 {
		delete(c.objects, ref)
		return false
	}
	if u.GetDeletionTimestamp() == nil {
		now := metav1.Unix(2, 0)
		u.SetDeletionTimestamp(&now)
		u.SetResourceVersion(strconv.Itoa(c.revision))
	}
	return true
}
