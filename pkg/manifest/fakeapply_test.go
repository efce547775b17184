// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

// full returns a deep copy of the content of an object, with managedFields.
func (o *fakeObject) full() map[string]any {
	u := o.u().DeepCopy()
	var managed []any
	for _, who := range slices.Sorted(maps.Keys(o.owners)) {
		b, err := o.owners[who].ToJSON()
		if err != nil {
			panic(err)
		}
		name, operation, _ := strings.Cut(who, "/")
		operation, subresource, _ := strings.Cut(operation, "/")
		var fields any
		if err := json.Unmarshal(b, &fields); err != nil {
			panic(err)
		}
		managed = append(managed, map[string]any{
			"manager": name, "operation": operation, "apiVersion": u.GetAPIVersion(), "fieldsType": "FieldsV1", "fieldsV1": fields,
			"subresource": subresource,
		})
	}
	if managed != nil {
		u.Object["metadata"].(map[string]any)["managedFields"] = managed
	}
	return u.Object
}

// fieldsOf returns the leaves of a content as fields; lists are atomic.
func fieldsOf(content map[string]any) *fieldpath.Set {
	out := &fieldpath.Set{}
	var walk func(v any, p fieldpath.Path)
	walk = func(v any, p fieldpath.Path) {
		m, ok := v.(map[string]any)
		if !ok || len(m) == 0 {
			out.Insert(p.Copy())
			return
		}
		for k := range m {
			path := append(p.Copy(), fieldpath.PathElement{FieldName: &k})
			switch strings.TrimPrefix(path.String(), ".") {
			case "apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.resourceVersion", "metadata.uid":
			default:
				walk(m[k], path)
			}
		}
	}
	walk(content, nil)
	return out
}

func merge(into, from map[string]any) {
	for k, v := range from {
		m, isMap := v.(map[string]any)
		old, wasMap := into[k].(map[string]any)
		if isMap && wasMap {
			merge(old, m)
			continue
		}
		into[k] = v
	}
}

// apply implements server-side apply.
func (s *fakeServer) apply(kind fakeKind, k cluster.ObjectRef, body []byte, manager string, force bool) (int, any) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(body); err != nil {
		return 0, refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%s", err)
	}
	if u.GroupVersionKind() != kind.GroupVersionKind || u.GetName() != k.Name || u.GetNamespace() != k.Namespace {
		return 0, refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "the body is %s %s", u.GroupVersionKind(), u.GetName())
	}
	if st := s.admit(k); st != nil {
		return 0, st
	}
	o := s.objects[k]
	if o != nil && u.GetResourceVersion() != "" && u.GetResourceVersion() != o.u().GetResourceVersion() {
		return 0, refusal(http.StatusConflict, metav1.StatusReasonConflict, "Operation cannot be fulfilled on %s %q: the object has been modified", kind.Resource, k.Name)
	}
	if uid := u.GetUID(); uid != "" && o != nil && u.GetResourceVersion() == "" && uid != o.u().GetUID() {
		st := refusal(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "%s %q is invalid: metadata.uid: field is immutable", kind.Kind, k.Name)
		st.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.uid"}}}
		return 0, st
	}
	if u.GetUID() != "" && (o == nil || u.GetUID() != o.u().GetUID()) {
		return 0, refusal(http.StatusConflict, metav1.StatusReasonConflict, "Operation cannot be fulfilled on %s %q: uid mismatch", kind.Resource, k.Name)
	}
	if o != nil && s.fixed != nil && s.fixed(k) && o.u().GetDeletionTimestamp() == nil {
		return 0, invalid(metav1.StatusCause{Field: "data", Message: "Forbidden: field is immutable"})
	}
	fields := fieldsOf(u.Object)
	u.SetResourceVersion("")
	who := manager + "/Apply"
	if o == nil {
		o = s.store(k, u.Object)
		o.owners[who] = fields
		return http.StatusCreated, o.full()
	}
	if st := o.taken(who, fields, u.Object); st != nil && !force {
		return 0, st
	}
	before, err := json.Marshal(o.full())
	if err != nil {
		panic(err)
	}
	dropped, changed := &fieldpath.Set{}, &fieldpath.Set{}
	if old := o.owners[who]; old != nil {
		dropped = old.Difference(fields)
	}
	for other, theirs := range o.owners {
		if other == who {
			continue
		}
		dropped = dropped.Difference(theirs)
		// Managers that agree on the value of a field own it together.
		for _, p := range fieldset.All(theirs.Intersection(fields)) {
			if at(o.content, p) != at(u.Object, p) {
				changed.Insert(p)
			}
		}
	}
	for other := range o.owners {
		if other != who {
			o.owners[other] = o.owners[other].Difference(changed)
		}
	}
	fieldset.Without(o.content, dropped)
	merge(o.content, u.Object)
	o.owners[who] = fields
	if after, err := json.Marshal(o.full()); err != nil || string(after) != string(before) {
		s.touch(o)
	}
	return http.StatusOK, o.full()
}

// mergePatch patches an object. A UID and a resource version in the patch are preconditions.
func (s *fakeServer) mergePatch(kind fakeKind, k cluster.ObjectRef, body []byte) (int, any) {
	o := s.objects[k]
	if o == nil {
		return 0, notFound(kind.Resource, k.Name)
	}
	patch := &unstructured.Unstructured{}
	if err := json.Unmarshal(body, &patch.Object); err != nil {
		return 0, refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%s", err)
	}
	if uid := patch.GetUID(); uid != "" && uid != o.u().GetUID() {
		return 0, refusal(http.StatusConflict, metav1.StatusReasonConflict, "the UID in the precondition does not match")
	}
	if v := patch.GetResourceVersion(); v != "" && v != o.u().GetResourceVersion() {
		return 0, refusal(http.StatusConflict, metav1.StatusReasonConflict, "Operation cannot be fulfilled on %s %q: the object has been modified", kind.Resource, k.Name)
	}
	before, managed := o.u().DeepCopy(), patch.GetManagedFields()
	patch.SetManagedFields(nil)
	patchInto(o.content, patch.Object)
	o.disown(before)
	if managed != nil {
		o.setOwners(managed)
	}
	s.touch(o)
	return http.StatusOK, o.full()
}

// setOwners sets the owners to those in managedFields. A single empty entry removes all owners.
func (o *fakeObject) setOwners(managed []metav1.ManagedFieldsEntry) {
	o.owners = map[string]*fieldpath.Set{}
	for i := range managed {
		m := &managed[i]
		if fields := fieldset.Of(m.FieldsV1); fields != nil {
			o.owners[strings.TrimSuffix(m.Manager+"/"+string(m.Operation)+"/"+m.Subresource, "/")] = fields
		}
	}
}

func patchInto(into, patch map[string]any) {
	for k, v := range patch {
		m, isMap := v.(map[string]any)
		switch old, _ := into[k].(map[string]any); {
		case v == nil:
			delete(into, k)
		case isMap && old == nil:
			into[k] = m
		case isMap:
			patchInto(old, m)
		default:
			into[k] = v
		}
	}
}

// dryRun executes a write and restores the state from before.
func (s *fakeServer) dryRun(k cluster.ObjectRef, write func() (int, any)) (int, any) {
	rv, uid, o := s.rv, s.uid, s.objects[k]
	var old *fakeObject
	if o != nil {
		old = &fakeObject{content: o.u().DeepCopy().Object, owners: maps.Clone(o.owners)}
	}
	code, answer := write()
	s.rv, s.uid = rv, uid
	delete(s.objects, k)
	if old != nil {
		s.objects[k] = old
	}
	return code, answer
}

func (s *fakeServer) delete(kind fakeKind, k cluster.ObjectRef, body []byte) (int, any) {
	o := s.objects[k]
	if o == nil {
		return 0, notFound(kind.Resource, k.Name)
	}
	opts := &metav1.DeleteOptions{}
	if len(body) > 0 {
		if err := json.Unmarshal(body, opts); err != nil {
			return 0, refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%s", err)
		}
	}
	if p := opts.Preconditions; p != nil && p.UID != nil && *p.UID != o.u().GetUID() {
		return 0, refusal(http.StatusConflict, metav1.StatusReasonConflict, "the UID in the precondition does not match")
	}
	if p := opts.Preconditions; p != nil && p.ResourceVersion != nil && *p.ResourceVersion != o.u().GetResourceVersion() {
		return 0, refusal(http.StatusConflict, metav1.StatusReasonConflict, "the ResourceVersion in the precondition does not match")
	}
	if len(o.u().GetFinalizers()) > 0 {
		s.terminate(o)
		return http.StatusOK, o.full()
	}
	s.drop(k)
	return http.StatusOK, &metav1.Status{Status: "Success"}
}

func (s *fakeServer) terminate(o *fakeObject) {
	if o.u().GetDeletionTimestamp() == nil {
		now := metav1.NewTime(time.Unix(0, 0))
		o.u().SetDeletionTimestamp(&now)
		s.touch(o)
	}
}

// The functions below act as clients other than the engine.

// edit changes an object as kubectl does: the fields that change belong to the editor.
func (s *fakeServer) edit(k cluster.ObjectRef, change func(u *unstructured.Unstructured)) {
	s.editAs("kubectl-edit/Update", k, change)
}

// editAs changes an object as another editor: name/operation or name/operation/subresource.
func (s *fakeServer) editAs(editor string, k cluster.ObjectRef, change func(u *unstructured.Unstructured)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[k]
	before := o.u().DeepCopy()
	change(o.u())
	changed := o.disown(before)
	if old := o.owners[editor]; old != nil {
		changed = changed.Union(old)
	}
	if !changed.Empty() {
		o.owners[editor] = changed
	}
	s.touch(o)
}

// disown returns the fields of an object that were added or changed. They, and those that were removed, have no owner any more.
func (o *fakeObject) disown(before *unstructured.Unstructured) (changed *fieldpath.Set) {
	was, is := fieldsOf(before.Object), fieldsOf(o.content)
	changed = is.Difference(was)
	is.Intersection(was).Iterate(func(p fieldpath.Path) {
		if at(before.Object, p) != at(o.content, p) {
			changed.Insert(p.Copy())
		}
	})
	lost := was.Difference(is).Union(changed)
	for who := range o.owners {
		o.owners[who] = o.owners[who].Difference(lost)
	}
	return changed
}

// at returns the value at a path of map keys as JSON.
func at(v any, p fieldpath.Path) string {
	for _, pe := range p {
		v = v.(map[string]any)[*pe.FieldName]
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// status sets the status of an object, as its controller does.
func (s *fakeServer) status(k cluster.ObjectRef, status map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[k]
	o.content["status"] = status
	s.touch(o)
}

// remove removes an object regardless of its finalizers.
func (s *fakeServer) remove(k cluster.ObjectRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(k)
}

// put stores an object as created by another client.
func (s *fakeServer) put(content map[string]any) cluster.ObjectRef {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := &unstructured.Unstructured{Object: content}
	gvk := u.GroupVersionKind()
	k := cluster.ObjectRef{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
	s.store(k, content)
	return k
}

func (s *fakeServer) uidOf(k cluster.ObjectRef) types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects[k]; o != nil {
		return o.u().GetUID()
	}
	return ""
}

// keys returns the keys of all objects, except for the namespaces that each cluster has.
func (s *fakeServer) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for k := range s.objects {
		if k.Kind != "Namespace" || (k.Name != "default" && k.Name != "kube-system" && k.Name != DefaultNamespace) {
			out = append(out, k.String())
		}
	}
	slices.Sort(out)
	return out
}

// took returns the log of requests since the last call.
func (s *fakeServer) took() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.log
	s.log = nil
	return out
}
