// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// finalizerOfCRDs is the finalizer of CRDs that are being deleted. Custom resources are deleted first.
const finalizerOfCRDs = "customresourcecleanup.apiextensions.k8s.io"

// Delete deletes an object. It returns the object if finalizers delay its deletion; otherwise, gone is true, and the object is the
// deleted one.
func (c *Cluster) Delete(t Target, o *metav1.DeleteOptions) (object map[string]any, gone bool, err error) {
	c.mu.Lock()
	defer c.unlockAndReconcile()
	return c.delete(t, o)
}

func (c *Cluster) delete(t Target, o *metav1.DeleteOptions) (map[string]any, bool, error) {
	r := c.store.Get(t.key())
	if r == nil {
		return nil, false, t.notFound()
	}
	object := t.view(r)
	if err := t.checkPreconditions(object, o.Preconditions); err != nil {
		return nil, false, err
	}
	was := clone(object)
	m := metadataOf(object)
	t.addFinalizer(m, o)
	wait := hasFinalizers(object)
	switch own := t.hasOwnFinalizers(object); {
	case own && isDeleting(object):
		return object, false, nil
	case own:
		m["deletionTimestamp"] = now()
		child(object, "status")["phase"] = string(corev1.NamespaceTerminating)
	case !wait:
		if !slices.Contains(o.DryRun, metav1.DryRunAll) {
			setVersion(object, c.remove(t, r.UID()))
		}
		return object, true, nil
	case !isDeleting(object):
		t.markDeleting(object)
	}
	if slices.Contains(o.DryRun, metav1.DryRunAll) || sameFinalizers(was, object) && isDeleting(was) {
		return object, false, nil
	}
	out, err := c.put(t, object)
	return out, false, err
}

// markDeleting sets the fields of an object that is being deleted.
func (t Target) markDeleting(object map[string]any) {
	m := metadataOf(object)
	m["deletionTimestamp"] = now()
	if t.isCRD() {
		setCondition(object, "Terminating", "InstanceDeletionPending",
			"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
		return
	}
	m["deletionGracePeriodSeconds"] = int64(0)
	if generation, ok := m["generation"].(int64); ok {
		m["generation"] = generation + 1
	}
}

func sameFinalizers(a, b map[string]any) bool {
	fa, _ := nested(a, "metadata", "finalizers").([]any)
	fb, _ := nested(b, "metadata", "finalizers").([]any)
	return slices.Equal(fa, fb)
}

func (t Target) isCRD() bool {
	return t.Kind.GroupResource().String() == "customresourcedefinitions.apiextensions.k8s.io"
}

// addFinalizer adds the finalizer that the deletion needs.
func (t Target) addFinalizer(m map[string]any, o *metav1.DeleteOptions) {
	name := ""
	switch {
	case t.isCRD():
		name = finalizerOfCRDs
	case o.PropagationPolicy == nil:
	case *o.PropagationPolicy == metav1.DeletePropagationForeground:
		name = metav1.FinalizerDeleteDependents
	case *o.PropagationPolicy == metav1.DeletePropagationOrphan:
		name = metav1.FinalizerOrphanDependents
	}
	finalizers, _ := m["finalizers"].([]any)
	if name != "" && !slices.Contains(finalizers, any(name)) {
		m["finalizers"] = append(slices.Clone(finalizers), name)
	}
}

func (t Target) checkPreconditions(object map[string]any, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	conflict := func(format string, args ...any) error {
		return kerrors.NewConflict(schema.GroupResource{Group: t.Kind.Group, Resource: t.Kind.Kind}, t.Name, errors.Errorf(format, args...))
	}
	if is := textOf(object, "uid"); p.UID != nil && string(*p.UID) != is {
		return conflict("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then "+
			"recreated", *p.UID, is)
	}
	if is := textOf(object, "resourceVersion"); p.ResourceVersion != nil && *p.ResourceVersion != is {
		return conflict("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might "+
			"have been modified", *p.ResourceVersion, is)
	}
	return nil
}

// DeleteCollection deletes the objects that match a list request, and returns them as they were.
func (c *Cluster) DeleteCollection(t Target, l ListOptions, o *metav1.DeleteOptions) (*List, error) {
	c.mu.Lock()
	defer c.unlockAndReconcile()
	list, err := c.List(t, l)
	if err != nil {
		return nil, err
	}
	for i, r := range list.Records {
		at := t
		at.Namespace, at.Name = list.Keys[i].Namespace, list.Keys[i].Name
		if _, _, err := c.delete(at, o); err != nil && !kerrors.IsNotFound(err) {
			return nil, errors.Wrap(err, r.UID())
		}
	}
	return list, nil
}

// terminating returns the error for a new object in a namespace that is being deleted.
func terminating(t Target) error {
	err := kerrors.NewForbidden(t.Kind.GroupResource(), t.Name, errors.Errorf(
		"unable to create new content in namespace %s because it is being terminated", t.Namespace))
	err.ErrStatus.Code = http.StatusForbidden
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", t.Namespace), Field: "metadata.namespace",
	})
	return err
}
