// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Mode determines whether a write is refused because of other managers or because the object exists.
type Mode int

// These are the modes of Apply and DryRun.
const (
	// Force never refuses a write. The engine takes over fields of other managers.
	Force Mode = iota
	// NoForce refuses a write if another manager owns a field with another value.
	NoForce
	// Create refuses a write if the object exists. It has no force either, in case the API server does not refuse it.
	Create
)

// Apply applies an object and creates its namespace if it is missing. If the mode refuses the write, Apply returns a conflict.
// Otherwise, it returns the state of the object and the fields that the engine now owns.
func (c *Client) Apply(ctx context.Context, o *object.Desired, how Mode) (cluster.ObjectState, *metav1.FieldsV1, error) {
	return c.apply(ctx, o, patchOf(o, how), how)
}

// ApplyTo is like Apply, but only writes the object if it has this UID. In particular, it does not recreate an object that was
// deleted; see IsReplaced. If the UID is empty, ApplyTo is the same as Apply.
func (c *Client) ApplyTo(ctx context.Context, o *object.Desired, uid string, how Mode) (cluster.ObjectState, *metav1.FieldsV1, error) {
	return c.apply(ctx, o, o.PatchTo(uid), how)
}

// ApplyAt applies an object by force if it still has this UID and resource version. Otherwise, it returns a conflict.
func (c *Client) ApplyAt(ctx context.Context, o *object.Desired, uid, resourceVersion string) (cluster.ObjectState, error) {
	s, _, err := c.apply(ctx, o, o.PatchAt(uid, resourceVersion), Force)
	return s, err
}

func (c *Client) apply(ctx context.Context, o *object.Desired, patch []byte, how Mode) (cluster.ObjectState, *metav1.FieldsV1, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	m, err := c.cluster.Mapping(ctx, o.GVK())
	if err != nil {
		return cluster.ObjectState{}, nil, err
	}
	send := func() ([]byte, int, error) {
		return c.write(ctx, c.applyRequest(o, m, patch, how == Force).SetHeader("Accept", acceptFor(o.GVK())))
	}
	b, code, err := send()
	if IsNamespaceMissing(err, o.Ref.Namespace) {
		if o.OwnNamespace {
			return cluster.ObjectState{}, nil, &OwnNamespaceError{Namespace: o.Ref.Namespace}
		}
		if err := c.provideNamespace(ctx, o.Ref.Namespace, !o.KeepNamespaces); err != nil {
			return cluster.ObjectState{}, nil, err
		}
		b, code, err = send()
	}
	if err == nil && how == Create && code == http.StatusOK {
		err = existed(ctx, c, o, m, b)
	}
	if err != nil {
		return cluster.ObjectState{}, nil, err
	}
	s, fields, err := c.decodeState(o.GVK(), b)
	if err != nil {
		return cluster.ObjectState{}, nil, errors.Wrap(err, "cannot read the response")
	}
	c.written.add(Written{GVK: o.GVK(), Ref: o.Ref, UID: s.UID, Hash: o.Hash, Created: code == http.StatusCreated})
	c.cluster.Cache().Put(o.Ref, s)
	return s, fields, nil
}

// note updates the Cache with the state of an object from a response. An object without the label of the engine is removed from
// the Cache, because the watch of the Cache does not show its changes.
func (c *Client) note(r cluster.ObjectRef, m *metav1.PartialObjectMetadata, s cluster.ObjectState) {
	cache := c.cluster.Cache()
	if selector, err := labels.Parse(cache.Interpreter().Selector()); err != nil || !selector.Matches(labels.Set(m.Labels)) {
		cache.Forget(r)
		return
	}
	cache.Put(r, s)
}

// patchOf returns the patch that applies an object in a mode.
func patchOf(o *object.Desired, how Mode) []byte {
	if how == Create {
		return o.CreatePatch()
	}
	return o.ApplyPatch()
}

// applyRequest returns the request that applies an object with a patch.
func (c *Client) applyRequest(o *object.Desired, m cluster.Mapping, patch []byte, force bool) *rest.Request {
	return c.cluster.REST().Verb(http.MethodPatch).
		AbsPath(path(o.GVK().GroupVersion(), m, o.Ref.Namespace, o.Ref.Name)).
		Param("fieldManager", c.FieldManager).Param("force", strconv.FormatBool(force)).
		SetHeader("Content-Type", applyPatch).Body(patch)
}

// A Patch describes a patch request for an object.
type Patch struct {
	// Type is JSONPatch or MergePatch.
	Type string
	Body []byte
	// DryRun is true for a patch that changes nothing. The response is the object that the patch would produce.
	DryRun bool
	// Accept is the media type of the response.
	Accept string
}

// Patch patches an object and returns the body of the response.
func (c *Client) Patch(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, r cluster.ObjectRef, p Patch) ([]byte, error) {
	req := c.cluster.REST().Verb(http.MethodPatch).AbsPath(path(gvk.GroupVersion(), m, r.Namespace, r.Name)).
		Param("fieldManager", c.FieldManager)
	if p.DryRun {
		req = req.Param("dryRun", "All")
	}
	b, _, err := c.write(ctx, req.SetHeader("Accept", p.Accept).SetHeader("Content-Type", p.Type).Body(p.Body))
	return b, err
}

// PatchMetadata merges metadata into an object and returns the body of the response, or nil if the object or its kind does not exist. If
// the cluster serves the kind in another version only, it patches the object in that version.
func (c *Client) PatchMetadata(
	ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, metadata map[string]any, accept string,
) (b []byte, err error) {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode")
	}
	err = c.inServed(ctx, gvk, func(gvk schema.GroupVersionKind, m cluster.Mapping) (err error) {
		if b, err = c.Patch(ctx, gvk, m, r, Patch{Type: MergePatch, Body: body, Accept: accept}); err != nil {
			_, err = c.Absent(ctx, gvk, m, r.Name, err)
		}
		return err
	})
	if IsNoKind(err) {
		return nil, nil
	}
	return b, err
}

// Unlabel removes labels from an object, if it still has this UID and resource version. Otherwise, unlabeled is false. An object that is
// gone needs no change.
func (c *Client) Unlabel(
	ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string, labels []string,
) (unlabeled bool, err error) {
	change := make(map[string]any, len(labels))
	for _, l := range labels {
		change[l] = nil
	}
	_, err = c.PatchMetadata(ctx, gvk, r, map[string]any{"uid": uid, "resourceVersion": resourceVersion, "labels": change}, Metadata)
	switch {
	case kerrors.IsConflict(err):
		return false, nil
	case err != nil:
		return false, errors.Wrapf(Explain(err), "%s: cannot remove its labels", r)
	}
	// The watch shows neither an object without the label of the engine nor its deletion.
	c.cluster.Cache().Forget(r)
	return true, nil
}

// SetManagedFields replaces the managedFields of an object if it still has this resource version, and returns its metadata.
func (c *Client) SetManagedFields(
	ctx context.Context, o *object.Desired, resourceVersion string, fields []metav1.ManagedFieldsEntry,
) (*metav1.PartialObjectMetadata, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	m, err := c.cluster.Mapping(ctx, o.GVK())
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": fields},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": resourceVersion},
	})
	if err != nil {
		return nil, err
	}
	b, err := c.Patch(ctx, o.GVK(), m, o.Ref, Patch{Type: JSONPatch, Body: body, Accept: acceptFor(o.GVK())})
	if err != nil {
		return nil, err
	}
	out := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(b, out); err != nil {
		return nil, errors.Wrap(err, "cannot read the response")
	}
	s, _, err := c.decodeState(o.GVK(), b)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the response")
	}
	c.note(o.Ref, out, s)
	return out, nil
}

// Delete deletes the object with a UID. If the UID is empty, it deletes any object with the name. If the object has another UID,
// Delete returns a conflict. It returns the metadata of an object that waits for its finalizers, and nil if the object is gone.
func (c *Client) Delete(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid string) (*metav1.PartialObjectMetadata, error) {
	return c.DeleteAt(ctx, gvk, r, uid, "")
}

// DeleteAt is like Delete, but also requires that the object still has this resource version. Otherwise, it returns a conflict.
func (c *Client) DeleteAt(
	ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string,
) (*metav1.PartialObjectMetadata, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	background := metav1.DeletePropagationBackground
	o := metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"}, PropagationPolicy: &background}
	if uid != "" {
		o.Preconditions = metav1.NewUIDPreconditions(uid)
		if resourceVersion != "" {
			o.Preconditions.ResourceVersion = &resourceVersion
		}
	}
	body, err := json.Marshal(o)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode delete options")
	}
	var out *metav1.PartialObjectMetadata
	err = c.inServed(ctx, gvk, func(gvk schema.GroupVersionKind, m cluster.Mapping) error {
		b, _, err := c.write(ctx, c.cluster.REST().Delete().AbsPath(path(gvk.GroupVersion(), m, r.Namespace, r.Name)).
			SetHeader("Content-Type", JSON).SetHeader("Accept", Metadata).Body(body))
		if err != nil {
			_, err = c.Absent(ctx, gvk, m, r.Name, err)
			return Explain(err)
		}
		out, err = left(b)
		return err
	})
	switch {
	case err != nil && !IsNoKind(err):
		return nil, errors.Wrap(err, r.String())
	case out == nil:
		c.cluster.Cache().Forget(r)
	default:
		c.note(r, out, health.MetadataStateOf(c.FieldManager, out))
	}
	return out, nil
}

// left decodes the response to the deletion of an object. It returns the metadata of the object, or nil if the object is gone.
func left(answer []byte) (*metav1.PartialObjectMetadata, error) {
	out := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(answer, out); err != nil {
		return nil, errors.Wrap(err, "cannot read")
	}
	if out.Kind == "" {
		return nil, errors.New("cannot read the response to the delete request")
	}
	if out.Kind == "Status" || out.DeletionTimestamp == nil {
		return nil, nil //nolint:nilnil // Nothing is left, as documented.
	}
	return out, nil
}

// provideNamespace creates a missing namespace, or returns the error of NoNamespace if create is false.
func (c *Client) provideNamespace(ctx context.Context, name string, create bool) error {
	if !create {
		return NoNamespace(name)
	}
	return c.CreateNamespace(ctx, name)
}

// CreateNamespace creates a missing namespace of an install or the inventory. The namespace is not part of the bundle. It remains
// when the bundle is removed, because it may contain other objects.
func (c *Client) CreateNamespace(ctx context.Context, name string) error {
	body, err := json.Marshal(&corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	})
	if err != nil {
		return errors.Wrap(err, "cannot encode namespace")
	}
	_, _, err = c.write(ctx, c.cluster.REST().Post().AbsPath("/api/v1/namespaces").Param("fieldManager", c.FieldManager).
		SetHeader("Content-Type", JSON).SetHeader("Accept", Metadata).Body(body))
	if err != nil && !kerrors.IsAlreadyExists(err) {
		return errors.Wrapf(Explain(err), "cannot create namespace %s", name)
	}
	return nil
}

// SecretKind is the kind of the objects that store inventories and release records.
var SecretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"} //nolint:gochecknoglobals // Constant.

var secrets = cluster.Mapping{Resource: "secrets", Namespaced: true} //nolint:gochecknoglobals // Constant.

// CreateSecret creates a Secret. It also creates the namespace if that is missing and createNamespace is true.
func (c *Client) CreateSecret(ctx context.Context, s *corev1.Secret, createNamespace bool) error {
	err := c.SendSecret(ctx, http.MethodPost, s)
	if IsNamespaceMissing(err, s.Namespace) {
		if err := c.provideNamespace(ctx, s.Namespace, createNamespace); err != nil {
			return err
		}
		err = c.SendSecret(ctx, http.MethodPost, s)
	}
	return Explain(err)
}

// SendSecret creates (POST) or replaces (PUT) a Secret. It returns errors of the API server unchanged.
func (c *Client) SendSecret(ctx context.Context, verb string, s *corev1.Secret) error {
	ctx, done := decoding.Hold(ctx)
	defer done()
	s.APIVersion, s.Kind = "v1", "Secret"
	b, err := json.Marshal(s)
	if err != nil {
		return errors.Wrap(err, "cannot encode Secret")
	}
	name := s.Name
	if verb == http.MethodPost {
		name = ""
	}
	if b, _, err = c.write(ctx, c.cluster.REST().Verb(verb).AbsPath(path(SecretKind.GroupVersion(), secrets, s.Namespace, name)).
		Param("fieldManager", c.FieldManager).SetHeader("Content-Type", JSON).SetHeader("Accept", Metadata).
		Body(b)); err != nil {
		return err
	}
	m := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(b, m); err != nil {
		return errors.Wrap(err, "cannot read the response")
	}
	c.written.add(Written{
		GVK: SecretKind, Ref: cluster.ObjectRef{Kind: SecretKind.Kind, Namespace: s.Namespace, Name: s.Name}, UID: string(m.UID),
		Created: verb == http.MethodPost,
	})
	return nil
}

// DeleteSecrets deletes the Secrets of a namespace that match a label selector.
func (c *Client) DeleteSecrets(ctx context.Context, namespace, selector string) error {
	_, _, err := c.write(ctx, c.cluster.REST().Delete().AbsPath(path(SecretKind.GroupVersion(), secrets, namespace, "")).
		Param("labelSelector", selector).SetHeader("Accept", metadataList))
	if IsNamespaceMissing(err, namespace) {
		return nil
	}
	return Explain(err)
}

// IsSecretAbsent reports whether a request failed because the Secret with the name does not exist. It returns any other error.
func (c *Client) IsSecretAbsent(ctx context.Context, name string, err error) (bool, error) {
	return c.Absent(ctx, SecretKind, secrets, name, err)
}

// NoNamespace returns the error for a missing namespace that the engine must not create.
func NoNamespace(name string) error {
	return errors.Errorf("namespace %s does not exist, and the config layer sets CreateNamespace=false; create the namespace", name)
}
