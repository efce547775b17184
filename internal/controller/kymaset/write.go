// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"context"
	"reflect"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/removal"
	"github.com/crossplane-contrib/provider-kyma/internal/kymaset"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

const (
	// fieldManager owns all fields that KymaSets set. The API server removes a field that only fieldManager owns if the desired object
	// no longer contains it. All KymaSets have the same one, so that one takes over a Kyma from another in a single write.
	fieldManager = "kyma.m.crossplane.io/kymaset"

	// createOnly is a resource version that no object has. An API server creates an object with it, and refuses to update one as
	// Invalid. Without it, server-side apply would take over an object that the cache does not have yet.
	createOnly = "0"
)

// errOutdated means that the cache did not have the latest version of an object.
var errOutdated = errors.New("the cache is out of date")

// A writer writes the objects of clusters.
type writer struct {
	client client.Client
	// server reads from the API server.
	server client.Reader
	kymas  *removal.Remover
	// configs deletes ProviderConfigs.
	configs *removal.Remover
}

func newWriter(c client.Client, server client.Reader) *writer {
	return &writer{
		client: c, server: server,
		kymas:   removal.New(c, v1alpha1.KymaGroupVersionKind, "kymas"),
		configs: removal.New(c, v1alpha1.ProviderConfigGroupVersionKind, "providerconfigs"),
	}
}

// apply applies a desired object if the live one, which can be nil, differs.
func (w *writer) apply(ctx context.Context, desired, live client.Object, kind schema.GroupVersionKind) error {
	o, err := kymaset.Encode(desired, kind)
	if err != nil {
		return err
	}
	if live != nil {
		same, err := kymaset.IsApplied(live, o)
		if err != nil || same {
			return err
		}
	}
	if live == nil {
		o.SetResourceVersion(createOnly)
	} else {
		o.SetUID(live.GetUID())
	}
	err = w.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.Unstructured), client.FieldOwner(fieldManager), client.ForceOwnership)
	if removal.IsOutdated(err) || kerrors.IsAlreadyExists(err) {
		if outdated, failed := w.isOutdated(ctx, desired, live); outdated || failed != nil {
			return failed
		}
	}
	return errors.Wrapf(notfound.Explain(err), "cannot apply %s %s", kind.Kind, desired.GetName())
}

// isOutdated returns errOutdated if the API server has another object than the cache.
func (w *writer) isOutdated(ctx context.Context, desired, live client.Object) (bool, error) {
	o, ok := reflect.New(reflect.TypeOf(desired).Elem()).Interface().(client.Object)
	if !ok {
		return false, errors.Errorf("cannot read %T", desired)
	}
	err := w.server.Get(ctx, client.ObjectKeyFromObject(desired), o)
	switch {
	case notfound.Ignore(err) != nil:
		return false, errors.Wrapf(notfound.Explain(err), "cannot get %s", desired.GetName())
	case (err == nil) != (live != nil), live != nil && o.GetUID() != live.GetUID():
		return true, errOutdated
	}
	return false, nil
}

// confirmOwner returns errOutdated unless the API server says that an object still belongs to a KymaSet. A user may have removed the
// label to keep it.
func (w *writer) confirmOwner(ctx context.Context, set *v1alpha1.KymaSet, cached client.Object) error {
	o, ok := reflect.New(reflect.TypeOf(cached).Elem()).Interface().(client.Object)
	if !ok {
		return errors.Errorf("cannot read %T", cached)
	}
	err := w.server.Get(ctx, client.ObjectKeyFromObject(cached), o)
	switch {
	case notfound.Is(err):
		return errOutdated
	case err != nil:
		return errors.Wrapf(notfound.Explain(err), "cannot get %s", cached.GetName())
	case o.GetUID() != cached.GetUID() || !kymaset.IsOf(o, set):
		return errOutdated
	}
	return nil
}

// remove deletes an object, or removes the marks of the KymaSet from it.
func (w *writer) remove(ctx context.Context, set *v1alpha1.KymaSet, o client.Object, orphan bool) error {
	if orphan {
		return w.orphan(ctx, o)
	}
	r := w.kymas
	if _, ok := o.(*v1alpha1.ProviderConfig); ok {
		r = w.configs
	}
	err := r.Remove(ctx, o, removal.Owner{Kind: v1alpha1.KymaSetKind, Name: set.Name, UID: set.UID})
	if removal.IsOutdated(err) {
		return errOutdated
	}
	return err
}

// orphan removes the marks of a KymaSet. The patch contains the UID, so that the API server refuses it for another object of the
// same name.
func (w *writer) orphan(ctx context.Context, o client.Object) error {
	out, ok := o.DeepCopyObject().(client.Object)
	base, isok := o.DeepCopyObject().(client.Object)
	if !ok || !isok {
		return errors.Errorf("cannot copy %T", o)
	}
	base.SetUID("")
	meta.RemoveLabels(out, v1alpha1.LabelKymaSet)
	meta.RemoveAnnotations(out, v1alpha1.AnnotationKymaSetUID, v1alpha1.AnnotationKymaSetDigest)
	err := w.client.Patch(ctx, out, client.MergeFrom(base), client.FieldOwner(fieldManager))
	if removal.IsOutdated(err) {
		return errOutdated
	}
	return errors.Wrapf(notfound.Ignore(err), "cannot orphan %s", o.GetName())
}
