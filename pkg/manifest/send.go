// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

const (
	acceptJSON     = "application/json"
	acceptMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	applyPatch     = "application/apply-patch+yaml"
	jsonPatch      = "application/json-patch+json"

	acceptMetadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// pathOf an object, or with an empty name of the collection.
func pathOf(gv schema.GroupVersion, m cluster.Mapping, namespace, name string) string {
	p := "/apis/" + gv.Group + "/" + gv.Version
	if gv.Group == "" {
		p = "/api/" + gv.Version
	}
	if m.Namespaced && namespace != "" {
		p += "/namespaces/" + namespace
	}
	p += "/" + m.Resource
	if name != "" {
		p += "/" + name
	}
	return p
}

// raw body of an answer. Result.Raw alone would not read the reason of an error from the body. A 404 in which no API server
// names an object is a *notfound.Error, so that it counts as such nowhere.
func (w *work) raw(r rest.Result) ([]byte, error) {
	if err := r.Error(); err != nil {
		if notfound.Foreign(err) {
			return nil, w.foreign()
		}
		return nil, err
	}
	return r.Raw()
}

// foreign is the error for an answer that is not that of an API server.
func (w *work) foreign() error {
	return &notfound.Error{Host: w.c.Config().Host}
}

// document that the cluster has at a path.
func (w *work) document(ctx context.Context, path string) ([]byte, error) {
	return w.raw(w.c.REST().Get().AbsPath(path).SetHeader("Accept", acceptJSON).Do(ctx))
}

// absent says whether a request for an object, or for a kind if the name is empty, failed because that does not exist. The
// kind may have gone with its definition: then the API server knows the path no more, and answers as any web server does,
// so that the discovery documents have to say it. Errors that say something else are returned.
func (w *work) absent(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, name string, err error) (bool, error) {
	switch {
	case name != "" && notfound.IsObject(err, m.Resource, name):
		return true, nil
	case notfound.Is(err):
		// It is about something else than what was asked for, as the answer of a gateway that knows no such cluster.
		return false, w.foreign()
	case !notfound.Foreign(err):
		return false, err
	}
	served, serr := notfound.Served(ctx, w.document, gvk)
	if serr != nil || !served {
		return serr == nil, serr
	}
	return false, err
}

// apply an object. With create it must not exist, and a conflict is returned where it does. The answer tells what is
// there now, and which fields are ours.
func (w *work) apply(ctx context.Context, o *object.Desired, create bool) (cluster.ObjectState, *metav1.FieldsV1, error) {
	m, err := w.c.Mapping(ctx, o.GVK())
	if err != nil {
		return cluster.ObjectState{}, nil, err
	}
	accept := acceptMetadata
	if health.NeedsStatus(o.Ref.GroupKind()) {
		accept = acceptJSON
	}
	send := func() ([]byte, error) {
		return w.raw(w.c.REST().Verb(http.MethodPatch).
			AbsPath(pathOf(o.GVK().GroupVersion(), m, o.Ref.Namespace, o.Ref.Name)).
			Param("fieldManager", object.FieldManager).Param("force", strconv.FormatBool(!o.NoForce)).
			SetHeader("Accept", accept).SetHeader("Content-Type", applyPatch).
			Body(o.Body(create)).Do(ctx))
	}
	b, err := send()
	if namespaceMissing(err, o.Ref.Namespace) {
		if err := w.provideNamespace(ctx, o.Ref.Namespace, !o.KeepNamespaces); err != nil {
			return cluster.ObjectState{}, nil, err
		}
		b, err = send()
	}
	if err != nil {
		return cluster.ObjectState{}, nil, err
	}
	sum, fields, err := decodeSummary(o.GVK(), b)
	if err != nil {
		return cluster.ObjectState{}, nil, errors.Wrap(err, "cannot read the answer")
	}
	w.c.Cache().Put(o.Ref, sum)
	return sum, fields, nil
}

func decodeSummary(gvk schema.GroupVersionKind, b []byte) (cluster.ObjectState, *metav1.FieldsV1, error) {
	if !health.NeedsStatus(gvk.GroupKind()) {
		m := &metav1.PartialObjectMetadata{}
		if err := json.Unmarshal(b, m); err != nil {
			return cluster.ObjectState{}, nil, err
		}
		return health.MetadataStateOf(m), fieldset.AppliedBy(object.FieldManager, m.ManagedFields), nil
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		return cluster.ObjectState{}, nil, err
	}
	return health.StateOf(u), fieldset.AppliedBy(object.FieldManager, u.GetManagedFields()), nil
}

// get an object. A missing object or kind is nil.
func (w *work) get(ctx context.Context, gvk schema.GroupVersionKind, k cluster.ObjectRef) (*unstructured.Unstructured, error) {
	b, err := w.read(ctx, gvk, k, acceptJSON)
	if err != nil || b == nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	return u, errors.Wrapf(u.UnmarshalJSON(b), "%s: cannot read", k)
}

func (w *work) read(ctx context.Context, gvk schema.GroupVersionKind, k cluster.ObjectRef, accept string) ([]byte, error) {
	m, err := w.c.Mapping(ctx, gvk)
	if isNoKind(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := w.raw(w.c.REST().Get().AbsPath(pathOf(gvk.GroupVersion(), m, k.Namespace, k.Name)).
		SetHeader("Accept", accept).Do(ctx))
	if err == nil {
		return b, nil
	}
	gone, err := w.absent(ctx, gvk, m, k.Name, err)
	if gone {
		return nil, nil
	}
	return nil, errors.Wrap(explain(err), k.String())
}

// metadata of an object. A missing object or kind is nil.
func (w *work) metadata(ctx context.Context, gvk schema.GroupVersionKind, k cluster.ObjectRef) (*metav1.PartialObjectMetadata, error) {
	b, err := w.read(ctx, gvk, k, acceptMetadata)
	if err != nil || b == nil {
		return nil, err
	}
	m := &metav1.PartialObjectMetadata{}
	return m, errors.Wrapf(json.Unmarshal(b, m), "%s: cannot read", k)
}

// list the metadata of up to limit objects of a kind, in all namespaces if none is given; 0 for no limit.
func (w *work) list(ctx context.Context, gvk schema.GroupVersionKind, namespace, selector string, limit int) (*metav1.PartialObjectMetadataList, error) {
	m, err := w.c.Mapping(ctx, gvk)
	if err != nil {
		return nil, err
	}
	r := w.c.REST().Get().AbsPath(pathOf(gvk.GroupVersion(), m, namespace, "")).
		SetHeader("Accept", acceptMetadataList)
	if selector != "" {
		r = r.Param("labelSelector", selector)
	}
	if limit > 0 {
		r = r.Param("limit", strconv.Itoa(limit))
	}
	b, err := w.raw(r.Do(ctx))
	if err != nil {
		return nil, explain(err)
	}
	l := &metav1.PartialObjectMetadataList{}
	return l, errors.Wrapf(json.Unmarshal(b, l), "cannot read the list of %s", m.Resource)
}

// delete an object that has this UID; with an empty one, whichever there is. Where there is one with another UID, the
// error is a conflict. It returns what is left: nil, or the object that waits for its finalizers.
func (w *work) delete(ctx context.Context, gvk schema.GroupVersionKind, k cluster.ObjectRef, uid string) (*metav1.PartialObjectMetadata, error) {
	m, err := w.c.Mapping(ctx, gvk)
	if isNoKind(err) {
		return nil, nil //nolint:nilnil // Nothing is left, as said above.
	}
	if err != nil {
		return nil, err
	}
	background := metav1.DeletePropagationBackground
	o := metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"}, PropagationPolicy: &background}
	if uid != "" {
		o.Preconditions = metav1.NewUIDPreconditions(uid)
	}
	body, err := json.Marshal(o)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode delete options")
	}
	b, err := w.raw(w.c.REST().Delete().AbsPath(pathOf(gvk.GroupVersion(), m, k.Namespace, k.Name)).
		SetHeader("Content-Type", acceptJSON).SetHeader("Accept", acceptMetadata).Body(body).Do(ctx))
	if err != nil {
		gone, err := w.absent(ctx, gvk, m, k.Name, err)
		if gone {
			return nil, nil //nolint:nilnil // Nothing is left, as said above.
		}
		return nil, errors.Wrap(explain(err), k.String())
	}
	left := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(b, left); err != nil {
		return nil, errors.Wrapf(err, "%s: cannot read", k)
	}
	if left.Kind == "" {
		return nil, errors.Errorf("%s: cannot read what was answered to its deletion", k)
	}
	if left.Kind == "Status" || left.DeletionTimestamp == nil {
		return nil, nil //nolint:nilnil // Nothing is left, as said above.
	}
	return left, nil
}

// provideNamespace that is missing, where it may be created.
func (w *work) provideNamespace(ctx context.Context, name string, create bool) error {
	if !create {
		return errors.Errorf("namespace %s does not exist, and config says CreateNamespace=false; create it", name)
	}
	return w.createNamespace(ctx, name)
}

// createNamespace that an install or the inventory names and that is missing. It is not part of the set, and stays when
// the set is removed, as others may have put something in.
func (w *work) createNamespace(ctx context.Context, name string) error {
	body, err := json.Marshal(&corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	})
	if err != nil {
		return errors.Wrap(err, "cannot encode namespace")
	}
	_, err = w.raw(w.c.REST().Post().AbsPath("/api/v1/namespaces").Param("fieldManager", object.FieldManager).
		SetHeader("Content-Type", acceptJSON).SetHeader("Accept", acceptMetadata).Body(body).Do(ctx))
	if err != nil && !kerrors.IsAlreadyExists(err) {
		return errors.Wrapf(explain(err), "cannot create namespace %s", name)
	}
	return nil
}

// namespaceMissing says whether a request failed because the namespace of the object does not exist.
func namespaceMissing(err error, namespace string) bool {
	return namespace != "" && notfound.IsObject(err, "namespaces", namespace)
}

func isNoKind(err error) bool {
	e := &cluster.NoKindError{}
	return errors.As(err, &e)
}

// gotValue is how the API server shows the value of a field that is of another type. It may be that of a Secret. Where
// it is a map or a list that is wanted, the value is not quoted, and may have lines.
var gotValue = regexp.MustCompile(`, got &value\.valueUnstructured\{.*\}|(?s:, got &\{.*\})`)

// explain an error of the API server in one line, without values.
func explain(err error) error {
	if err == nil {
		return nil
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		// The path tells nothing that the object does not tell.
		err = u.Err
	}
	if kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		err = errors.Wrap(err, "its namespace is being deleted")
	}
	if tooLarge(err) {
		err = errors.Wrap(err, "it is larger than the cluster can store, about 1.5 MiB of JSON with all that the cluster adds; make it smaller")
	}
	if line := text.OneLine(gotValue.ReplaceAllString(err.Error(), "")); line != err.Error() {
		return &lineError{line: line, err: err}
	}
	return err
}

// A lineError is an error whose text was brought into one line.
type lineError struct {
	line string
	err  error
}

func (e *lineError) Error() string { return e.line }
func (e *lineError) Unwrap() error { return e.err }
