// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"fmt"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/fields"
)

// modified is the message of a conflict of versions.
const modified = "the object has been modified; please apply your changes to the latest version and try again"

// A Write has the options of a request that changes something.
type Write struct {
	Manager string
	// DryRun changes nothing, but returns the same object.
	DryRun bool
	// Force takes over the fields of other managers. It is only for Apply.
	Force bool
}

// Create creates an object and returns it. The name in the target can be empty. It can change its argument.
func (c *Cluster) Create(t Target, object map[string]any, w Write) (map[string]any, error) {
	c.mu.Lock()
	defer c.unlockAndReconcile()
	if err := t.checkKind(object); err != nil {
		return nil, err
	}
	if err := t.checkNamespace(object); err != nil {
		return nil, err
	}
	m := metadataOf(object)
	if t.Name = textOf(object, "name"); t.Name == "" && textOf(object, "generateName") != "" {
		const length = 5
		t.Name = textOf(object, "generateName") + rand.String(length)
		m["name"] = t.Name
	}
	if textOf(object, "resourceVersion") != "" {
		return nil, errors.New("resourceVersion should not be set on objects to be created")
	}
	for _, f := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
		delete(m, f)
	}
	object, err := t.Kind.Canonical(object)
	if err != nil {
		return nil, kerrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %s", t.Kind.Kind, t.Kind.Version, t.Kind.Kind, err))
	}
	if t.Kind.GroupResource().String() == "daemonsets.apps" {
		child(metadataOf(object), "annotations")[templateGeneration] = "0"
	}
	if object, err = fields.Update(t.Kind, "", nil, object, w.Manager); err != nil {
		return nil, err
	}
	return c.create(t, object, w)
}

// create stores a new object with managedFields.
func (c *Cluster) create(t Target, object map[string]any, w Write) (map[string]any, error) {
	if err := c.admit(t); err != nil {
		return nil, err
	}
	m := metadataOf(object)
	for _, f := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"} {
		delete(m, f)
	}
	m["uid"], m["creationTimestamp"] = newUID(), now()
	if t.Kind.HasGeneration {
		m["generation"] = int64(1)
	}
	if err := t.prepareCreate(object); err != nil {
		return nil, err
	}
	if errs := t.Kind.Validate(nil, object); len(errs) > 0 {
		return nil, kerrors.NewInvalid(t.Kind.GroupVersionKind.GroupKind(), t.Name, errs)
	}
	if r := c.store.Get(t.key()); r != nil {
		err := kerrors.NewAlreadyExists(t.Kind.GroupResource(), t.Name)
		if isDeleting(r.Object()) {
			err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
		}
		return nil, err
	}
	if w.DryRun {
		return object, nil
	}
	return c.put(t, object)
}

// admit returns an error if the namespace of a new object does not exist or terminates.
func (c *Cluster) admit(t Target) error {
	if !t.Kind.Namespaced {
		return nil
	}
	ns := Target{Kind: c.kindOf("", "namespaces"), Name: t.Namespace}
	r := c.store.Get(ns.key())
	if r == nil {
		return ns.notFound()
	}
	if isDeleting(r.Object()) {
		return terminating(t)
	}
	return nil
}

// Update replaces an object, or its status, and returns it. It can change its argument.
func (c *Cluster) Update(t Target, object map[string]any, w Write) (map[string]any, error) {
	c.mu.Lock()
	defer c.unlockAndReconcile()
	if err := t.checkKind(object); err != nil {
		return nil, err
	}
	if err := t.checkNamespace(object); err != nil {
		return nil, err
	}
	if err := t.checkName(object); err != nil {
		return nil, err
	}
	r := c.store.Get(t.key())
	if r == nil {
		return nil, t.notFound()
	}
	old := t.view(r)
	if uid := textOf(object, "uid"); uid != "" && uid != r.UID() {
		return nil, kerrors.NewConflict(t.Kind.GroupResource(), t.Name, t.precondition(uid, r.UID()))
	}
	managed := metadataOf(object)["managedFields"]
	object, err := t.Kind.Canonical(object)
	if err != nil {
		return nil, kerrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %s", t.Kind.Kind, t.Kind.Version, t.Kind.Kind, err))
	}
	return c.change(t, old, object, managed, w)
}

// change stores a canonical object instead of an old one. managed is the managedFields that the client sent.
func (c *Cluster) change(t Target, old, object map[string]any, managed any, w Write) (map[string]any, error) {
	if managed != nil {
		metadataOf(object)["managedFields"] = managed
	}
	if textOf(object, "uid") == "" {
		metadataOf(object)["uid"] = textOf(old, "uid")
	}
	object, err := fields.Update(t.Kind, t.Subresource, old, object, w.Manager)
	if err != nil {
		return nil, err
	}
	return c.replace(t, old, object, w)
}

// replace stores an object with managedFields instead of an old one.
func (c *Cluster) replace(t Target, old, object map[string]any, w Write) (map[string]any, error) {
	if err := t.checkVersion(old, object); err != nil {
		return nil, err
	}
	metadataOf(object)["resourceVersion"] = textOf(old, "resourceVersion")
	t.prepareUpdate(old, object)
	if errs := t.Kind.Validate(old, object); len(errs) > 0 {
		return nil, kerrors.NewInvalid(t.Kind.GroupVersionKind.GroupKind(), t.Name, errs)
	}
	if fields.SameButTimes(old, object) {
		return old, nil
	}
	if isDeleting(object) && !hasFinalizers(object) && !t.hasOwnFinalizers(object) {
		if !w.DryRun {
			setVersion(object, c.remove(t, textOf(old, "uid")))
		}
		return object, nil
	}
	if w.DryRun {
		return object, nil
	}
	return c.put(t, object)
}

// Apply applies an object with server-side apply and returns it, and whether it was created.
func (c *Cluster) Apply(t Target, object map[string]any, w Write) (out map[string]any, created bool, err error) {
	c.mu.Lock()
	defer c.unlockAndReconcile()
	var old map[string]any
	if r := c.store.Get(t.key()); r != nil {
		old = t.view(r)
	}
	if old == nil && t.Subresource != "" {
		return nil, false, t.notFound()
	}
	next, err := fields.Apply(t.Kind, t.Subresource, old, object, w.Manager, w.Force)
	if err != nil {
		return nil, false, err
	}
	if uid := textOf(next, "uid"); old == nil && uid != "" {
		return nil, false, kerrors.NewConflict(t.Kind.GroupResource(), t.Name,
			errors.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	if err := t.checkNamespace(next); err != nil {
		return nil, false, err
	}
	if err := t.checkName(next); err != nil {
		return nil, false, err
	}
	if old == nil {
		out, err = c.create(t, next, w)
		return out, true, err
	}
	out, err = c.replace(t, old, next, w)
	return out, false, err
}

// Patch changes an object, or its status, with a JSON patch, a merge patch or, for built-in kinds, a strategic merge patch.
func (c *Cluster) Patch(t Target, kind types.PatchType, patch []byte, w Write) (map[string]any, error) {
	c.mu.Lock()
	defer c.unlockAndReconcile()
	r := c.store.Get(t.key())
	if r == nil {
		return nil, t.notFound()
	}
	old := t.view(r)
	before, err := json.Marshal(old)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode")
	}
	after, err := patched(t, kind, before, patch)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal(after, &object); err != nil {
		return nil, invalidPatch(after, err)
	}
	managed := metadataOf(object)["managedFields"]
	if object, err = t.Kind.Canonical(object); err != nil {
		return nil, invalidPatch(after, err)
	}
	if err := t.checkNamespace(object); err != nil {
		return nil, err
	}
	if err := t.checkName(object); err != nil {
		return nil, err
	}
	return c.change(t, old, object, managed, w)
}

// checkVersion returns an error if an object names another version than the old one, or none where the kind requires one.
func (t Target) checkVersion(old, object map[string]any) error {
	switch version := textOf(object, "resourceVersion"); {
	case version == "" && !t.Kind.Unconditional:
		gk := t.Kind.GroupVersionKind.GroupKind()
		gk.Kind = t.Kind.Resource
		return kerrors.NewInvalid(gk, t.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
		})
	case version != "" && version != textOf(old, "resourceVersion"):
		return kerrors.NewConflict(t.Kind.GroupResource(), t.Name, errors.New(modified))
	}
	return nil
}

// checkKind returns an error if an object names another kind or version than the target. It sets both.
func (t Target) checkKind(object map[string]any) error {
	version, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	if want := t.Kind.GroupVersion().String(); version != "" && version != want {
		return kerrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", version, want))
	}
	if kind != "" && kind != t.Kind.Kind {
		return kerrors.NewBadRequest(fmt.Sprintf("the kind in the data (%s) does not match the expected kind (%s)", kind, t.Kind.Kind))
	}
	object["apiVersion"], object["kind"] = t.Kind.GroupVersion().String(), t.Kind.Kind
	return nil
}

// checkNamespace returns an error if an object names another namespace than the target. It sets the namespace.
func (t Target) checkNamespace(object map[string]any) error {
	switch ns := textOf(object, "namespace"); {
	case ns == "" && t.Kind.Namespaced:
		metadataOf(object)["namespace"] = t.Namespace
	case ns != t.Namespace && t.Kind.Namespaced, ns != "" && !t.Kind.Namespaced:
		return kerrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// checkName returns an error if an object names another one than the target.
func (t Target) checkName(object map[string]any) error {
	switch name := textOf(object, "name"); name {
	case t.Name:
		return nil
	case "":
		return kerrors.NewBadRequest("name must be provided")
	default:
		return kerrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, t.Name))
	}
}

// precondition returns the error of the storage for another UID.
func (t Target) precondition(want, is string) error {
	path := []string{"/registry"}
	if t.Kind.Custom != nil {
		path = append(path, t.Kind.Group)
	}
	path = append(path, t.Kind.Resource)
	if t.Kind.Namespaced {
		path = append(path, t.Namespace)
	}
	return errors.Errorf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "+
		"precondition: %s, UID in object meta: %s", strings.Join(append(path, t.Name), "/"), want, is)
}

// clone returns a deep copy.
func clone(object map[string]any) map[string]any { return runtime.DeepCopyJSON(object) }
